package states

import (
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// The inputs of the mixer, named by what their predictors predict.
const (
	inputUnchanged = iota // the old value
	inputSameStep         // the old value plus its last step
	inputHalfStep         // the old value plus half its last step
	inputPrevious         // the value before the last change
	firstMotionInput
)

// The mixer inputs of clocks, which are fields with an absolute time.
const (
	inputElapsed   = inputSameStep // the old value plus the time since the baseline
	inputFrameTime = inputHalfStep // the time of the frame, which the clock may equal
)

// The mixer inputs of new rows, which are predicted from a source row.
const (
	inputZero       = inputSameStep // 0
	inputSourceBase = inputPrevious // the source row's value in base
)

// The mixer inputs that only positions have.
const (
	inputNewVelocity  = firstMotionInput + iota // the position moved by the new velocity
	inputOldVelocity                            // the position moved by the old velocity
	inputMeanVelocity                           // the position moved by the mean of both
	inputUnrounded                              // the position before rounding, moved by the new velocity
	inputCarrier                                // the position moved like its carrier, the position to which it is attached

	inputAtCarrier = inputPrevious // the carrier's position
)

// The mixer inputs that only velocities have.
const (
	inputOwnSpeed     = firstMotionInput + iota // the velocity after a push up to the speed of the row's last push
	inputCommonSpeed                            // the velocity after a push up to a frequent speed of the group
	inputPush                                   // the velocity after a frequent push: axis 0 without drag, axis 1 after drag
	inputPushFree                               // axis 1 only: the velocity after a frequent push, without drag
	inputFrequentStep                           // the velocity changed by a frequent step
)

// maxPrediction bounds the magnitude of predictions, so that their differences do not overflow.
const maxPrediction = 1 << 45

// predict sets r.predictors for field k and returns the first guess, in fixed point. old is the
// field's old value (of a new row the source row's), class the class of the new value.
func (r *row) predict(k int, c *fieldPlan, old int32, class floatClass) (guess int64) {
	predictors := &r.predictors
	predictors.n, predictors.errors, predictors.errorShift, predictors.period = 0, r.memo.errors, uint(32-r.sizes.errorBits), 0
	// The inputs take the lowest 4 bits of the key; see predictorList.add.
	predictors.key = uint32(c.statsField)<<8 | uint32(class)<<5 | flag(r.isNew)<<4
	if c.period != 0 {
		predictors.period = r.fixedPeriod(c)
	}
	last := r.toFixed(k, old)
	switch {
	case r.isNew:
		return r.predictNew(k, c, old, last)
	case c.isClock:
		return r.predictClock(old, last)
	case c.group >= 0 && c.role == frame.Position && r.groups[c.group].velocity[c.axis] >= 0:
		return r.predictPosition(k, c, last)
	}
	return r.predictPlain(k, c, last)
}

// predictClock predicts a clock and returns the first guess: the clock advances by the time since the
// baseline, or equals the time of the frame. old is its value in the baseline, last the same in fixed point.
func (r *row) predictClock(old int32, last int64) int64 {
	predictors, now := &r.predictors, r.fixedTime()
	advanced := last + r.memo.elapsed<<integerUnit
	predictors.addPoint(inputUnchanged, 0, last)
	predictors.addPoint(inputElapsed, 0, advanced)
	predictors.addPoint(inputFrameTime, 0, now)
	if old == 0 { // the clock was not set
		return now
	}
	return advanced
}

// predictNew predicts field k of a new row, after all guesses of codeNewField failed, and returns the first
// guess: the value is near old, the value of the source row, near 0, near the source row's value in base or,
// for a clock, near the time of the frame. last is old in fixed point.
func (r *row) predictNew(k int, c *fieldPlan, old int32, last int64) int64 {
	predictors := &r.predictors
	predictors.addPoint(inputUnchanged, 0, last)
	if last != 0 {
		predictors.addPoint(inputZero, 0, 0)
	}
	if r.sourceBase[k] != old {
		predictors.addPoint(inputSourceBase, 0, r.toFixed(k, r.sourceBase[k]))
	}
	if c.isClock {
		predictors.addPoint(inputFrameTime, 0, r.fixedTime())
		return r.fixedTime()
	}
	return last
}

// lastStep returns the step by which the value of field k changed to last, its value in the baseline, in
// fixed point. moved is false if the value did not change when the row changed before.
func (r *row) lastStep(k int, last int64) (step int64, moved bool) {
	history := &r.cells[k-r.part.firstField]
	if history.changes>>1&1 == 0 { // bit 0 is the change being coded
		return 0, false
	}
	return column.Wrap(last-r.toFixed(k, history.old), r.predictors.period), true
}

// predictPlain predicts a value that is no position with a velocity. last is the old value in fixed
// point. The first guess is the old value; for floats and wrapping values outside of groups, the
// old value plus its last step; for velocities that of predictVelocity.
func (r *row) predictPlain(k int, c *fieldPlan, last int64) (guess int64) {
	predictors, history := &r.predictors, &r.cells[k-r.part.firstField]
	residual := uint32(history.residual) / 2 // size class of the last residual, a context of the error distributions
	guess = last
	predictors.addPoint(inputUnchanged, residual, last)
	if step, moved := r.lastStep(k, last); moved {
		predictors.addPoint(inputSameStep, residual, last+step)
		predictors.addPoint(inputHalfStep, 0, last+step/2)
		if c.group < 0 && (c.kind == frame.Float32 || predictors.period != 0) {
			guess = last + step
		}
	}
	if c.group < 0 || c.role == frame.Position {
		predictors.addPoint(inputPrevious, 0, r.toFixed(k, history.old))
	} else {
		guess = r.predictVelocity(k, c, last, residual)
	}
	return column.Wrap(guess, predictors.period)
}

// predictPosition predicts field k, a position whose plan is c, from its velocity, which is already coded. last
// is the old position in fixed point. The first guess is the position moved by the new velocity; in the first
// group of a part, from where the game had it before rounding.
func (r *row) predictPosition(k int, c *fieldPlan, last int64) (guess int64) {
	predictors, g := &r.predictors, &r.groups[c.group]
	residual := uint32(r.cells[k-r.part.firstField].residual) / 2
	predictors.addPoint(inputUnchanged, residual, last)
	if step, moved := r.lastStep(k, last); moved {
		predictors.addPoint(inputSameStep, residual, last+step)
	}
	v := g.velocity[c.axis]
	vNew, vOld := r.toFixed(v, r.cur[v]), r.toFixed(v, r.base[v])
	dNew, dOld := r.displacement(c, v, vNew), r.displacement(c, v, vOld)
	changed := flag(vNew != vOld)
	predictors.addPoint(inputNewVelocity, changed, last+dNew)
	predictors.addPoint(inputOldVelocity, changed, last+dOld)
	if vNew != vOld {
		predictors.addPoint(inputMeanVelocity, 0, last+(dOld+dNew)/2)
	}
	guess = last + dNew
	if g.indexInPart == 0 { // only the first group of a part has bounds of its rounding
		point, widthClass := r.extrapolateUnrounded(k, c, dNew)
		predictors.addPoint(inputUnrounded, widthClass, point)
		guess = point
	}
	if c.carrier >= 0 {
		carrierNow := r.toFixed(c.carrier, r.cur[c.carrier])
		predictors.addPoint(inputCarrier, residual, last+carrierNow-r.toFixed(c.carrier, r.base[c.carrier]))
		predictors.addPoint(inputAtCarrier, residual, carrierNow)
	}
	return guess
}

// displacement returns how far the speed of velocity field v moves position c in the time
// r.elapsed. c is the plan of the position; speed and result are in the fixed point of their fields.
func (r *row) displacement(c *fieldPlan, v int, speed int64) int64 {
	// The rate has 32 fractional bits.
	return mulShift(speed, c.rate*r.elapsed, 32+r.fixedUnit(&r.columns[v])-r.fixedUnit(c))
}

// fixedTime returns the time of the frame in the fixed point of integer fields; 0 if the schema has no field
// of role Now.
func (r *row) fixedTime() int64 {
	if r.timeCell.row < 0 {
		return 0
	}
	return int64(r.coder.cur[r.timeCell.row*r.fields+r.timeCell.field]) << integerUnit
}

// fixedUnit returns the number of fractional bits of a field's fixed point; see fixed.go.
func (r *row) fixedUnit(c *fieldPlan) int {
	if c.kind == frame.Float32 {
		return int(r.memo.units[c.statsField])
	}
	return integerUnit
}

// fixedPeriod returns the period at which the values of a field wrap, in fixed point: period times
// 2^unit, at most maxFixed.
func (r *row) fixedPeriod(c *fieldPlan) int64 {
	unit, v := r.fixedUnit(c), c.period
	for ; unit > 0; unit-- {
		v *= 2
	}
	for ; unit < 0; unit++ {
		v /= 2
	}
	return int64(min(v, maxFixed))
}

// extrapolateUnrounded predicts a position that the game rounds towards zero: it moves the bounds
// of the position before rounding by step and returns their middle. widthClass is 0 if the bounds
// are unknown, otherwise it grows with their distance: it selects the error distribution.
func (r *row) extrapolateUnrounded(k int, c *fieldPlan, step int64) (point int64, widthClass uint32) {
	bounds := r.slot.rounding[2*c.axis:][:2]
	low, high := bounds[0]+step, bounds[1]+step
	point = r.toFixed(k, r.base[k]) + (low+high)/2
	if width := high - low; width > 0 {
		unit := r.fixedUnit(c)
		if c.kind == frame.Float32 {
			// The caller rounds to the nearest whole number. A point that is 1/2 nearer to 0 is then rounded
			// towards 0.
			half := int64(1) << uint(max(unit-1, 0))
			if point > 0 {
				half = -half
			}
			point += half
		}
		// One class for each half octave of the distance, from 1/64 of a whole number on; at least 1.
		widthClass = uint32(min(halfOctaves(uint64(width>>uint(max(unit-6, 0))+1)), 15)) + 1
	}
	return point, widthClass
}

// motionContext returns a context for the decision whether field k changes: for a velocity, whether
// it is zero; for a position, the speed, whether the velocity changed, and whether the extrapolated
// position rounds to the old one; 0 for other fields.
func (r *row) motionContext(k int, c *fieldPlan) uint32 {
	if c.group < 0 {
		return 0
	}
	g := &r.groups[c.group]
	if c.role == frame.Velocity {
		return 1 + flag(r.base[k]&0x7fffffff != 0) // without the sign bit, because -0 is zero too
	}
	velocityField := g.velocity[c.axis]
	if velocityField < 0 {
		return 0
	}
	velocity := r.toFixed(velocityField, r.cur[velocityField])
	step := r.displacement(c, velocityField, velocity)
	unit := r.fixedUnit(c)
	speed := uint32(0)
	if velocity != 0 {
		speed = uint32(min(halfOctaves(uint64(abs(step)>>uint(max(unit-1, 0))+1)), 30)) + 1
		if step < 0 {
			speed += 32
		}
	}
	// 16 makes the contexts of positions differ from those of velocities, 1 and 2.
	context := 16 | speed<<8 | flag(r.cur[velocityField] != r.base[velocityField])<<5
	if g.indexInPart == 0 { // only the first group of a part has bounds of its rounding
		point, widthClass := r.extrapolateUnrounded(k, c, step)
		roundsToOld := roundShift(point, unit)<<uint(max(unit, 0)) == r.toFixed(k, r.base[k])
		context = context<<8 | flag(roundsToOld)<<7 | widthClass
	}
	return context
}

// learnMotion updates the state of the memo that concerns motion, after a row that changed: the last push of each
// driven group, the bounds of rounded positions, and the frequent changes of velocities.
func (r *row) learnMotion() {
	for _, n := range r.part.groups {
		g := &r.groups[n]
		if g.driven && !r.isNew && r.elapsed > 0 {
			r.observePush(n, g)
		}
		if g.indexInPart != 0 { // slotHistory.rounding has room for the first group of a part
			continue
		}
		for a, k := range g.position {
			if k >= 0 {
				r.narrowRounding(k, g.velocity[a])
			}
		}
	}
	if r.isNew {
		return
	}
	for _, n := range r.part.groups {
		for _, v := range r.groups[n].velocity {
			if v >= 0 && r.cur[v] != r.base[v] {
				r.memo.steps[r.columns[v].stepCluster].add(r.toFixed(v, r.cur[v])-r.toFixed(v, r.base[v]), nearStep)
			}
		}
	}
}

// narrowRounding updates the bounds of the exact position, relative to the rounded position of
// field k. Two intervals contain the exact position: the values that round to the new position
// (floats: towards zero), and the previous bounds moved by the velocity in field velocityField, -1 if
// the position has no velocity. The new bounds are their intersection, or the first interval if they
// do not intersect. unitBits is the number of fractional bits of the position's fixed point.
func (r *row) narrowRounding(k, velocityField int) {
	c := &r.columns[k]
	bounds := (*[2]int64)(r.slot.rounding[2*c.axis:])
	unitBits, position := r.fixedUnit(c), r.toFixed(k, r.cur[k])
	low, high := int64(-1)<<(integerUnit-1), int64(1)<<(integerUnit-1) // half a step in both directions
	if c.kind == frame.Float32 {
		if unitBits < 4 || c.classOf(uint32(r.cur[k])) != classWhole { // too coarse for fractions, or not rounded
			*bounds = [2]int64{}
			return
		}
		// The rounded position is nearer to zero than the exact one, by less than 1. At 0 the sign is unknown.
		low, high = -1<<uint(unitBits), 1<<uint(unitBits)
		if position > 0 {
			low = 0
		} else if position < 0 {
			high = 0
		}
	}
	if !r.isNew && velocityField >= 0 {
		step := r.displacement(c, velocityField, r.toFixed(velocityField, r.cur[velocityField])) + r.toFixed(k, r.base[k]) - position
		slack := int64(1) << uint(max(unitBits-13, 0)) // tolerance for rounding errors
		if x, y := max(bounds[0]+step-slack, low), min(bounds[1]+step+slack, high); x < y {
			low, high = x, y
		}
	}
	*bounds = [2]int64{low, high}
}

// Constants of vectors and of the clusters of speeds, pushes and steps.
const (
	vectorShift  = 3       // bits of a float's fixed point that vectors drop
	maxComponent = 1 << 29 // bound of a vector's components
	unitLength   = 1 << 24 // length of vectors that are directions
	nearStep     = 1 << 15 // steps of velocities that differ by less count as equal
	nearPush     = 1 << 12 // speeds and lengths of pushes that differ by less count as equal
)

// A vector holds axes 0 and 1 of a velocity, with components of up to 29 bits so that products fit
// int64. Directions have length 1<<24.
type vector [2]int64

// length returns the length of v, rounded down.
func (v vector) length() int64 { return int64(sqrt(uint64(v[0]*v[0] + v[1]*v[1]))) }

// along returns the component of v in direction d.
func (v vector) along(d vector) int64 { return (v[0]*d[0] + v[1]*d[1]) >> 24 }

// direction returns the direction of v, given its length, which must not be 0.
func (v vector) direction(length int64) vector {
	return vector{v[0] << 24 / length, v[1] << 24 / length}
}

// A cluster holds up to six frequent numbers and their weights. Model files hold the fields in this
// order.
type cluster struct {
	At     [6]int64
	Weight [6]uint32
}

// add counts a number. The first stored number that differs by less than near moves towards it by
// an eighth of the difference; without such a number, the new one replaces the rarest. The weights up
// to that of the number found, or all, decay by 1/1024.
func (c *cluster) add(value, near int64) {
	rarest := 0
	for i := range c.At {
		c.Weight[i] -= c.Weight[i] >> 10
		if d := value - c.At[i]; d < near && d > -near {
			c.Weight[i] += 1 << 16
			c.At[i] += d >> 3
			return
		}
		if c.Weight[i] < c.Weight[rarest] {
			rarest = i
		}
	}
	c.At[rarest], c.Weight[rarest] = value, 1<<15
}

// mostFrequent returns the two most frequent numbers, the most frequent first, and their weights,
// which sum to 256.
func (c *cluster) mostFrequent() (values [2]int64, weights [2]uint32) {
	a, b := 0, 1
	if c.Weight[1] > c.Weight[0] {
		a, b = 1, 0
	}
	for i := 2; i < len(c.At); i++ {
		if c.Weight[i] > c.Weight[a] {
			a, b = i, a
		} else if c.Weight[i] > c.Weight[b] {
			b = i
		}
	}
	// 1<<12 is added to each weight, so that new numbers are not certain.
	share := (uint64(c.Weight[a]) + 1<<12) << 8 / (uint64(c.Weight[a]) + uint64(c.Weight[b]) + 1<<13)
	first := uint32(min(max(share, 1), 255))
	return [2]int64{c.At[a], c.At[b]}, [2]uint32{first, 256 - first}
}

// A push is the last acceleration of a row whose velocity is driven: drag slows it, and then a push
// in some direction accelerates it until its component in that direction reaches a speed, as
// PM_Friction and PM_Accelerate of Quake III do (bg_pmove.c). Drag is given by the schema; the
// speeds and lengths of pushes are learnt.
type push struct {
	direction [2]int32 // a vector of length unitLength
	speed     int32    // component of the velocity in that direction, after the push
	known     bool     // false if the velocity did not change enough to derive a direction
}

// vector returns the direction of the push.
func (d *push) vector() vector { return vector{int64(d.direction[0]), int64(d.direction[1])} }

// observe derives d from a velocity after a push; undriven is what it would have been without the
// push. It adds the speed to speeds, unless that is nil, and the length of the push to pushes.
func (d *push) observe(undriven, observed vector, speeds, pushes *cluster) {
	change := vector{observed[0] - undriven[0], observed[1] - undriven[1]}
	length := change.length()
	d.known = length > 64 // in the fixed point of vectors; shorter changes are rounding errors without a meaningful direction
	if !d.known {
		return
	}
	direction := change.direction(length)
	d.direction = [2]int32{int32(direction[0]), int32(direction[1])}
	d.speed = int32(observed.along(direction))
	if speeds != nil {
		speeds.add(int64(d.speed), nearPush)
	}
	pushes.add(length, nearPush)
}

// applyDrag returns velocity v after drag for the time elapsed. Below stopSpeed the deceleration is that at
// stopSpeed, as in PM_Friction of Quake III. stopSpeed is in the fixed point of vectors.
func (g *group) applyDrag(v vector, elapsed int64, stopSpeed int64) vector {
	speed := v.length()
	if speed == 0 {
		return v
	}
	lost := g.drag * min(elapsed, 1<<16) // share of the speed, in units of 2^-32
	if speed < stopSpeed {
		lost = mulShift(lost, stopSpeed<<20/speed, 20)
	}
	remaining := max(1<<32-lost, 0)
	return vector{mulShift(v[0], remaining, 32), mulShift(v[1], remaining, 32)}
}

// velocityVector returns axes 0 and 1 of the velocity of a group, from the fields of a row.
func (r *row) velocityVector(g *group, values []int32) vector {
	var v vector
	for a := range v {
		k := g.velocity[a]
		v[a] = r.toVector(k, r.toFixed(k, values[k]))
	}
	return v
}

// toVector converts a component of velocity field k from the field's fixed point to that of
// vectors.
func (r *row) toVector(k int, component int64) int64 {
	if r.columns[k].kind == frame.Float32 {
		component >>= vectorShift
	}
	return min(max(component, -maxComponent), maxComponent)
}

// fromVector is the inverse of toVector.
func (r *row) fromVector(k int, component int64) int64 {
	if r.columns[k].kind == frame.Float32 {
		component <<= vectorShift
	}
	return component
}

// stopSpeed returns group.stopSpeed in the fixed point of vectors.
func (r *row) stopSpeed(g *group) int64 {
	k := g.velocity[0]
	shift := r.fixedUnit(&r.columns[k]) - 8 // group.stopSpeed has 8 fractional bits
	if r.columns[k].kind == frame.Float32 {
		shift -= vectorShift
	}
	if shift < 0 {
		return g.stopSpeed >> uint(min(-shift, 63))
	}
	return min(g.stopSpeed<<uint(min(shift, 30)), maxComponent)
}

// observePush records the push of group g, with index n, that changed a row's velocity: once on the
// assumption that drag slowed the velocity before (index 0), once without drag (index 1).
func (r *row) observePush(n int, g *group) {
	from, to := r.velocityVector(g, r.base), r.velocityVector(g, r.cur)
	if from == to {
		return
	}
	r.slot.lastPush[0].observe(g.applyDrag(from, r.elapsed, r.stopSpeed(g)), to, &r.memo.speeds[n], &r.memo.pushes[n][0])
	// nil: the predictors without drag use only the lengths of pushes, not their speeds.
	r.slot.lastPush[1].observe(from, to, nil, &r.memo.pushes[n][1])
}

// predictVelocity adds the predictors of velocity field k and returns the first guess: last, the field's old
// value, or for the y axis of a driven group the likeliest prediction. Values are in the fixed point of the field.
// residual is the size class of the field's last residual.
func (r *row) predictVelocity(k int, c *fieldPlan, last int64, residual uint32) (guess int64) {
	guess = last
	if g := &r.groups[c.group]; g.driven && c.axis == 0 {
		r.predictDrivenX(k, c.group, residual)
	} else if g.driven && c.axis == 1 {
		if likeliest, ok := r.predictDrivenY(c.group, residual); ok {
			guess = likeliest
		}
	}
	frequent, weight := r.memo.steps[c.stepCluster].mostFrequent() // the two most frequent changes of such velocities
	p := r.predictors.add(inputFrequentStep, residual, last+frequent[0])
	p.nPoints, p.points[1], p.weights[0], p.weights[1] = 2, last+frequent[1], weight[0], weight[1]
	return guess
}

// predictDrivenX adds predictors of axis 0 of a driven velocity: the row is pushed again in the
// direction of its last push. That push was derived in two ways: as if drag acted before it, and as if there were
// no drag. k is the field of the axis, group an index in plan.groups, residual the size class of the field's last
// residual, a context of the error distributions. Products with a direction are shifted by 24 bits, because its
// length is 1<<24.
func (r *row) predictDrivenX(k, group int, residual uint32) {
	predictors, g := &r.predictors, &r.groups[group]
	from := r.velocityVector(g, r.base)
	slowed := g.applyDrag(from, r.elapsed, r.stopSpeed(g))
	lastPush, lastPushNoDrag := &r.slot.lastPush[0], &r.slot.lastPush[1]
	if lastPush.known {
		speeds, _ := r.memo.speeds[group].mostFrequent()
		direction := lastPush.vector()
		along := slowed.along(direction)
		predictors.add(inputOwnSpeed, residual, r.fromVector(k, slowed[0]+(int64(lastPush.speed)-along)*direction[0]>>24))
		predictors.add(inputCommonSpeed, residual, r.fromVector(k, slowed[0]+(speeds[0]-along)*direction[0]>>24))
	}
	if lastPushNoDrag.known {
		lengths, _ := r.memo.pushes[group][1].mostFrequent()
		predictors.add(inputPush, residual, r.fromVector(k, from[0]+lengths[0]*int64(lastPushNoDrag.direction[0])>>24))
	}
}

// predictDrivenY adds predictors of axis 1 of a driven velocity, given axis 0: a push up to a known
// speed, or of a known length, leaves a few directions that agree with x, the value of axis 0. It
// returns the likeliest value; ok is false if no direction agrees. group is an index in plan.groups,
// residual the size class of the field's last residual, a context of the error distributions.
func (r *row) predictDrivenY(group int, residual uint32) (likeliest int64, ok bool) {
	g := &r.groups[group]
	from := r.velocityVector(g, r.base)
	slowed := g.applyDrag(from, r.elapsed, r.stopSpeed(g))
	lastPush := &r.slot.lastPush[0]
	x := r.toVector(g.velocity[0], r.toFixed(g.velocity[0], r.cur[g.velocity[0]]))
	var set candidates
	if lastPush.known { // a push up to the speed of the row's last push
		const fullWeight = 256
		set.addPushed(slowed, x, int64(lastPush.speed), lastPush.vector(), fullWeight)
		set.addPredictor(r, g.velocity[1], inputOwnSpeed, residual)
	}
	speeds, weights := r.memo.speeds[group].mostFrequent()
	for j := range speeds { // a push up to a frequent speed
		set.addPushed(slowed, x, speeds[j], lastPush.vector(), weights[j])
	}
	likeliest, ok = set.addPredictor(r, g.velocity[1], inputCommonSpeed, residual)
	for j, before := range [2]vector{slowed, from} { // a push of a frequent length, with drag and without
		lengths, weights := r.memo.pushes[group][j].mostFrequent()
		// Axis 1 of the push may have either sign. The sign of the last push is likelier: 0.8.
		positiveShare := uint32(128) // weight of the positive sign, of 256
		if last := &r.slot.lastPush[j]; last.known && last.direction[1] >= 0 {
			positiveShare = 205 // 0.8 of 256
		} else if last.known {
			positiveShare = 51 // 0.2 of 256
		}
		for i := range lengths {
			if otherSquare := lengths[i]*lengths[i] - (x-before[0])*(x-before[0]); otherSquare > 0 {
				other := int64(sqrt(uint64(otherSquare)))
				set.add(before[1]+other, weights[i]*positiveShare)
				set.add(before[1]-other, weights[i]*(256-positiveShare))
			}
		}
		set.addPredictor(r, g.velocity[1], inputPush+j, 0) // inputPush, then inputPushFree
	}
	return likeliest, ok
}

// A candidates set collects the points of one predictor, as components of vectors.
type candidates struct {
	points  [maxPoints]int64
	weights [maxPoints]uint32
	n       int
}

// add adds a point. If the set is full, the point replaces the one of least weight if its own is
// greater.
func (s *candidates) add(point int64, weight uint32) {
	if s.n < maxPoints {
		s.points[s.n], s.weights[s.n] = point, weight
		s.n++
		return
	}
	lightest := 0
	for i := range s.weights {
		if s.weights[i] < s.weights[lightest] {
			lightest = i
		}
	}
	if weight > s.weights[lightest] {
		s.points[lightest], s.weights[lightest] = point, weight
	}
}

// addPredictor adds a predictor of the points for velocity field k and empties the set; see
// predictorList.add for input and context. It returns the point of greatest weight; ok is false if
// the set was empty.
func (s *candidates) addPredictor(r *row, k, input int, context uint32) (likeliest int64, ok bool) {
	n := s.n
	s.n = 0
	if n == 0 {
		return 0, false
	}
	p := r.predictors.add(input, context, 0)
	var sum, best uint64
	for i := range n {
		sum += uint64(s.weights[i]) + 1 // 1 more, so that the sum is not 0
	}
	left := uint32(256) // what rounding leaves of the weights' sum; the heaviest point gets it
	heaviest := 0
	for i := range n {
		if uint64(s.weights[i]) > best {
			heaviest, best = i, uint64(s.weights[i])
		}
		p.points[i] = min(max(r.fromVector(k, s.points[i]), -maxPrediction), maxPrediction)
		p.weights[i] = uint32((uint64(s.weights[i]) + 1) * 256 / sum)
		left -= p.weights[i]
	}
	p.weights[heaviest] += left
	p.nPoints = n
	return p.points[heaviest], true
}

// addPushed adds the possible values of axis 1 for a push that made axis 0 equal x and the speed
// along its direction equal speed. slowed is the velocity before the push, so a push in direction d has the
// length speed minus slowed.along(d). addPushed searches 48 directions for changes of the sign of the miss,
// the difference between the predicted and the actual axis 0, and refines them by findRoot. Values are
// likelier the nearer their direction is to last, that of the row's last push; share, of 256, scales the
// weights.
func (s *candidates) addPushed(slowed vector, x, speed int64, last vector, share uint32) {
	around := directions()
	miss := func(d vector) int64 { return ((speed-slowed.along(d))*d[0])>>24 - (x - slowed[0]) }
	missA := miss(around[0])
	for i, a := range around {
		b := around[(i+1)%len(around)]
		missB := miss(b)
		if (missA < 0) != (missB < 0) {
			d := findRoot(miss, a, b, missA, missB)
			turned := vector{d[0] - last[0], d[1] - last[1]}.length()
			// The weight halves if the direction turns by 3 % of a radian.
			weight := uint32((1 << 30) / (unitLength*3/100 + turned))
			s.add(slowed[1]+((speed-slowed.along(d))*d[1])>>24, (weight*share)>>8+1)
		}
		missA = missB
	}
}

// findRoot returns a direction between a and b for which miss is nearly 0, by at most five steps of
// the false position method. fa and fb are miss of a and b; their signs differ.
func findRoot(miss func(vector) int64, a, b vector, fa, fb int64) vector {
	for range 5 {
		if fa == fb {
			break
		}
		// mid is where the chord from a to b crosses 0, projected onto the circle.
		t := fa << 24 / (fa - fb)
		mid := vector{a[0] + (b[0]-a[0])*t>>24, a[1] + (b[1]-a[1])*t>>24}
		n := mid.length()
		if n == 0 {
			break
		}
		mid = mid.direction(n)
		fm := miss(mid)
		if (fm < 0) == (fa < 0) {
			a, fa = mid, fm
		} else {
			b, fb = mid, fm
		}
		if fm < 2 && fm > -2 {
			break
		}
	}
	if abs(fb) < abs(fa) {
		return b
	}
	return a
}

// directions returns 48 directions around the circle. It uses only integers, because math.Sin and
// math.Cos are not the same on every machine.
var directions = sync.OnceValue(func() *[48]vector {
	t := &[48]vector{0: {unitLength, 0}, 12: {0, unitLength}, 24: {-unitLength, 0}, 36: {0, -unitLength}}
	// The direction halfway between two is that of their sum. A third of the way is nearly that of
	// their weighted mean; the directions need not be exact.
	for step := 12; step > 3; step /= 2 {
		for i := 0; i < 48; i += step {
			t[i+step/2] = mixDirections(t[i], t[(i+step)%48], 1, 1, 1)
		}
	}
	for i := 0; i < 48; i += 3 {
		a, b := t[i], t[(i+3)%48]
		t[i+1], t[i+2] = mixDirections(a, b, 2, 1, 3), mixDirections(a, b, 1, 2, 3)
	}
	return t
})

// mixDirections returns the direction of (wa*a + wb*b) / by, where by is wa+wb or smaller: it keeps the
// sum small enough to be squared.
func mixDirections(a, b vector, wa, wb, by int64) vector {
	m := vector{(wa*a[0] + wb*b[0]) / by, (wa*a[1] + wb*b[1]) / by}
	return m.direction(m.length())
}
