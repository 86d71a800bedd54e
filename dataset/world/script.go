package world

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Script describes one way of playing the world without a person.
type Script struct {
	Name    string
	Summary string
	Seconds float64 // one round of it; 0 if it has no rounds
	acts    []act
}

// act is one stretch of a script.
type act struct {
	seconds float64
	hold    Input   // keys held throughout
	wander  bool    // press direction keys as well, from one place to another
	pace    float64 // metres per second above which they are let go; 0: never
}

// The acts that scripts are made of.
func rest(seconds float64) act { return act{seconds: seconds} }
func roll(seconds float64) act { return act{seconds: seconds, wander: true, pace: 12} }
func hovering(seconds float64) act {
	return act{seconds: seconds, wander: true, hold: Input{Push: true}}
}
func gather(seconds float64) act {
	return act{seconds: seconds, wander: true, pace: 8, hold: Input{Pull: true}}
}

// Scripts lists the scripts there are.
func Scripts() []Script {
	scripts := []Script{
		{Name: "idle", Summary: "the player falls into the grid and stays there", acts: []act{rest(60)}},
		{Name: "roll", Summary: "rolls through the cubes", acts: []act{rest(2), roll(58)}},
		{Name: "hover", Summary: "hovers through the grid and blows it apart", acts: []act{rest(2), hovering(58)}},
		{Name: "katamari", Summary: "rolls and gathers up what is near", acts: []act{rest(2), gather(58)}},
		{Name: "demo", Summary: "each in turn, with pauses in which everything settles", acts: []act{
			rest(3), roll(9), rest(2), hovering(14), rest(3), gather(12), rest(5)}},
		{Name: "random", Summary: "a restless player: any of these, for a while each, for ever"},
	}
	for i := range scripts {
		for _, a := range scripts[i].acts {
			scripts[i].Seconds += a.seconds
		}
	}
	return scripts
}

// ErrScript: there is no script of that name.
var ErrScript = errors.New("unknown script")

// findScript returns the script called name.
func findScript(name string) (Script, error) {
	var names []string
	for _, s := range Scripts() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Script{}, fmt.Errorf("script %q: %w, expected one of %s", name, ErrScript, strings.Join(names, ", "))
}

// pilot plays a script: it decides which keys are held.
type pilot struct {
	script   Script
	rng      *rand.Rand
	next     int // the act after this one
	act      act
	left     int // steps left of the act
	x, y     float64
	patience int // steps until the place (x, y) is given up
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
	roam      = 17 // places lie within so many metres of the middle
)

// keys returns the keys to hold in the coming step of s.
func (p *pilot) keys(s *Sim) Input {
	if p.left == 0 {
		p.begin()
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
		p.choosePlace()
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
func (p *pilot) begin() {
	if len(p.script.acts) == 0 {
		p.act = p.improvise()
	} else {
		p.act = p.script.acts[p.next%len(p.script.acts)]
		p.next++
	}
	p.left = int(math.Round(float64(p.act.seconds * stepsPerSecond)))
	p.choosePlace()
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

// choosePlace picks where to go next and for how long to try.
func (p *pilot) choosePlace() {
	p.x = float64(p.rng.IntN(2*roam+1) - roam)
	p.y = float64(p.rng.IntN(2*roam+1) - roam)
	p.patience = 60 + p.rng.IntN(3*60)
}
