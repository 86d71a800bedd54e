package world

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"wirelab/dataset/physics"
)

// pilot plays a script: it decides which keys are held. It plays as the people in
// the recordings did; what they did is measured there, not guessed.
type pilot struct {
	script Script
	rng    *rand.Rand
	next   int // the act after this one
	act    act
	left   int // steps left of the act

	x, y     float64 // chasing: the place to go to; drifting: the keys held, -1, 0 or 1 each way
	patience int     // chasing: steps until the place is given up
	course   int     // drifting: steps until other keys are held
}

// newPilot returns a pilot with a random stream of its own.
func newPilot(script Script, seed uint64) *pilot {
	h := fnv.New64a()
	h.Write([]byte("world/" + script.Name))
	return &pilot{script: script, rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// keys returns the keys to hold in the coming step of s.
func (p *pilot) keys(s *Sim) Input {
	if p.left == 0 {
		p.begin(s)
	}
	p.left--
	in := p.act.hold
	switch p.act.style {
	case chase:
		p.chase(s, &in)
	case drift:
		p.drift(s, &in)
	}
	return in
}

// begin goes to the next act.
func (p *pilot) begin(s *Sim) {
	if len(p.script.acts) == 0 {
		p.act = p.improvise(s.tick == 0)
	} else {
		p.act = p.script.acts[p.next%len(p.script.acts)]
		p.next++
	}
	p.left = int(math.Round(float64(p.act.seconds * stepsPerSecond)))
	p.choosePlace(s)
}

// improvise makes up an act. Most of the time people hover, as in the recordings
// alpha, bravo and charlie; at first they look what the player does by itself.
func (p *pilot) improvise(first bool) act {
	if first {
		return rest(2.2)
	}
	seconds := float64(3 + p.rng.IntN(10))
	switch d := p.rng.IntN(20); {
	case d < 1:
		return rest(seconds / 4)
	case d < 2:
		return roll(seconds / 2)
	case d < 3:
		return gather(seconds / 2)
	default:
		return hovering(float64(2 * seconds))
	}
}

// Drifting: one of eight directions is held for a quarter of a second to a second,
// then another: of some that come to mind that with the most cubes ahead, for who
// blows cubes about goes where some are. Beyond the edge it is one towards the
// middle.
const (
	driftLeast = 15 // steps
	driftMore  = 45
	driftEdge  = 13 // metres from the middle
	driftIdeas = 5
	driftAhead = 5 // metres; and cubes this far around are seen:
	driftSight = 3
)

func (p *pilot) drift(s *Sim, in *Input) {
	if p.course == 0 {
		p.course = driftLeast + p.rng.IntN(driftMore)
		most := -1
		for range driftIdeas {
			d := p.rng.IntN(8)
			d += d / 4 // of nine, all but none
			x, y := d%3-1, d/3-1
			if n := s.ahead(x, y); n > most {
				most, p.x, p.y = n, float64(x), float64(y)
			}
		}
	}
	p.course--
	at := s.Player().Pos
	x, y := homewards(at.X, p.x), homewards(at.Y, p.y)
	in.Left, in.Right = x < 0, x > 0
	in.Down, in.Up = y < 0, y > 0
}

// ahead counts the cubes around the place that lies ahead of the player.
func (s *Sim) ahead(x, y int) (n int) {
	at := s.Player().Pos.Add(physics.Vec{X: float64(x * driftAhead), Y: float64(y * driftAhead)})
	for i := player + 1; i < Cubes; i++ {
		b := s.scene.Body(i)
		if math.Abs(b.Pos.X-at.X) < driftSight && math.Abs(b.Pos.Y-at.Y) < driftSight {
			n++
		}
	}
	return n
}

// homewards returns the key to hold, of a pair, by a player at the given place who
// would hold the given one.
func homewards(at, key float64) float64 {
	switch {
	case at > driftEdge:
		return -1
	case at < -driftEdge:
		return 1
	}
	return key
}

// Chasing: keys are pressed towards the place where the player would be in
// lookAhead seconds if it went on as it does, but for the last nearby metres.
const (
	lookAhead = 0.4
	nearby    = 0.8
	roam      = 24 // places lie within so many metres of the middle
)

func (p *pilot) chase(s *Sim, in *Input) {
	me := s.Player()
	dx := p.x - (me.Pos.X + float64(me.Vel.X*lookAhead))
	dy := p.y - (me.Pos.Y + float64(me.Vel.Y*lookAhead))
	if p.patience == 0 || math.Abs(dx)+math.Abs(dy) < nearby {
		p.choosePlace(s)
	}
	p.patience--
	if p.act.pace > 0 && me.Vel.Dot(me.Vel) > float64(p.act.pace*p.act.pace) {
		return
	}
	in.Left, in.Right = dx < -nearby/2, dx > nearby/2
	in.Down, in.Up = dy < -nearby/2, dy > nearby/2
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
