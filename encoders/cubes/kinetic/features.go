package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
	"wirelab/encoders/rangecoder"
)

// This file computes the inputs of the nets. Their number and order are those that the nets were
// trained with; a change needs new nets. Most features are numbers of unbounded size, such as a
// motion. They enter twice: through softsign in a small unit, which resolves small values, and
// linear in a large unit, which keeps the proportions of large ones. The units, in the calls below, are
// about the sizes that the features typically have.

// maxFeatures bounds the inputs of either net.
const maxFeatures = 256

// featureVector is the input of a net: fixed point with 10 fractional bits, clamped to +-4.
type featureVector struct {
	v [maxFeatures]int32 // the features, in units of 1/1024
	n int                // number of features added
}

// add adds a feature, rounded to 1/1024 and clamped to +-4. NaN counts as -4.
func (f *featureVector) add(x float64) {
	x = float64(x*1024) + 0.5
	if !(x > -4096) {
		x = -4096
	}
	f.v[f.n] = int32(math.Floor(min(x, 4096)))
	f.n++
}

// addFlag adds a feature of 1 or 0.
func (f *featureVector) addFlag(b bool) {
	f.v[f.n] = int32(rangecoder.Flag(b)) << 10
	f.n++
}

// addZeros adds n features of 0, in place of features that do not apply to the cube.
func (f *featureVector) addZeros(n int) {
	clear(f.v[f.n : f.n+n])
	f.n += n
}

// softsign maps all numbers to -1..1: x/(1+|x|).
func softsign(x float64) float64 {
	x = float64(x) // a division by a power of two becomes a product, which must not be fused
	return x / (1 + math.Abs(x))
}

// addSoftsign adds the softsign of each component of v in the given unit.
func (f *featureVector) addSoftsign(v vec, unit float64) {
	for k := range v {
		f.add(softsign(v[k] / unit))
	}
}

// addSoftsignAndLinear adds two features for each component of v: its softsign in one unit, and the
// component itself in another.
func (f *featureVector) addSoftsignAndLinear(v vec, softsignUnit, linearUnit float64) {
	for k := range v {
		f.add(softsign(v[k] / softsignUnit))
		f.add(v[k] / linearUnit)
	}
}

// Half the sides of the cubes, in units of 1/512 m.
const (
	halfCube   = 102.4          // 0.2 m
	halfPlayer = 3.5 * halfCube // 0.7 m; includes the gap between the player and the floor
)

// cubeState is what is known of a cube before it is coded. Motions are scaled to six frames.
type cubeState struct {
	i            int     // number of the cube
	pos          vec     // position at the baseline
	rot          quat    // orientation at the baseline
	move, turn   vec     // before the baseline; 0 without a track
	halfSide     float64 // half the side, in units of 1/512 m
	forecastMove vec     // by the forecast; without one, move
	forecastTurn vec     // by the forecast; without one, turn
}

// newCubeState returns the state of cube i, which is about to be coded. Cube 0 is the player, which
// has no forecast.
func (s *scene) newCubeState(i int) cubeState {
	q := cube.At(s.base, i)
	c := cubeState{i: i, pos: position(q), rot: orientation(q), halfSide: halfCube}
	c.move, c.turn = s.lastMotion(i)
	if i == 0 {
		c.halfSide = halfPlayer
	}
	c.forecastMove, c.forecastTurn = c.move, c.turn
	if s.forecast != nil && i > 0 {
		o := s.predicted(i)
		c.forecastMove = o.pos.minus(c.pos).times(1 / s.baselineAge)
		c.forecastTurn = turnBetween(c.rot, o.rot).times(1 / s.baselineAge)
	}
	return c
}

// featureCount returns the number of inputs of the position net, by computing the features of a
// scene with the player alone. The orientation net has residualFeatures more. simulates is true
// for kinetic, which has the features of fillForecast too.
func featureCount(simulates bool) int {
	var f featureVector
	s := scene{simulates: simulates, baselineAge: 1, baselineFrames: 6, rows: 1, cur: make([]int32, frame.CubeFields)}
	s.base = s.cur
	s.flags, s.trackIndex = make([]uint8, 1), make([]int32, 1)
	c := s.newCubeState(0)
	s.fillFeatures(&f, &c)
	return f.n
}

// fillFeatures sets f to the inputs of the position net for cube c.
func (s *scene) fillFeatures(f *featureVector, c *cubeState) {
	f.n = 0
	s.fillHistory(f, c)
	s.fillPose(f, c)
	s.fillPlayer(f, c)
	if s.simulates {
		s.fillForecast(f, c)
	}
	s.fillNeighbours(f, c)
}

// fillHistory adds the cube's last motion, the residuals of its last two frames, how long it has
// been still, and the age of the baseline. The numbers are the units of the features: typical sizes, of motions in
// 1/512 m and of turns in turnUnit, in six frames.
func (s *scene) fillHistory(f *featureVector, c *cubeState) {
	var refinedMove, refinedTurn, lastMove, lastTurn, beforeMove, beforeTurn vec // residuals
	if t := s.lastTrack(c.i); t != nil {
		refinedMove, refinedTurn = unpackResiduals(&t.refinedResidual)
		lastMove, lastTurn = unpackResiduals(&t.residual)
		beforeMove, beforeTurn = unpackResiduals(&t.residualBefore)
	}
	f.addSoftsignAndLinear(c.move, 16, 256)
	f.addSoftsignAndLinear(c.turn, 16, 128)
	unit := s.residualUnit()
	f.addSoftsignAndLinear(lastMove, unit, 128)
	f.addSoftsignAndLinear(lastTurn, unit, 64)
	if s.simulates {
		f.addSoftsignAndLinear(refinedMove, unit, 48)
		f.addSoftsignAndLinear(refinedTurn, unit, 24)
	}
	f.addSoftsign(beforeMove, unit)
	f.addSoftsign(beforeTurn, unit)
	lastResidual := lastMove.sumAbs()
	f.add(softsign(lastResidual / 4))
	f.add(softsign(lastResidual / 30))
	f.add(softsign(beforeMove.sumAbs() / 4))
	cubeAge := s.baseMemo.age(c.i)
	f.addFlag(cubeAge.still() == 0)
	f.addFlag(cubeAge.stillBefore() == 0)
	f.addFlag(cubeAge.still() > 4)
	f.addFlag(cube.At(s.base, c.i)[frame.CubeInteracting] != 0)
	f.addFlag(cubeAge.interacting() != 0)
	f.add(softsign(s.baselineAge - 1))
}

// residualUnit returns the typical size of a residual, in units of 1/512 m or of turnUnit: a forecast is closer than
// an extrapolation.
func (s *scene) residualUnit() float64 {
	if !s.simulates {
		return 12
	}
	return 3
}

// lowestCorner returns the height above the floor of the lowest corner of a cube with its centre at
// pos. axisHeights are the z components of its axes.
func lowestCorner(pos vec, halfSide float64, axisHeights vec) float64 {
	return pos[2] - float64(halfSide*axisHeights.sumAbs())
}

// fillPose adds how high the cube is and how it stands at the baseline: whether a corner touches
// the floor, or would after a free fall, and how far it is from lying flat. Heights are in units of 1/512 m and
// divided by typical values.
func (s *scene) fillPose(f *featureVector, c *cubeState) {
	up := axisHeights(c.rot)
	low := lowestCorner(c.pos, c.halfSide, up)
	f.add(softsign((c.pos[2] - c.halfSide) / 20))
	f.add((c.pos[2] - c.halfSide) / 512)
	f.add(softsign(low / 8))
	f.add(softsign(low / 60))
	f.add(softsign((low + c.move[2]) / 16))
	f.add(softsign((low + c.move[2] - 102.4) / 40)) // after six frames of free fall: 20 m/s2 * (0.1 s)^2 = 0.2 m
	var corner vec                                  // the lowest corner relative to the centre, in half sides
	flat := 0.0                                     // height of the most vertical axis: 1 if the cube lies flat
	for k := range up {
		corner[k] = 1
		if up[k] > 0 {
			corner[k] = -1
		}
		flat = max(flat, math.Abs(up[k]))
	}
	corner = rotate(c.rot, corner)
	f.add(corner[0])
	f.add(corner[1])
	f.add(corner[2])
	f.add((1 - flat) * 4)
	f.add(softsign((1 - flat) * 50))
	f.addFlag(c.i == 0)
}

// pushCentreDepth is the depth below the floor of the point under the player from which the player
// pushes cubes away. The force reaches two metres, see package forecast.
const pushCentreDepth = 0.1 * frame.UnitsPerMetre

// rigidMotion returns the motion that the cube would have as part of one rigid body with the player,
// which rotates and moves as given. A player that pulls cubes drags them along like this.
func (s *scene) rigidMotion(c *cubeState, rotation quat, move vec) vec {
	arm := c.pos.minus(s.player.pos)
	return move.plus(rotate(rotation, arm)).minus(arm)
}

// fillPlayer adds features of the player: where it is relative to the cube, whether the cube is within reach of its
// pushing (2 m) and pulling (1.8 m), its height, how it moves, and how the cube would move if both were one rigid
// body. The divisors are typical values in units of 1/512 m, those of turns in turnUnit.
func (s *scene) fillPlayer(f *featureVector, c *cubeState) {
	arm := c.pos.minus(s.player.pos)
	distance := arm.length()
	f.addSoftsign(arm, 400)
	f.add(softsign(distance / 400))
	f.addFlag(distance < 1024)                    // 2 m
	f.addFlag(distance < 922)                     // 1.8 m
	f.add(softsign((s.player.pos[2] - 358) / 50)) // above its height on the floor, halfPlayer
	f.add(s.player.pos[2] / 1024)
	if c.i == 0 { // the player itself: its motion is not known yet; the numbers are those of the features below
		f.addZeros(6 + 3 + 3 + 3 + 6 + 6 + 3 + 5)
		return
	}
	p := &s.player
	f.addSoftsignAndLinear(p.move, 32, 256)
	f.addSoftsign(p.move.minus(p.lastMove), 16)
	f.addSoftsign(p.turn, 16)
	f.addSoftsign(p.lastTurn, 16)
	f.addSoftsignAndLinear(s.rigidMotion(c, p.sixFrameRotation, p.move).minus(c.move), 16, 256)
	f.addSoftsignAndLinear(c.move.minus(s.lastRigidMotion(c)), 8, 128)
	f.addSoftsign(c.turn.minus(p.lastTurn), 12)
	s.fillPush(f, c)
}

// lastRigidMotion returns the motion before the baseline that the cube would have had as part of
// one rigid body with the player.
func (s *scene) lastRigidMotion(c *cubeState) vec {
	arm := c.pos.minus(s.player.pos)
	return s.player.lastMove.plus(arm).minus(rotate(s.player.lastInverseRotation, arm))
}

// fillPush adds the force by which a pushing player acts on the cube about halfway between the frames:
// whether the cube is within reach, and the force as a vector, relative to its limit. The force is
// 200/d^2 m/s2, at most 500, as in package forecast.
func (s *scene) fillPush(f *featureVector, c *cubeState) {
	offset := c.pos.plus(c.move.times(0.5)).minus(s.player.pos.plus(s.player.move.times(0.5)))
	offset[2] = c.pos[2] + float64(c.move[2]*0.5) + pushCentreDepth
	distance2 := float64(offset.lengthSquared() / (512 * 512)) // m2
	inReach := distance2 < 4
	f.addFlag(inReach)
	f.add(softsign(distance2 - 4))
	if !inReach {
		f.addZeros(3)
		return
	}
	scale := min(1, 0.4/max(distance2, 1e-3)) / max(offset.length(), 1) // 0.4 = 200/500
	f.add(offset[0] * scale)
	f.add(offset[1] * scale)
	f.add(offset[2] * scale)
}

// fillForecast adds the result of the simulation: motion, contacts, height, final speed, impacts
// and the player's force. The player is not simulated, so its features are 0. The numbers are the units of the
// features: typical sizes, of motions in 1/512 m and of turns in turnUnit, in six frames.
func (s *scene) fillForecast(f *featureVector, c *cubeState) {
	if c.i == 0 { // as many zeros as the features below
		f.addZeros(12 + 12 + 6 + 2 + 6 + 4 + 6)
		return
	}
	o := s.predicted(c.i)
	f.addSoftsignAndLinear(c.forecastMove, 16, 256)
	f.addSoftsignAndLinear(c.forecastMove.minus(c.move), 12, 128)
	f.addSoftsignAndLinear(c.forecastTurn, 16, 128)
	f.addSoftsignAndLinear(c.forecastTurn.minus(c.turn), 12, 64)
	for _, n := range o.contacts {
		f.add(softsign(n / 6))
		f.addFlag(n > 0)
	}
	low := lowestCorner(o.pos, c.halfSide, axisHeights(o.rot))
	f.add(softsign(low / 8))
	f.add(softsign(low / 60))
	// The final speed differs from the mean speed if the cube was hit on the way.
	f.addSoftsign(o.speed.times(0.1*frame.UnitsPerMetre).minus(c.forecastMove), 16)
	f.addSoftsign(o.spin.times(0.1*turnUnit).minus(c.forecastTurn), 16)
	lastContacts := uint8(0) // bits 0..2: with floor, player, cubes; above: class of their number, see track
	if t := s.lastTrack(c.i); t != nil {
		lastContacts = t.contacts
	}
	f.addFlag(lastContacts&1 != 0)
	f.addFlag(lastContacts&2 != 0)
	f.addFlag(lastContacts&4 != 0)
	f.add(float64(lastContacts>>3) / 4)
	f.add(softsign(o.impact.Sum))
	f.add(softsign(o.impact.Sum / 8))
	f.add(softsign(o.impact.Max))
	f.add(softsign(o.impact.Max / 8))
	f.addFlag(s.mode == forecast.Push)
	f.addFlag(s.mode == forecast.Pull)
}

// residualFeatures is the number of inputs that only the orientation net has.
const residualFeatures = 6

// fillPositionResidual adds the residual of the position, which is coded before the orientation.
// move is the true motion, scaled to six frames. The features follow those that fillFeatures set.
func (s *scene) fillPositionResidual(f *featureVector, c *cubeState, move vec) {
	softsignUnit, linearUnit := 12.0, 128.0 // units of the softsign and of the linear features
	if s.forecast != nil && c.i > 0 {
		softsignUnit, linearUnit = 4, 64 // a forecast has smaller residuals than an extrapolation
	}
	f.addSoftsignAndLinear(move.minus(c.forecastMove), softsignUnit, linearUnit)
}

// nearestTwo collects the two nearest of the cubes that are offered to it, the nearest first.
type nearestTwo struct {
	cube   [2]int32   // their numbers
	square [2]float64 // squared distances
	n      int        // how many were found, at most 2
}

// neighbourRadius is the distance up to which cubes are neighbours: 1 m.
const neighbourRadius = 512.0

// offer adds cube i at the given squared distance if it is one of the two nearest so far.
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

// fillNeighbours adds features of the cubes within neighbourRadius: the mean residuals of those that
// are coded and moved, weighted by distance; the two nearest of them; and the two nearest others,
// which did not move or are not coded yet. The player has no neighbours.
func (s *scene) fillNeighbours(f *featureVector, c *cubeState) {
	var movers, others nearestTwo
	var moveSum, turnSum vec         // weighted sums of residuals
	sizeSum, weightSum := 0.0, 0.001 // weighted sum of residual sizes; sum of weights, which must not be 0
	if c.i > 0 {
		q := cube.At(s.base, c.i)
		s.found = s.baseGrid.search(q[frame.CubeX], q[frame.CubeY], s.found[:0])
	} else {
		s.found = s.found[:0]
	}
	for _, j := range s.found {
		square := position(cube.At(s.base, int(j))).minus(c.pos).lengthSquared()
		if int(j) == c.i || square >= neighbourRadius*neighbourRadius {
			continue
		}
		if s.flags[j]&hasMoved == 0 {
			others.offer(j, square)
			continue
		}
		movers.offer(j, square)
		neighbour := &s.motions[s.motionIndex[j]-1]
		w := 1 / (1 + square/(150*150)) // 1/2 at a distance of 150 units, 0.3 m
		weightSum += w
		moveSum = moveSum.plus(neighbour.residualMove.times(w))
		turnSum = turnSum.plus(neighbour.residualTurn.times(w))
		sizeSum += float64(w * neighbour.residualMove.sumAbs())
	}
	unit := s.residualUnit()
	f.addSoftsign(moveSum.times(1/weightSum), unit)
	f.addSoftsign(turnSum.times(1/weightSum), unit)
	f.add(softsign(sizeSum / weightSum / (unit + 1)))
	f.add(softsign(weightSum))
	for k := range movers.cube {
		s.fillMover(f, c, &movers, k)
	}
	for k := range others.cube {
		s.fillOther(f, c, &others, k)
	}
}

// Typical distances to a neighbour and differences of two motions, in units of 1/512 m (motions in six
// frames): the units of softsign features.
const (
	armUnit  = 128
	moveUnit = 16
)

// fillMover adds features of the k-th nearest neighbour that moved: its nearness, its position relative
// to the cube, its residuals, the difference between its last motion and the cube's, and its new position
// relative to the extrapolated cube. All are 0 if there is no such neighbour.
func (s *scene) fillMover(f *featureVector, c *cubeState, nearest *nearestTwo, k int) {
	if k >= nearest.n {
		f.addZeros(1 + 3 + 9 + 3 + 3) // as many as the features below
		return
	}
	j := int(nearest.cube[k])
	neighbour := &s.motions[s.motionIndex[j]-1]
	arm := position(cube.At(s.base, j)).minus(c.pos)
	f.add(1 - float64(arm.length()/neighbourRadius))
	f.addSoftsign(arm, armUnit)
	f.addSoftsignAndLinear(neighbour.residualMove, s.residualUnit(), 16*s.residualUnit())
	f.addSoftsign(neighbour.residualTurn, s.residualUnit())
	last, _ := s.lastMotion(j)
	f.addSoftsign(last.minus(c.move), moveUnit)
	f.addSoftsign(position(cube.At(s.cur, j)).minus(c.pos.plus(c.move.times(s.baselineAge))), armUnit)
}

// fillOther adds features of the k-th nearest other neighbour: its nearness, whether it is coded, whether it
// moved before the baseline, its position relative to the cube, and the difference between its last motion and
// the cube's. All are 0 if there is no such neighbour.
func (s *scene) fillOther(f *featureVector, c *cubeState, nearest *nearestTwo, k int) {
	if k >= nearest.n {
		f.addZeros(3 + 3 + 3) // as many as the features below
		return
	}
	j := int(nearest.cube[k])
	arm := position(cube.At(s.base, j)).minus(c.pos)
	f.add(1 - float64(arm.length()/neighbourRadius))
	f.addFlag(s.flags[j]&isCoded != 0)
	f.addFlag(s.baseMemo.age(j).still() == 0)
	f.addSoftsign(arm, armUnit)
	last, _ := s.lastMotion(j)
	f.addSoftsign(last.minus(c.move), moveUnit)
}

// nearestMoved returns the coded cube j whose new position is nearest to cube i, and its distance in
// units; the distance is -1 if the grid cells around cube i hold none. Because cells wrap around, the
// cube may be 64 m away; the weights were trained with that.
func (s *scene) nearestMoved(i int) (distance int, j int32) {
	q := cube.At(s.base, i)
	s.found = s.movedGrid.search(q[frame.CubeX], q[frame.CubeY], s.found[:0])
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

// setPositionBases sets the bases of the mixture of the position: for each component a predicted
// motion since the baseline, in units of 1/512 m, to which the net adds an offset. Component 0 is no motion. With
// a forecast 1, 2 and 4 are the forecast and 3 is the last motion; without one 1 and 4 are the last motion, 2 is a
// fall with gravity and damping, and 3 is a motion together with the player. Components with equal bases differ in
// their offsets. For the player component 3 is its last motion.
func (s *scene) setPositionBases(g *mixtureBases, c *cubeState) {
	g.baselineAge = s.baselineAge
	g.jacobian = [3]vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	move := c.move.times(s.baselineAge)
	g.base[0] = vec{}
	if s.forecast != nil && c.i > 0 {
		ahead := c.forecastMove.times(s.baselineAge)
		g.base[1], g.base[2], g.base[4] = ahead, ahead, ahead
		g.base[3] = move
		return
	}
	fall := c.move.times(0.96)             // damping over six frames
	fall[2] = float64(c.move[2]*0.95) - 98 // and gravity: 20 m/s2 * (0.1 s)^2 is 102 units, 98 when damped
	g.base[1], g.base[2], g.base[4] = move, fall.times(s.baselineAge), move
	g.base[3] = move
	if c.i > 0 {
		g.base[3] = s.rigidMotion(c, s.player.stepRotation, s.player.move.times(s.baselineAge))
	}
}

// orientationBases returns the predicted orientation of each component of the mixture: 0 is that of
// the baseline, and the others correspond to those of setPositionBases.
func (s *scene) orientationBases(c *cubeState) (p [components]quat) {
	p[0] = c.rot
	p[1] = c.turn.times(s.baselineAge).quaternion().Times(c.rot)
	p[2], p[3], p[4] = p[1], p[1], p[1]
	switch {
	case c.i == 0: // the player: all components except 0 predict its last turn, as set above
	case s.forecast != nil:
		forecastRot := s.predicted(c.i).rot
		p[1], p[2], p[4] = forecastRot, forecastRot, forecastRot
	default:
		// A damped turn, and a turn together with the player.
		p[2] = c.turn.times(0.95 * s.baselineAge).quaternion().Times(c.rot)
		p[3] = s.player.stepRotation.Times(c.rot)
	}
	return p
}
