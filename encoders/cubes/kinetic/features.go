package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
	"wirelab/encoders/rangecoder"
)

// maxFeatures bounds the inputs of either net.
const maxFeatures = 256

// featureVector is the input of a net: fixed point with 10 fractional bits, within +-4.
type featureVector struct {
	v [maxFeatures]int32
	n int
}

func (f *featureVector) put(x float64) {
	x = float64(x*1024) + 0.5
	if !(x > -4096) {
		x = -4096
	}
	f.v[f.n] = int32(math.Floor(min(x, 4096)))
	f.n++
}

func (f *featureVector) flag(b bool) {
	f.v[f.n] = int32(rangecoder.Flag(b)) << 10
	f.n++
}

func (f *featureVector) skip(n int) {
	clear(f.v[f.n : f.n+n])
	f.n += n
}

// squash maps all numbers to -1..1.
func squash(x float64) float64 {
	x = float64(x) // a division by a power of two becomes a product, which must not be fused
	return x / (1 + math.Abs(x))
}

// putSquashed adds v in units of s, squashed.
func (f *featureVector) putSquashed(v vec, s float64) {
	for k := range v {
		f.put(squash(v[k] / s))
	}
}

// putBoth adds v squashed, in units of s, and linear, in units of l.
func (f *featureVector) putBoth(v vec, s, l float64) {
	for k := range v {
		f.put(squash(v[k] / s))
		f.put(v[k] / l)
	}
}

// Half the sides of the cubes, in units.
const (
	halfCube   = 102.4
	halfPlayer = 3.5 * halfCube // with the air beneath it
)

// cubeState is a cube about to be coded.
type cubeState struct {
	i            int
	at           vec
	as           quat
	move, turn   vec // of the step before
	half         float64
	forecastMove vec // by the forecast; without one, the motion of the step before
	forecastTurn vec
}

// stateOf returns the state of cube i.
func (s *scene) stateOf(i int) cubeState {
	q := cube.At(s.base, i)
	c := cubeState{i: i, at: position(q), as: orientation(q), half: halfCube}
	c.move, c.turn = s.lastMotion(i)
	if i == 0 {
		c.half = halfPlayer
	}
	c.forecastMove, c.forecastTurn = c.move, c.turn
	if s.forecast != nil && i > 0 {
		o := s.predicted(i)
		c.forecastMove = o.at.minus(c.at).times(1 / s.reach)
		c.forecastTurn = turnBetween(c.as, o.as).times(1 / s.reach)
	}
	return c
}

// featureCount returns the number of inputs of the position's net.
func featureCount(simulates bool) int {
	var f featureVector
	s := scene{simulates: simulates, reach: 1, frames: 6, rows: 1, cur: make([]int32, frame.CubeFields)}
	s.base = s.cur
	s.flags, s.trackOf = make([]uint8, 1), make([]int32, 1)
	c := s.stateOf(0)
	s.fill(&f, &c)
	return f.n
}

// fill computes all features of a cube before it is coded.
func (s *scene) fill(f *featureVector, c *cubeState) {
	f.n = 0
	s.fillHistory(f, c)
	s.fillPose(f, c)
	s.fillPlayer(f, c)
	if s.simulates {
		s.fillForecast(f, c)
	}
	s.fillNeighbours(f, c)
}

func (s *scene) fillHistory(f *featureVector, c *cubeState) {
	var leftMove, leftTurn, missMove, missTurn, beforeMove, beforeTurn vec
	if t := s.last(c.i); t != nil {
		leftMove, leftTurn = unpackAll(&t.residual)
		missMove, missTurn = unpackAll(&t.miss)
		beforeMove, beforeTurn = unpackAll(&t.missBefore)
	}
	f.putBoth(c.move, 16, 256)
	f.putBoth(c.turn, 16, 128)
	unit := s.missUnit()
	f.putBoth(missMove, unit, 128)
	f.putBoth(missTurn, unit, 64)
	if s.simulates {
		f.putBoth(leftMove, unit, 48)
		f.putBoth(leftTurn, unit, 24)
	}
	f.putSquashed(beforeMove, unit)
	f.putSquashed(beforeTurn, unit)
	e := missMove.sum()
	f.put(squash(e / 4))
	f.put(squash(e / 30))
	f.put(squash(beforeMove.sum() / 4))
	a := s.past.age(c.i)
	f.flag(a.still() == 0)
	f.flag(a.before() == 0)
	f.flag(a.still() > 4)
	f.flag(cube.At(s.base, c.i)[frame.CubeInteracting] != 0)
	f.flag(a.interacting() != 0)
	f.put(squash(s.reach - 1))
}

// missUnit returns the typical size of a residual.
func (s *scene) missUnit() float64 {
	if !s.simulates {
		return 12
	}
	return 3
}

// lowest returns the height of the cube's lowest corner above the floor.
func lowest(at vec, half float64, up vec) float64 { return at[2] - float64(half*up.sum()) }

func (s *scene) fillPose(f *featureVector, c *cubeState) {
	up := up(c.as)
	low := lowest(c.at, c.half, up)
	f.put(squash((c.at[2] - c.half) / 20))
	f.put((c.at[2] - c.half) / 512)
	f.put(squash(low / 8))
	f.put(squash(low / 60))
	f.put(squash((low + c.move[2]) / 16))
	f.put(squash((low + c.move[2] - 102.4) / 40))
	var corner vec
	flat := 0.0
	for k := range up {
		corner[k] = 1
		if up[k] > 0 {
			corner[k] = -1
		}
		flat = max(flat, math.Abs(up[k]))
	}
	corner = rotate(c.as, corner)
	f.put(corner[0])
	f.put(corner[1])
	f.put(corner[2])
	f.put((1 - flat) * 4)
	f.put(squash((1 - flat) * 50))
	f.flag(c.i == 0)
}

// The force that pushes cubes reaches two metres from a point just below the floor
// under the player.
const blowBelow = 0.1 * frame.UnitsPerMetre

// rigid returns the motion of the cube if it moved with the player as one rigid body.
func (s *scene) rigid(c *cubeState, spin quat, move vec) vec {
	arm := c.at.minus(s.player.at)
	return move.plus(rotate(spin, arm)).minus(arm)
}

func (s *scene) fillPlayer(f *featureVector, c *cubeState) {
	arm := c.at.minus(s.player.at)
	distance := arm.length()
	f.putSquashed(arm, 400)
	f.put(squash(distance / 400))
	f.flag(distance < 1024)
	f.flag(distance < 922)
	f.put(squash((s.player.at[2] - 358) / 50))
	f.put(s.player.at[2] / 1024)
	if c.i == 0 {
		f.skip(6 + 3 + 3 + 3 + 6 + 6 + 3 + 5)
		return
	}
	p := &s.player
	f.putBoth(p.move, 32, 256)
	f.putSquashed(p.move.minus(p.lastMove), 16)
	f.putSquashed(p.turn, 16)
	f.putSquashed(p.lastTurn, 16)
	f.putBoth(s.rigid(c, p.turn6, p.move).minus(c.move), 16, 256)
	f.putBoth(c.move.minus(s.rigidBefore(c)), 8, 128)
	f.putSquashed(c.turn.minus(p.lastTurn), 12)
	s.fillBlow(f, c)
}

// rigidBefore is rigid for the step before.
func (s *scene) rigidBefore(c *cubeState) vec {
	arm := c.at.minus(s.player.at)
	return s.player.lastMove.plus(arm).minus(rotate(s.player.lastInverse, arm))
}

func (s *scene) fillBlow(f *featureVector, c *cubeState) {
	o := c.at.plus(c.move.times(0.5)).minus(s.player.at.plus(s.player.move.times(0.5)))
	o[2] = c.at[2] + float64(c.move[2]*0.5) + blowBelow
	square := float64(o.square() / (512 * 512))
	near := square < 4
	f.flag(near)
	f.put(squash(square - 4))
	if !near {
		f.skip(3)
		return
	}
	scale := min(1, 0.4/max(square, 1e-3)) / max(o.length(), 1)
	f.put(o[0] * scale)
	f.put(o[1] * scale)
	f.put(o[2] * scale)
}

func (s *scene) fillForecast(f *featureVector, c *cubeState) {
	if c.i == 0 {
		f.skip(12 + 12 + 6 + 2 + 6 + 4 + 6)
		return
	}
	o := s.predicted(c.i)
	f.putBoth(c.forecastMove, 16, 256)
	f.putBoth(c.forecastMove.minus(c.move), 12, 128)
	f.putBoth(c.forecastTurn, 16, 128)
	f.putBoth(c.forecastTurn.minus(c.turn), 12, 64)
	for _, n := range o.touches {
		f.put(squash(n / 6))
		f.flag(n > 0)
	}
	low := lowest(o.at, c.half, up(o.as))
	f.put(squash(low / 8))
	f.put(squash(low / 60))
	// The final speed differs from the mean speed if the cube was hit on the way.
	f.putSquashed(o.speed.times(0.1*frame.UnitsPerMetre).minus(c.forecastMove), 16)
	f.putSquashed(o.spin.times(0.1*turnUnit).minus(c.forecastTurn), 16)
	touched := uint8(0)
	if t := s.last(c.i); t != nil {
		touched = t.touched
	}
	f.flag(touched&1 != 0)
	f.flag(touched&2 != 0)
	f.flag(touched&4 != 0)
	f.put(float64(touched>>3) / 4)
	f.put(squash(o.impact.Sum))
	f.put(squash(o.impact.Sum / 8))
	f.put(squash(o.impact.Most))
	f.put(squash(o.impact.Most / 8))
	f.flag(s.mode == forecast.Push)
	f.flag(s.mode == forecast.Pull)
}

// missFeatures is the number of inputs that only the orientation's net has.
const missFeatures = 6

// fillMiss adds the residual of the position, an input of the orientation's net.
func (s *scene) fillMiss(f *featureVector, c *cubeState, move vec) {
	short, long := 12.0, 128.0
	if s.forecast != nil && c.i > 0 {
		short, long = 4, 64
	}
	f.putBoth(move.minus(c.forecastMove), short, long)
}

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

// setPositionBases sets the bases of the position's components: motions in units over the whole
// step.
func (s *scene) setPositionBases(g *mixtureBases, c *cubeState) {
	g.reach = s.reach
	g.rows = [3]vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	move := c.move.times(s.reach)
	g.base[0] = vec{}
	if s.forecast != nil && c.i > 0 {
		ahead := c.forecastMove.times(s.reach)
		g.base[1], g.base[2], g.base[4] = ahead, ahead, ahead
		g.base[3] = move
		return
	}
	fall := c.move.times(0.96)
	fall[2] = float64(c.move[2]*0.95) - 98 // gravity over six frames
	g.base[1], g.base[2], g.base[4] = move, fall.times(s.reach), move
	g.base[3] = move
	if c.i > 0 {
		g.base[3] = s.rigid(c, s.player.spin, s.player.move.times(s.reach))
	}
}

// orientationBases returns the orientation that each component starts from.
func (s *scene) orientationBases(c *cubeState) (p [components]quat) {
	p[0] = c.as
	p[1] = c.turn.times(s.reach).rotation().Times(c.as)
	p[2], p[3], p[4] = p[1], p[1], p[1]
	switch {
	case c.i == 0:
	case s.forecast != nil:
		as := s.predicted(c.i).as
		p[1], p[2], p[4] = as, as, as
	default:
		p[2] = c.turn.times(0.95 * s.reach).rotation().Times(c.as)
		p[3] = s.player.spin.Times(c.as)
	}
	return p
}
