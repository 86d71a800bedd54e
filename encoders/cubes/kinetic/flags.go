package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// This file codes the decisions that are not about values: the moved flag, the interacting flag and
// the largest component. Their contexts are combinations of classes of the cube's situation. A
// context's number is that of a mixed radix system: (a*numB+b)*numC+c for classes a, b and c.

// flagTables are the context tables of the moved flag, see codeMoved.
type flagTables struct {
	forecastMove, distances, size, recentMoves, contacts, player contextTable
	adaptMove, adaptRecentMoves                                  contextTable
}

// contextClasses are the classes that form the contexts of a cube. They are computed before the cube
// is coded.
type contextClasses struct {
	history      int // 0..11: how long the cube has been still (0..3), and before its last motion (0..2)
	near         int // 0..9: distance of the nearest coded cube that moved; 9 if none is near
	player       int // 0..15: distance of the player; 15 if far
	size         int // 0..7: logarithm of the last motion; 0 without a track
	forecastMove int // 0..11: logarithm of the forecast motion; 0 if it is forecast to rest
	contacts     int // 0..7: forecast contacts, a bit each for floor, player, other cubes
	interacting  int // 0 or 1: the interacting flag of the nearest coded cube that moved
	residual     int // 0..15: logarithm of the last residual, and whether player or cubes will touch the cube
}

// The numbers of classes.
const (
	numHistoryClasses  = 12
	numNearClasses     = 10
	numPlayerClasses   = 16
	numSizeClasses     = 8
	numForecastClasses = 12
	numMoveHistories   = 64 // of coder.moveHistory
)

// classify returns the classes of cube i, which is about to be coded. The distance classes have
// limits in units of 1/512 m: near is 0 below 160, then one class each 24 (touching cubes are 205
// apart); player is one class each 100. residual is 3 for each factor of two of the last residual, at
// most 12, plus 0 to 3 for the forecast contacts with player and cubes.
func (s *scene) classify(i int) (c contextClasses) {
	cubeAge := s.baseMemo.age(i)
	c.history = min(cubeAge.still(), 3)*3 + min(cubeAge.stillBefore(), 2)
	base := cube.At(s.base, i)
	c.near, c.player = numNearClasses-1, numPlayerClasses-1
	if i > 0 {
		if distance, j := s.nearestMoved(i); distance >= 0 { // -1 if none is near
			c.near = min(max(distance-160+24, 0)/24, numNearClasses-2)
			c.interacting = int(cube.At(s.cur, int(j))[frame.CubeInteracting] & 1)
		}
		if square := cube.Distance2(cube.At(s.cur, 0), base); square < (numPlayerClasses*100)*(numPlayerClasses*100) {
			c.player = min(isqrt(square)/100, numPlayerClasses-1)
		}
	}
	if s.forecast != nil && i > 0 {
		s.classifyForecast(&c, i, base)
	}
	if t := s.lastTrack(i); t != nil {
		move, turn := s.lastMotion(i)
		if moved := move.sumAbs() + turn.sumAbs(); moved > 0 {
			c.size = min(1+log2Class(moved+1, 30), numSizeClasses-1)
		}
		move, turn = unpackResiduals(&t.residual)
		c.residual = min(log2Class(move.sumAbs()+turn.sumAbs(), 5)*3, 12)
	}
	c.residual += c.contacts >> 1 // without the floor's bit
	return c
}

// classifyForecast sets the classes of cube i that depend on the forecast: contacts, and the size of
// its forecast motion, in which a rotation is weighted like a motion of 300 units for each 1 of a
// quaternion's component. base is the cube in the baseline.
func (s *scene) classifyForecast(c *contextClasses, i int, base *cube.Row) {
	if s.predictionStates[i] != simulated {
		return // forecast to rest, without contacts
	}
	o := &s.forecast[i]
	c.contacts = o.contactBits()
	baseRot := orientation(base)
	change := o.pos.minus(position(base)).sumAbs()
	for k := range baseRot {
		change += float64(300 * math.Abs(o.rot[k]-baseRot[k]))
	}
	c.forecastMove = 1 + log2Class(change*32, numForecastClasses-2)
}

// codeMoved encodes answer, whether the pose of cube i differs from that in the baseline, or decodes
// and returns it. Each context is a combination of classes, numbered (a*numB+b)*numC+c for classes
// a, b and c; its weight comes from the context table that is passed with it.
func (e *coder) codeMoved(answer bool, i int, c *contextClasses) bool {
	t := &e.model.flag
	e.contexts.reset(flagSlope, flagRate)
	e.contexts.addTrained(t.forecastMove, (c.history*numForecastClasses+c.forecastMove)*numNearClasses+c.near)
	e.contexts.addTrained(t.distances, (c.history*numNearClasses+c.near)*numPlayerClasses+c.player)
	e.contexts.addTrained(t.size, (c.size*numNearClasses+c.near)*2+int(cube.At(e.scene.base, i)[frame.CubeInteracting]&1))
	e.contexts.addTrained(t.recentMoves, e.moveHistory*numHistoryClasses+c.history)
	// c.history/3 is how long the cube has been still, 0 to 3.
	e.contexts.addTrained(t.contacts, (c.forecastMove*8+c.contacts)*4+c.history/3)
	e.contexts.addTrained(t.player, (c.size*numPlayerClasses+c.player)*4+c.history/3)
	e.contexts.addAdaptive(t.adaptMove, c.history*numForecastClasses+c.forecastMove)
	e.contexts.addAdaptive(t.adaptRecentMoves, e.moveHistory)
	moved := e.decide(rangecoder.Flag(answer), noMixture, &e.contexts)
	e.moveHistory = (e.moveHistory<<1 | moved) % numMoveHistories
	return moved != 0
}

// interactTables are the context tables of the interacting flag, see codeInteracting.
type interactTables struct {
	age, push, player, near, neighbour contextTable
	adaptAge, adaptNear                contextTable
}

const (
	numInteractAges = 32 // stillMax + 1
	numPushClasses  = 8
)

// pushDistanceBounds are the class boundaries of the squared distance, in m2, of a cube from the point under the
// floor from which the player pushes. The force ends at 4 m2, so the classes are narrow there.
var pushDistanceBounds = [numPushClasses - 1]float64{2.5, 3.2, 3.8, 4.0, 4.2, 5, 8}

// codeInteracting encodes v, the interacting flag of cube i, or decodes and returns it. The flag
// depends mostly on its old value, on whether the cube is within reach of the player, on its
// neighbours, and on how long the cube has been still. moved is the cube's moved flag. Contexts are
// numbered as in codeMoved.
func (e *coder) codeInteracting(v int32, i int, moved bool, c *contextClasses) int32 {
	s, t := &e.scene, &e.model.interact
	base, q, p := cube.At(s.base, i), cube.At(s.cur, i), cube.At(s.cur, 0)
	old := int(base[frame.CubeInteracting] & 1)
	still := 0 // how long the cube will have been still after this frame
	if !moved {
		still = min(s.baseMemo.age(i).still()+s.ageGrowth, numInteractAges-1)
	}
	arm := position(q).minus(position(p))
	arm[2] = float64(q[frame.CubeZ]) + pushCentreDepth
	square := arm.lengthSquared() / (frame.UnitsPerMetre * frame.UnitsPerMetre)
	pushClass := 0 // class of the distance from the point from which the player pushes; 0 for the player
	for _, b := range pushDistanceBounds {
		pushClass += rangecoder.Flag(square > b)
	}
	if i == 0 {
		pushClass = 0
	}
	// The old flag, whether the cube moved, and whether it moved before the baseline.
	state := (old*2+rangecoder.Flag(moved))*2 + rangecoder.Flag(s.baseMemo.age(i).still() == 0)
	e.contexts.reset(interactSlope, flagRate)
	e.contexts.addTrained(t.age, ((old*2+rangecoder.Flag(moved))*numInteractAges+still)*2+rangecoder.Flag(i == 0))
	e.contexts.addTrained(t.push, (state*numPushClasses+pushClass)*4+min(still, 3))
	e.contexts.addTrained(t.player, state*numPlayerClasses+c.player)
	e.contexts.addTrained(t.near, (state*2+c.interacting)*numNearClasses+c.near)
	e.contexts.addTrained(t.neighbour, ((state*2+c.interacting)*2+s.baseMemo.age(i).interacting())*8+c.contacts)
	e.contexts.addAdaptive(t.adaptAge, (old*2+rangecoder.Flag(moved))*numInteractAges+still)
	e.contexts.addAdaptive(t.adaptNear, (state*2+c.interacting)*numNearClasses+c.near)
	return int32(e.decide(int(v), noMixture, &e.contexts))
}

// largestTables are the context tables of the largest component, see codeLargest.
type largestTables struct{ margin, size, err, ratio, second, adapt contextTable }

// numRatioClasses is the number of classes of the margin relative to the scale that the net predicts.
const numRatioClasses = 16

// extraRow is a row of the tables err and second after the rows 0..15, which are classes of the margin
// or of the ratio: that of the second decision in err, and of the third in second.
const extraRow = 16

// codeLargest encodes v, the index of the largest component of the orientation, or decodes and
// returns it, in up to three decisions: is it different from the largest of the predicted orientation,
// different from its second largest, and which of the other two. The contexts measure how close the
// decision is: by how much the largest predicted component exceeds the second, alone and relative to
// the scale that the net predicts. old is the index in the baseline. e.netOutput must be that of the
// orientation net.
func (e *coder) codeLargest(v int, predicted quat, old int, c *contextClasses) int {
	t := &e.model.largest
	first, second := predicted.Largest()
	excess := math.Abs(predicted[first]) - math.Abs(predicted[second])
	margin := int(min(excess*60, 15)) // 0..15, in steps of 1/60
	// The excess in quarter steps of a component, relative to the predicted scale.
	ratio := min(halfLog2Class(excess*(4*smallScale)/dominantScale(&e.netOutput)), numRatioClasses-1)
	e.contexts.reset(largestSlope, flagRate)
	e.contexts.addTrained(t.margin, margin*2+rangecoder.Flag(first == old))
	e.contexts.addTrained(t.size, margin*numSizeClasses+c.size)
	e.contexts.addTrained(t.err, margin*numResidualClasses+c.residual)
	e.contexts.addTrained(t.ratio, ratio*2+rangecoder.Flag(first == old))
	e.contexts.addAdaptive(t.adapt, margin)
	if e.decide(rangecoder.Flag(v != first), noMixture, &e.contexts) == 0 {
		return first
	}
	e.contexts.reset(largestSlope, flagRate)
	// extraRow is a row of the table after those of the margins, for decisions after the first.
	e.contexts.addTrained(t.second, ratio)
	e.contexts.addTrained(t.err, extraRow*numResidualClasses+c.residual)
	if e.decide(rangecoder.Flag(v != second), noMixture, &e.contexts) == 0 {
		return second
	}
	var rest [2]int // the two components that are neither first nor second
	n := 0
	for k := range 4 {
		if k != first && k != second {
			rest[n] = k
			n++
		}
	}
	e.contexts.reset(largestSlope, flagRate)
	e.contexts.addTrained(t.second, extraRow)
	return rest[e.decide(rangecoder.Flag(v == rest[1]), noMixture, &e.contexts)]
}
