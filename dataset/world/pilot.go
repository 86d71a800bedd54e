package world

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/physics"
	"wirelab/internal/seed"
)

// pilot plays a script: it decides which keys are held. Where and how long it holds
// them was measured in the recordings: they can be read from the player's path.
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
func newPilot(script Script, session uint64) *pilot {
	return &pilot{script: script, rng: rand.New(rand.NewPCG(session, seed.Hash("world/"+script.Name)))}
}

// keys returns the keys to hold in the coming step of s.
func (p *pilot) keys(s *sim) Input {
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
func (p *pilot) begin(s *sim) {
	if len(p.script.acts) == 0 {
		p.act = p.improvise(s.tick == 0)
	} else {
		p.act = p.script.acts[p.next%len(p.script.acts)]
		p.next++
	}
	p.left = int(math.Round(float64(p.act.seconds * stepsPerSecond)))
	p.choosePlace(s)
}

// Of 900 cubes some 700 lie within reach at first. A player that hovers pushes them
// away, so after a while a script that improvises begins anew.
const (
	fewCubes  = 260
	reachOut  = driftEdge + 1       // metres from the middle
	patiently = 60 * stepsPerSecond // steps for which a world is played at least
)

// wantsReset reports whether the pilot is between two acts and too few cubes are left.
func (p *pilot) wantsReset(s *sim) bool {
	return p.left == 0 && s.tick > patiently && s.around(physics.Vec{}, reachOut) < fewCubes
}

// around counts the small cubes in a square around a place, half as wide as given.
func (s *sim) around(at physics.Vec, half float64) (n int) {
	for i := player + 1; i < cubes; i++ {
		b := s.scene.Body(i)
		if math.Abs(b.Pos.X-at.X) < half && math.Abs(b.Pos.Y-at.Y) < half {
			n++
		}
	}
	return n
}

// improvise chooses an act at random. Most of the time it hovers, as in the recordings alpha,
// bravo and charlie; at first it looks on while the player falls.
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
