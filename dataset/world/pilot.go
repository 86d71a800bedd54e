package world

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// pilot plays a script: it decides which keys are held.
type pilot struct {
	script   Script
	rng      *rand.Rand
	next     int // the act after this one
	act      act
	left     int     // steps left of the act
	x, y     float64 // the place to go to
	patience int     // steps until it is given up
}

// newPilot returns a pilot with a random stream of its own.
func newPilot(script Script, seed uint64) *pilot {
	h := fnv.New64a()
	h.Write([]byte("world/" + script.Name))
	return &pilot{script: script, rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// Steering: keys are pressed towards the place where the player would be in
// lookAhead seconds if it went on as it does, but for the last nearby metres.
const (
	lookAhead = 0.4
	nearby    = 0.8
	roam      = 24 // places lie within so many metres of the middle
)

// keys returns the keys to hold in the coming step of s.
func (p *pilot) keys(s *Sim) Input {
	if p.left == 0 {
		p.begin(s)
	}
	p.left--
	in := p.act.hold
	if !p.act.wander {
		return in
	}
	me := s.Player()
	dx := p.x - (me.Pos.X + float64(me.Vel.X*lookAhead))
	dy := p.y - (me.Pos.Y + float64(me.Vel.Y*lookAhead))
	if p.patience == 0 || math.Abs(dx)+math.Abs(dy) < nearby {
		p.choosePlace(s)
	}
	p.patience--
	if p.act.pace > 0 && me.Vel.Dot(me.Vel) > float64(p.act.pace*p.act.pace) {
		return in
	}
	in.Left, in.Right = dx < -nearby/2, dx > nearby/2
	in.Down, in.Up = dy < -nearby/2, dy > nearby/2
	return in
}

// begin goes to the next act.
func (p *pilot) begin(s *Sim) {
	if len(p.script.acts) == 0 {
		p.act = p.improvise()
	} else {
		p.act = p.script.acts[p.next%len(p.script.acts)]
		p.next++
	}
	p.left = int(math.Round(float64(p.act.seconds * stepsPerSecond)))
	p.choosePlace(s)
}

// improvise makes up an act.
func (p *pilot) improvise() act {
	seconds := float64(2 + p.rng.IntN(12))
	switch d := p.rng.IntN(20); {
	case d < 3:
		return rest(seconds / 3)
	case d < 7:
		return roll(seconds)
	case d < 10:
		return gather(seconds)
	default:
		return hovering(seconds)
	}
}

// choosePlace picks where to go next, which is where some cube lies, and for how
// long to try. A player who went anywhere at random would soon have swept the
// middle clean and find nothing to do; this one goes where something is left, and
// comes at the outer cubes from all sides, but never farther out than roam.
func (p *pilot) choosePlace(s *Sim) {
	at := s.scene.Body(1 + p.rng.IntN(Cubes-1)).Pos
	p.x, p.y = max(-roam, min(at.X, roam)), max(-roam, min(at.Y, roam))
	p.patience = 60 + p.rng.IntN(3*60)
}
