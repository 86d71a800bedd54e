package world

import "wirelab/dataset/physics"

// Drifting: one of eight directions is held for a quarter of a second to a second,
// then another: of a few at random the one with the most cubes ahead. Beyond the edge
// it is one towards the middle.
const (
	driftLeast = 15 // steps
	driftMore  = 45
	driftEdge  = 13 // metres from the middle
	driftIdeas = 5
	driftAhead = 5 // metres; and cubes this far around are seen:
	driftSight = 3
)

func (p *pilot) drift(s *sim, in *Input) {
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
func (s *sim) ahead(x, y int) int {
	at := s.Player().Pos.Add(physics.Vec{X: float64(x * driftAhead), Y: float64(y * driftAhead)})
	return s.around(at, driftSight)
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
