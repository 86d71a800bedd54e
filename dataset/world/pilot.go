package world

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/physics"
	"wirelab/internal/seed"
)

// pilot plays a script: it decides which keys are held. Its constants were estimated from the player's
// path in the recordings.
type pilot struct {
	script    Script
	rng       *rand.Rand
	next      int // index of the next act, not reduced modulo their number
	act       act // the current act
	stepsLeft int // steps left of the act

	x, y        float64 // chasing: the target in metres; drifting: the direction, -1, 0 or 1 along each axis
	targetSteps int     // chasing: steps until the target is given up
	driftSteps  int     // drifting: steps until another direction is chosen
}

// newPilot returns a pilot whose random choices follow from the session's seed and the script.
func newPilot(script Script, session uint64) *pilot {
	return &pilot{script: script, rng: rand.New(rand.NewPCG(session, seed.Hash("world/"+script.Name)))}
}

// chooseKeys returns the keys to hold in the coming step of s: those of the current act, and the direction
// keys that its way of steering chooses. It starts the next act when the current one is over.
func (p *pilot) chooseKeys(s *sim) Input {
	if p.stepsLeft == 0 {
		p.nextAct(s)
	}
	p.stepsLeft--
	in := p.act.keys
	switch p.act.steering {
	case chase:
		p.chase(s, &in)
	case drift:
		p.drift(s, &in)
	}
	return in
}

// nextAct starts the next act of the script, or a random one if the script has none.
func (p *pilot) nextAct(s *sim) {
	if len(p.script.acts) == 0 {
		p.act = p.randomAct(s.tick == 0)
	} else {
		p.act = p.script.acts[p.next%len(p.script.acts)]
		p.next++
	}
	p.stepsLeft = int(math.Round(float64(p.act.seconds * stepsPerSecond)))
	p.chooseTarget(s)
}

// About 700 of the 900 cubes are within reach of the player at first. A hovering player pushes them
// away, so that the world is reset when fewer than minCubesInReach are left.
const (
	minCubesInReach = 260
	reachLimit      = driftEdge + 1       // metres; cubes with both coordinates within are in reach
	minStepsToReset = 60 * stepsPerSecond // shortest time between resets, in steps
)

// wantsReset reports whether an act has ended, too few cubes are left within reach, and the world is
// old enough.
func (p *pilot) wantsReset(s *sim) bool {
	return p.stepsLeft == 0 && s.tick > minStepsToReset && s.countCubes(physics.Vec{}, reachLimit) < minCubesInReach
}

// countCubes counts the small cubes in the square around centre, at any height. half is half the side of
// the square, in metres.
func (s *sim) countCubes(centre physics.Vec, half float64) (n int) {
	for i := player + 1; i < cubes; i++ {
		b := s.scene.Body(i)
		if math.Abs(b.Pos.X-centre.X) < half && math.Abs(b.Pos.Y-centre.Y) < half {
			n++
		}
	}
	return n
}

// randomAct returns a random act, mostly hovering, as in the recordings alpha, bravo and charlie. The
// first act of a world is a rest, during which the player falls to the floor.
func (p *pilot) randomAct(isFirst bool) act {
	if isFirst {
		return restAct(2.2)
	}
	seconds := float64(3 + p.rng.IntN(10))
	switch die := p.rng.IntN(20); { // 5 % for each number
	case die < 1:
		return restAct(seconds / 4)
	case die < 2:
		return rollAct(seconds / 2)
	case die < 3:
		return gatherAct(seconds / 2)
	default:
		return hoverAct(float64(2 * seconds))
	}
}
