package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// The predictors of a number, in fixed point; see rowState.predict.
const (
	constantVelocity = iota // the last change again; of an attached position, that of its carrier
	damped                  // of a position, by the new velocity without half of its change
	unchanged               // the value in base; of a new row, that of its source
	guided                  // of a position, by the new velocity; of a clock, the time that passed
	exact                   // of a position, the unrounded one; of a clock, the time of the frame
	attached                // the change of the carrier
	predictors              // their number
)

// A moves holds the effects of the velocity of a position, in the position's fixed point.
type moves struct {
	step  int64 // by the new velocity
	push  int64 // what the change of the velocity adds to that
	exact int64 // the predicted exact position
}

// A prediction is the predicted value of a number: an index of a grid.
type prediction struct {
	grid    grid
	index   [predictors]int64
	active  uint32             // bits of the predictors in use
	lengths *[predictors]int16 // mean length of each predictor's residual, in units of 2^-8 bits
	best    int                // the predictor with the least mean length, or predictors and a push
	guess   int64              // what best predicts: residuals count from it
	second  int64              // what the next best predicts that differs, minus guess; 0 without one
	pushes  [pushes]int64      // see push.go
	pushed  uint32             // bits of the pushes in use
}

// unit returns the number of bits after the point of a field's fixed point; see fixed.go.
func (r *rowState) unit(c *fieldPlan) int {
	if c.kind == frame.Float32 {
		return int(r.next.units[c.statsField])
	}
	return integerUnit
}

// toFixed returns value v of field k in fixed point.
func (r *rowState) toFixed(k int, v int32) int64 {
	c := &r.columns[k]
	if c.kind == frame.Float32 {
		return floatToFixed(uint32(v), r.unit(c))
	}
	return int64(v) << integerUnit
}

// displacement returns how far a value of velocity field v moves position c in the elapsed time.
func (r *rowState) displacement(c *fieldPlan, v int, value int32) int64 {
	speed := r.toFixed(v, value)
	return mulShift(speed, c.rate*r.next.elapsed, 32+r.unit(&r.columns[v])-r.unit(c))
}

// prepareNumber sets origin, lastDelta, moves and expected for field k. It returns a context of whether it
// changes.
func (r *rowState) prepareNumber(k int, c *fieldPlan, h *cell) (motion uint32) {
	if !r.turn.converted || !r.rotation.hasComponent(k) {
		r.origin[k] = r.toFixed(k, r.base[k])
		r.lastDelta[k] = 0
		if r.moved && h.changes&1 != 0 {
			change := column.Wrap(r.origin[k]-r.toFixed(k, h.old), c.period<<integerUnit)
			r.lastDelta[k] = change * r.next.ticks / r.past.ticks
		}
	}
	if c.velocity < 0 {
		r.moves = moves{}
		r.expected = r.lengthOf(c, r.lastDelta[k])
		if c.role == frame.Velocity {
			motion = 1 + flag(r.base[k]&0x7fffffff != 0)
		}
		return motion
	}
	v := c.velocity
	m := &r.moves
	unit := uint(max(r.unit(c), 0))
	m.step = r.displacement(c, v, r.cur[v])
	m.push = m.step - r.displacement(c, v, r.base[v])
	m.exact = r.extrapolateExact(k, c, m.step)
	r.expected = r.lengthOf(c, m.push)
	pushed := flag(r.cur[v] != r.base[v])
	staysEqual := flag(roundShift(m.exact, int(unit))<<unit == r.origin[k])
	return 16 | pushed<<5 | staysEqual<<6
}

// lengthOf returns the length of a change in fixed point, in steps of an integer or eighths of a float.
func (r *rowState) lengthOf(c *fieldPlan, d int64) int {
	unit := r.unit(c)
	if c.kind == frame.Float32 {
		unit = max(unit-3, 0)
	}
	return min(bits.Len64(uint64(abs(d))>>uint(unit)), 31)
}

// codeNumber codes a number and stores it in r.cur: of a float first its class; then the residual of the
// index of its value, in the grid of that class, from the predicted index.
func (r *rowState) codeNumber(k int, c *fieldPlan, h *cell, old int32) {
	class := classInteger
	if c.kind == frame.Float32 {
		class = r.codeClass(k, c, h, c.classOf(uint32(old)))
		if class == classSpecial {
			r.cur[k] = int32(r.Direct(uint64(uint32(r.cur[k])), 32))
			return
		}
	}
	p := r.predict(k, c, class, old)
	if c.group >= 0 && c.role == frame.Velocity && c.axis == 1 && !r.isNew && r.groups[c.group].drag > 0 {
		r.codePush(k, c, h, p)
	}
	residual := c.difference(p.grid.index(uint32(r.cur[k])), p.guess)
	residual = r.codeResidual(k, c, h, residual, p.guess == p.grid.index(uint32(old)))
	index := int64(int32(p.guess) + residual) // modulo 2^32, as residuals are
	switch c.kind {
	case frame.Float32:
		index = min(max(index, -p.grid.maxIndex()), p.grid.maxIndex())
	case frame.Angle:
		index = c.wrapIndex(p.guess + int64(residual))
	}
	r.cur[k] = int32(p.grid.bits(index))
	if !r.isNew {
		p.learn(c, index)
	}
	r.recordResidual(h, bits.Len32(uint32(abs(int64(residual)))))
	if c.role == frame.Velocity {
		r.lastSymbol = uint32(k)*0x9E3779B1 + 1
	}
	if c.kind == frame.Float32 { // a larger value than before needs a coarser fixed point
		unit := max(floatReach-1-exponent(uint32(r.cur[k])), minUnit)
		m := &r.next.units[c.statsField]
		*m = int8(min(int(*m), unit))
	}
}

// codeClass codes the class of a float: for each class in turn, whether it is that one. old is the class of
// the value before.
func (r *rowState) codeClass(k int, c *fieldPlan, h *cell, old floatClass) floatClass {
	x := &r.mixer
	id := r.fieldID(k, decisionClass)
	actual := c.classOf(uint32(r.cur[k]))
	x.Begin(k)
	x.AddContext(id, r.typeContext, uint32(old), 0)
	x.AddContext(id, r.typeContext, uint32(old), uint32(h.residual)+1)
	for class := classWhole; class < classSpecial; class++ {
		if class == classStepped && c.step == 0 {
			continue
		}
		if x.Flag(classNode+int(class), actual == class) {
			return class
		}
	}
	return classSpecial
}

// predict predicts field k. old is its value in base, or that of a new row's source.
func (r *rowState) predict(k int, c *fieldPlan, class floatClass, old int32) *prediction {
	p := &r.prediction
	p.grid = c.grid(class, r.unit(c))
	p.active = 0
	if c.isClock && r.timeRow >= 0 {
		p.put(c, exact, int64(r.table[r.timeRow*r.fields+r.timeField])<<integerUnit)
	}
	if r.isNew {
		p.put(c, unchanged, r.toFixed(k, old))
		p.lengths = &newRowLengths
		p.rank(c)
		return p
	}
	statsField := k
	if c.group >= 0 {
		statsField = c.statsField
	}
	p.lengths = &r.next.lengths[statsField][min(r.expected, deltaLengths-1)]
	origin := r.origin[k]
	last := r.lastDelta[k]
	v := &r.moves
	p.put(c, unchanged, origin)
	p.put(c, constantVelocity, origin+last)
	switch {
	case c.velocity >= 0:
		p.put(c, damped, origin+v.step-v.push/2)
		p.put(c, guided, origin+v.step)
		p.put(c, exact, v.exact)
	case c.isClock:
		p.put(c, guided, origin+r.next.elapsed<<integerUnit)
	}
	if c.carrier >= 0 {
		now := r.toFixed(c.carrier, r.cur[c.carrier])
		p.put(c, attached, origin+now-r.toFixed(c.carrier, r.base[c.carrier]))
		p.put(c, constantVelocity, now)
	}
	p.rank(c)
	return p
}

// newRowLengths prefers the time of the frame to the value of the source.
var newRowLengths = [predictors]int16{exact: -1}

// put sets what a predictor expects, in fixed point.
func (p *prediction) put(c *fieldPlan, predictor int, x int64) {
	p.active |= 1 << predictor
	if c.kind == frame.Float32 {
		p.index[predictor] = p.grid.nearestIndex(min(max(x, -maxPrediction), maxPrediction))
		return
	}
	index := roundShift(x, integerUnit)
	if c.period != 0 {
		index = c.wrapIndex(index)
	}
	low := int64(c.Min)
	p.index[predictor] = min(max(index, low), low+int64(c.Span))
}

// maxPrediction bounds predicted values in fixed point.
const maxPrediction = 1 << 45

// rank finds the predictor with the least mean length, and the best one that predicts another value.
func (p *prediction) rank(c *fieldPlan) {
	p.best = p.leastExcept(-1)
	p.guess = p.index[p.best]
	p.second = 0
	if next := p.leastExcept(p.best); next >= 0 {
		p.second = int64(c.difference(p.index[next], p.guess))
	}
}

// leastExcept returns the active predictor with the least mean length of those that predict another value
// than predictor except; -1 without one. If except is -1, it is that of all.
func (p *prediction) leastExcept(except int) int {
	best := -1
	for i, index := range p.index {
		isCandidate := p.active>>i&1 != 0 && (except < 0 || index != p.index[except])
		if isCandidate && (best < 0 || p.lengths[i] < p.lengths[best]) {
			best = i
		}
	}
	return best
}

// wrapIndex reduces an index of a field that wraps to the field's range.
func (c *fieldPlan) wrapIndex(v int64) int64 {
	offset := (v - int64(c.Min)) % c.period
	if offset < 0 {
		offset += c.period
	}
	return offset + int64(c.Min)
}

// learn updates the mean length of each predictor's residual.
func (p *prediction) learn(c *fieldPlan, index int64) {
	const rate = 6 // a mean over about 64 values
	for i, predicted := range p.index {
		if p.active>>i&1 != 0 {
			d := abs(int64(c.difference(index, predicted)))
			p.lengths[i] += (int16(bits.Len32(uint32(d)))<<8 - p.lengths[i]) >> rate
		}
	}
}

// recordResidual records the length, in bits, of a residual.
func (r *rowState) recordResidual(h *cell, length int) {
	h.residual = uint8(length)
	r.maxResidual = max(r.maxResidual, length)
}

const (
	lengthBits     = 4                 // bits of the first tree of a length
	maxShortLength = 1<<lengthBits - 1 // a length of this or more continues in a second tree
	longLengthBits = 5                 // bits of the second tree of a length
	topBits        = 2                 // bits below the highest that have contexts
)

// codeResidual codes and returns the residual of field k from the guess: the number of its bits, its sign
// unless the range implies it, and the bits below the highest. atOld means that the guess is the value
// before.
func (r *rowState) codeResidual(k int, c *fieldPlan, h *cell, residual int32, atOld bool) int32 {
	x := &r.mixer
	p := &r.prediction
	stats := uint32(c.statsField)<<8 | flag(r.isNew)*newRowDecision
	class := uint32(p.grid.class) << 4
	best := uint32(p.best)
	last := uint32(h.residual)
	expected := uint32(r.expected)
	secondLength := uint32(bits.Len32(uint32(abs(p.second))))
	second := secondLength<<1 | flag(p.second < 0)
	x.Begin(r.weightSet(k))
	x.AddContext(stats|decisionLength, class, expected, uint32(r.maxResidual))
	x.AddContext(stats|decisionLength, last, r.idle|class, 0)
	x.AddContext(r.fieldID(k, decisionLength), r.typeContext, class|flag(atOld), best)
	x.AddContext(stats|decisionLength, second|class<<8, best, 0)
	size := uint32(abs(int64(residual)))
	length := uint32(bits.Len32(size))
	coded := x.Tree(min(length, maxShortLength), lengthBits, 0)
	if coded == maxShortLength {
		coded += x.Tree(length-maxShortLength, longLengthBits, longLengthNode)
	}
	length = min(coded, 32) // an invalid packet may hold more
	if length == 0 {
		return 0
	}
	lastSign := flag(r.lastDelta[k] > 0) | flag(r.lastDelta[k] < 0)<<1
	x.Begin(r.weightSet(k))
	x.AddContext(stats|decisionSign, lastSign, class, 0)
	x.AddContext(stats|decisionSign, expected, lastSign, last)
	x.AddContext(stats|decisionSign, c.rangePart(int32(p.guess))<<5|length, lastSign, 0)
	x.AddContext(stats|decisionSign, second, min(length, secondLength), best)
	negative := x.Flag(signNode, residual < 0)
	left := length - 1
	known := uint32(1) // the highest bits
	for left > 0 && known < 1<<topBits {
		left--
		x.Begin(r.weightSet(k))
		x.AddContext(stats|decisionTopBits, length, known, class)
		known = known<<1 | uint32(x.Bit(topNode+int(known), int(size>>left&1)))
	}
	low := uint32(r.Direct(uint64(size&(1<<left-1)), uint(left)))
	size = known<<left | low
	if negative {
		return -int32(size)
	}
	return int32(size)
}

// extrapolateExact predicts a position that the game rounds: it moves the bounds of the position before
// rounding by step and returns their middle.
func (r *rowState) extrapolateExact(k int, c *fieldPlan, step int64) int64 {
	point := r.origin[k] + step
	if c.group != r.part.groups[0] {
		return point
	}
	bounds := r.rounding[2*c.axis:][:2]
	point += (bounds[0] + bounds[1]) / 2
	if bounds[0] == bounds[1] || c.kind != frame.Float32 {
		return point
	}
	half := int64(1) << uint(max(r.unit(c)-1, 0)) // floats are rounded towards zero, not to the nearest
	if point > 0 {
		return point - half
	}
	return point + half
}

// learnRounding narrows the bounds of the exact position of the part's first group, relative to the rounded
// one: they are the intersection of what rounds to the new position and the previous bounds moved by the
// velocity.
func (r *rowState) learnRounding() {
	if len(r.part.groups) == 0 {
		return
	}
	for axis, k := range r.groups[r.part.groups[0]].position {
		if k < 0 || r.columns[k].velocity < 0 {
			continue
		}
		c := &r.columns[k]
		bounds := r.rounding[2*axis:][:2]
		low, high := r.roundingBounds(c, r.cur[k])
		if !r.isNew && low < high {
			unit := r.unit(c)
			v := c.velocity
			step := r.displacement(c, v, r.cur[v]) + r.toFixed(k, r.base[k]) - r.toFixed(k, r.cur[k])
			slack := int64(1) << uint(max(unit-13, 0))
			narrowLow := max(bounds[0]+step-slack, low)
			narrowHigh := min(bounds[1]+step+slack, high)
			if narrowLow < narrowHigh {
				low = narrowLow
				high = narrowHigh
			}
		}
		bounds[0] = low
		bounds[1] = high
	}
}

// roundingBounds returns the bounds of what rounds to value v of a position, minus v, in fixed point:
// integers are rounded to the nearest, whole floats towards zero. Both are 0 if v is not rounded.
func (r *rowState) roundingBounds(c *fieldPlan, v int32) (low, high int64) {
	if c.kind != frame.Float32 {
		return -1 << (integerUnit - 1), 1 << (integerUnit - 1)
	}
	unit := r.unit(c)
	if unit < 4 || c.classOf(uint32(v)) != classWhole {
		return 0, 0
	}
	switch {
	case v == 0:
		return -1 << uint(unit), 1 << uint(unit)
	case v > 0:
		return 0, 1 << uint(unit)
	}
	return -1 << uint(unit), 0
}
