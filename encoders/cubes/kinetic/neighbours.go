package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// nearestTwo keeps the two nearest cubes, the nearest first.
type nearestTwo struct {
	cube   [2]int32
	square [2]float64
	n      int
}

const nearReach = 512.0 // units

func (l *nearestTwo) offer(i int32, square float64) {
	switch {
	case l.n == 0 || square < l.square[0]:
		l.cube[1], l.square[1] = l.cube[0], l.square[0]
		l.cube[0], l.square[0] = i, square
	case l.n == 1 || square < l.square[1]:
		l.cube[1], l.square[1] = i, square
	default:
		return
	}
	l.n = min(l.n+1, 2)
}

// fillNeighbours adds features of the neighbours: the motions of the nearest cubes that
// moved, the mean of all around, and the positions of the nearest others.
func (s *scene) fillNeighbours(f *featureVector, c *cubeState) {
	var movers, others nearestTwo
	var mean, meanTurn vec
	miss, weights := 0.0, 0.001
	if c.i > 0 {
		q := cube.At(s.base, c.i)
		s.found = s.resting.search(q[frame.CubeX], q[frame.CubeY], s.found[:0])
	} else {
		s.found = s.found[:0]
	}
	for _, j := range s.found {
		square := position(cube.At(s.base, int(j))).minus(c.at).square()
		if int(j) == c.i || square >= nearReach*nearReach {
			continue
		}
		if s.flags[j]&hasMoved == 0 {
			others.offer(j, square)
			continue
		}
		movers.offer(j, square)
		d := &s.done[s.doneOf[j]-1]
		w := 1 / (1 + square/(150*150))
		weights += w
		mean = mean.plus(d.missMove.times(w))
		meanTurn = meanTurn.plus(d.missTurn.times(w))
		miss += float64(w * d.missMove.sum())
	}
	unit := s.missUnit()
	f.putSquashed(mean.times(1/weights), unit)
	f.putSquashed(meanTurn.times(1/weights), unit)
	f.put(squash(miss / weights / (unit + 1)))
	f.put(squash(weights))
	for k := range movers.cube {
		s.fillMover(f, c, &movers, k)
	}
	for k := range others.cube {
		s.fillOther(f, c, &others, k)
	}
}

func (s *scene) fillMover(f *featureVector, c *cubeState, l *nearestTwo, k int) {
	if k >= l.n {
		f.skip(4 + 9 + 3 + 3)
		return
	}
	j := int(l.cube[k])
	d := &s.done[s.doneOf[j]-1]
	arm := position(cube.At(s.base, j)).minus(c.at)
	f.put(1 - float64(arm.length()/nearReach))
	f.putSquashed(arm, 128)
	f.putBoth(d.missMove, s.missUnit(), 16*s.missUnit())
	f.putSquashed(d.missTurn, s.missUnit())
	last, _ := s.lastMotion(j)
	f.putSquashed(last.minus(c.move), 16)
	f.putSquashed(position(cube.At(s.cur, j)).minus(c.at.plus(c.move.times(s.reach))), 128)
}

func (s *scene) fillOther(f *featureVector, c *cubeState, l *nearestTwo, k int) {
	if k >= l.n {
		f.skip(3 + 3 + 3)
		return
	}
	j := int(l.cube[k])
	arm := position(cube.At(s.base, j)).minus(c.at)
	f.put(1 - float64(arm.length()/nearReach))
	f.flag(s.flags[j]&isCoded != 0)
	f.flag(s.past.age(j).still() == 0)
	f.putSquashed(arm, 128)
	last, _ := s.lastMotion(j)
	f.putSquashed(last.minus(c.move), 16)
}

// closest returns the distance in units from cube i to the nearest cube that has moved,
// at its new position, and that cube; -1 if the cells around hold none. Cells wrap
// around, so the cube may be far away; the tables were trained with that.
func (s *scene) closest(i int) (distance int, j int32) {
	q := cube.At(s.base, i)
	s.found = s.arrived.search(q[frame.CubeX], q[frame.CubeY], s.found[:0])
	best := int64(1) << 62
	for _, k := range s.found {
		p := cube.At(s.cur, int(k))
		if d := cube.Distance2(p, q); d < best {
			best, j = d, k
		}
	}
	if best == 1<<62 {
		return -1, 0
	}
	return isqrt(best), j
}
