package world

import "wirelab/dataset/physics"

// Constants of drifting. The pilot holds one of eight directions for a quarter of a second to a
// second. Then it tries a few random directions and takes the one with the most cubes ahead. Beyond
// driftEdge it steers back to the middle.
const (
	driftMinSteps    = 15 // shortest time of a direction, in steps
	driftRandomSteps = 45 // largest random addition to driftMinSteps
	driftEdge        = 13 // metres from the middle at which the pilot turns back
	driftTries       = 5  // number of directions tried
	driftAhead       = 5  // metres from the player to the middle of the square in which cubes are counted
	driftCountHalf   = 3  // metres; half the side of that square
)

// drift sets the direction keys of in. When the time for the current direction is over, it tries some random
// directions and chooses the one with the most cubes ahead.
func (p *pilot) drift(s *sim, in *Input) {
	if p.driftSteps == 0 {
		p.driftSteps = driftMinSteps + p.rng.IntN(driftRandomSteps)
		best := -1
		for range driftTries {
			d := p.rng.IntN(8)
			d += d / 4 // 0..8 without 4: all combinations of -1, 0, 1 except 0, 0
			x, y := d%3-1, d/3-1
			if n := s.cubesAhead(x, y); n > best {
				best, p.x, p.y = n, float64(x), float64(y)
			}
		}
	}
	p.driftSteps--
	playerPos := s.Player().Pos
	x, y := turnedBack(playerPos.X, p.x), turnedBack(playerPos.Y, p.y)
	in.Left, in.Right = x < 0, x > 0
	in.Down, in.Up = y < 0, y > 0
}

// cubesAhead counts the cubes in the square ahead of the player in direction x, y, each -1, 0 or 1.
func (s *sim) cubesAhead(x, y int) int {
	centre := s.Player().Pos.Add(physics.Vec{X: float64(x * driftAhead), Y: float64(y * driftAhead)})
	return s.countCubes(centre, driftCountHalf)
}

// turnedBack returns the direction to hold along one axis, -1, 0 or 1: key, or the direction back to the
// middle if the player's coordinate is beyond driftEdge.
func turnedBack(coordinate, key float64) float64 {
	switch {
	case coordinate > driftEdge:
		return -1
	case coordinate < -driftEdge:
		return 1
	}
	return key
}
