package rows

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// The kinds of decisions. They are hashed into contexts, so that each kind has its own counters.
const (
	decisionRow       = iota + 1 // did the row change?
	decisionUnchanged            // is the field of a changed row unchanged?
	decisionLength               // bits of a residual's length
	decisionSign                 // sign of a residual
	decisionTopBits              // the two bits of a residual below the highest
	decisionSymbol               // bits of an enum
	decisionBits                 // did the bit change?
	decisionBody                 // is the body the baseline's?
)

var errUnchanged = errors.New("marked as changed, but equal to the baseline")

// A rowState is the state of the row being coded. A row is coded as a flag whether it changed; if
// so, each field is a flag whether it is unchanged, and its new value if not: a residual, a symbol,
// or flags of changed bits.
type rowState struct {
	coder             *coder
	cur, base         []int32         // the row's values in the frame and in the base frame
	origin            []int32         // origin of deltas: base, with the rotation converted to the new largest component
	lastDelta         []int32         // deltas of the row's last motion, scaled to the current ticks; 0 if it did not change
	lastAcceleration  []int32         // acceleration of the row's last motion
	lastResiduals     []uint8         // lengths of the residuals of the row's last motion
	motion                            // motion of the row being coded, for the next frame
	idleClass         int             // class of the number of packets since the row changed; see the function idleClass
	position          *[maxAxes]int32 // the row's position in base
	nearestDistance   uint32          // of the nearest mover, a row that changed between base and its baseline; see scene.distances
	fastestDistance   uint32          // of the fastest mover; see scene.distances
	positionSpeed     int             // greatest length of lastDelta among the fields of the position
	moved             int32           // delta of the position being coded by its new velocity, if it has one
	pushed            int32           // what the change of that velocity adds to moved
	phase             uint32          // what rounding added to moved, in eighths, from 4 down
	expectedLength    int             // length of the predicted delta of the field being coded
	maxResidual       int             // greatest length of a residual of this row so far
	recentResiduals   [2]int          // lengths of the last two residuals, the last first
	unchangedFields   uint32          // flags: whether each of the previous fields is unchanged, the last in bit 0
	neighbour         motion          // motion of the nearest row that changed in this frame
	neighbourDistance uint32          // distance of the neighbour; see findNeighbour
	prediction        prediction
	noMotion          motion // zeros, for rows that did not change
	rotationState
}

// codeRows codes all rows of cur against base. past is the memo of base. codeRows fills next, the
// memo of cur.
func (e *coder) codeRows(cur, base *frame.Frame, past, next *memo) error {
	nextMoved := 0             // index in past.changedRows of the next mover: a row that differs between base and base's own baseline
	recentChanges := uint32(0) // flags: whether each of the previous four rows changed, the last in bit 0
	r, n := &e.row, e.fields
	for i := range e.rows {
		r.cur, r.base = cur.Table[i*n:][:n], base.Table[i*n:][:n]
		e.TraceRow(i)
		r.idleClass = idleClass(past.unchangedFor[i])
		r.position = &e.scene.positions[i]
		moved := nextMoved < len(past.changedRows) && int(past.changedRows[nextMoved]) == i
		// The history of a row that is no mover; loadHistory replaces it for movers. lastDelta and
		// origin are set below if the row changes.
		r.lastResiduals, r.lastAcceleration, r.positionSpeed, r.hasRotation = r.noMotion.residualLength, r.noMotion.acceleration, 0, false
		if moved {
			r.loadHistory(past, next, nextMoved)
			nextMoved++
		}
		changed := r.codeChanged(i, recentChanges, moved, &next.rowCounters[i])
		e.Charge(encoders.SlotFlags)
		recentChanges = (recentChanges<<1 | changed) & 15
		if changed == 0 {
			if next.unchangedFor[i] < maxAge {
				next.unchangedFor[i]++
			}
			continue
		}
		next.unchangedFor[i] = 0
		if !moved {
			clear(r.lastDelta)
			copy(r.origin, r.base)
		}
		r.findNeighbour(next)
		e.scene.changedPositions = append(e.scene.changedPositions, *r.position)
		r.motion = next.appendMotion(i, n)
		next.rotations = append(next.rotations, e.rotation.values(r.base))
		if err := r.codeFields(); err != nil {
			return fmt.Errorf("%s %d: %w", e.schema.Item, i, err)
		}
	}
	return nil
}

// loadHistory prepares the predictions of a row that changed with base: it loads the row's motion,
// the n-th of past, and scales its deltas to the ticks of next.
func (r *rowState) loadHistory(past, next *memo, n int) {
	copy(r.origin, r.base)
	s := past.motionAt(n, r.coder.fields)
	r.lastResiduals, r.lastAcceleration = s.residualLength, s.acceleration
	for f, v := range s.delta {
		r.lastDelta[f] = r.coder.columns[f].scaleDelta(v, past.ticks, next.ticks)
	}
	r.predictRotation(past.rotations[n], float64(next.ticks)/float64(past.ticks))
	for _, f := range r.coder.position {
		r.positionSpeed = max(r.positionSpeed, bitLength(r.lastDelta[f]))
	}
	r.positionSpeed = min(r.positionSpeed, deltaLengths-1)
}

// findNeighbour finds the nearest among the last maxMovers rows that changed in this frame; without
// positions, the last of them. neighbourDistance is the bit length of the squared distance; noMover
// if unknown.
func (r *rowState) findNeighbour(next *memo) {
	r.neighbour, r.neighbourDistance = r.noMotion, noMover
	last, e := len(next.changedRows)-1, r.coder
	if last < 0 {
		return
	}
	nearest := last
	if len(e.position) > 0 {
		best := uint64(1<<64 - 1)
		for k := last; k >= 0 && k > last-maxMovers; k-- {
			if d := squaredDistance(r.position, &e.scene.changedPositions[k]); d < best {
				best, nearest = d, k
			}
		}
		r.neighbourDistance = uint32(bits.Len64(best))
	}
	r.neighbour = next.motionAt(nearest, e.fields)
}

// codeChanged codes whether row i changed and returns 1 if so. moved means that it is a mover, see codeRows; own is the
// counter of this row.
func (r *rowState) codeChanged(i int, recentChanges uint32, moved bool, own *rangecoder.Counter) uint32 {
	r.nearestDistance, r.fastestDistance = r.coder.scene.distances(i, r.position, moved)
	rowFlags := uint32(0)
	for _, f := range r.coder.rowFlags {
		rowFlags = rowFlags<<1 | uint32(r.base[f]&1)
	}
	idle, speed := uint32(r.idleClass), uint32(r.positionSpeed)
	mixer := &r.coder.mixer
	r.coder.beginContexts(r.coder.sharedWeights)
	mixer.AddContext(decisionRow, idle, speed, recentChanges&7)
	mixer.AddContext(decisionRow, idle, r.nearestDistance, rowFlags)
	mixer.AddContext(decisionRow, idle, r.fastestDistance, speed)
	mixer.AddContext(decisionRow, r.nearestDistance, r.fastestDistance, idle)
	differs := int32(0) // not 0 if any value differs; unused by the decoder
	for f, v := range r.cur {
		differs |= v ^ r.base[f]
	}
	return uint32(mixer.CodeBit(rowNode, rangecoder.Flag(differs != 0), own))
}

// codeFields codes the fields of a row that changed, in the order of the plan: for each a flag whether it is
// unchanged, and its new value if not. The last field has no flag if all others are unchanged.
func (r *rowState) codeFields() error {
	r.maxResidual, r.recentResiduals, r.unchangedFields = 0, [2]int{}, 0
	r.prepareRotation()
	allUnchanged := true // no field of the row has changed so far
	for n, f := range r.coder.order {
		col := &r.coder.columns[f]
		if col.velocity >= 0 {
			r.moveByVelocity(col)
		}
		r.expectedLength = r.expectedDeltaLength(f, col)
		isUnchanged := false // implied for the last field if no other field changed
		if n < len(r.cur)-1 || !allUnchanged {
			isUnchanged = r.codeUnchanged(f, col)
		}
		r.unchangedFields = r.unchangedFields<<1 | flag(isUnchanged)
		allUnchanged = allUnchanged && isUnchanged
		if isUnchanged {
			r.recordUnchanged(f, col)
		} else if err := r.codeField(f, col); err != nil {
			return err
		}
		if f == r.coder.rotation.enumField {
			r.updateLargest(int(r.cur[f] - col.Min))
		}
		r.coder.TraceField(encoders.FieldSlot(f), f) // a slot may have several fields
		r.coder.Charge(encoders.FieldSlot(f))
	}
	return nil
}

// codeUnchanged codes and returns whether field f of a changed row is unchanged.
func (r *rowState) codeUnchanged(f int, col *fieldPlan) bool {
	mixer := &r.coder.mixer
	id := uint32(f)<<8 | decisionUnchanged
	expected := uint32(r.expectedLength)
	r.coder.beginContexts(col.weightSet)
	mixer.AddContext(id, r.unchangedFields&15, min(expected, 3), flag(r.largestChanged))
	mixer.AddContext(id, expected, uint32(r.lastResiduals[f]), uint32(r.idleClass))
	mixer.AddContext(id, uint32(r.neighbour.residualLength[f]), uint32(r.positionSpeed), r.unchangedFields&3)
	if f == r.coder.rotation.enumField {
		mixer.AddContext(id, flag(int(r.base[f]-col.Min) == r.first), r.margin, flag(r.hasRotation))
	} else {
		mixer.AddContext(id, r.nearestDistance, uint32(r.idleClass), r.unchangedFields&1)
	}
	return mixer.CodeFlag(unchangedNode, r.cur[f] == r.base[f])
}

// expectedDeltaLength returns the length in bits of the change of field f if its last delta is applied to its
// origin again; 0 for fields without differences. Of a position with a velocity it is the length of pushed, as a
// measure of how uncertain the position is.
func (r *rowState) expectedDeltaLength(f int, c *fieldPlan) int {
	if c.velocity >= 0 {
		return bitLength(r.pushed)
	}
	if r.lastDelta[f] == 0 || !column.IsNumber(c.kind) {
		return 0
	}
	return bitLength(c.difference(c.apply(r.origin[f], r.lastDelta[f]), r.origin[f]))
}

// recordUnchanged records in the motion that a field did not change: its delta is 0.
func (r *rowState) recordUnchanged(f int, col *fieldPlan) {
	r.cur[f] = r.base[f]
	if column.IsNumber(col.kind) {
		r.acceleration[f] = -r.lastDelta[f]
		r.recordResidual(f, r.expectedLength)
	}
}

// codeField codes the new value of a field that changed.
func (r *rowState) codeField(f int, col *fieldPlan) error {
	if err := r.coder.Err(); err != nil {
		return err
	}
	switch {
	case column.IsNumber(col.kind):
		r.codeNumber(f, col)
	case col.kind == frame.Bits:
		r.codeBits(f)
	default:
		r.codeSymbol(f, col)
	}
	if !col.Admits(r.cur[f]) {
		return column.RangeError(r.coder.schema, f, int64(r.cur[f]))
	}
	if r.cur[f] == r.base[f] {
		return fmt.Errorf("field %s: %w", r.coder.schema.Fields[f].Name, errUnchanged)
	}
	return nil
}

// idleClass quantises the number of packets since a row changed into 7 classes; 6 means maxAge or
// unknown.
func idleClass(n uint8) int {
	switch {
	case n < 3:
		return int(n)
	case n < 8:
		return 3
	case n < 32:
		return 4
	case n < maxAge:
		return 5
	}
	return 6
}

// bitLength returns the number of bits of |v|.
func bitLength(v int32) int { return bits.Len32(abs(v)) }

// flag returns 1 for true and 0 for false, as a value to hash into a context.
func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }

const (
	nodeCount   = 64                       // weights in a weight set, by node
	firstWeight = rangecoder.Unit * 3 / 10 // initial weight of every input
	bias        = 256                      // logit of the mixer's bias input
)

// Nodes number the decisions of a field: they select the weights, and with the contexts the
// counters. Lengths take the first 16. Long lengths and symbols, which no field has both, share the
// next 32.
const (
	longLengthNode = 16
	symbolNode     = 16
	signNode       = 48
	topNode        = 48 // first of four nodes
	bitNode        = 52
	unchangedNode  = 53
	rowNode        = 54
	bodyNode       = 55
	symbolBits     = 12 // upper bits of an enum that have counters; the bits below are coded directly
)

// codeNumber codes a numeric field as the residual of a prediction, updates the predictors with the
// actual value, and records the field's motion for the next frame.
func (r *rowState) codeNumber(f int, col *fieldPlan) {
	p := r.predict(f, col)
	residual := r.codeResidual(f, col, col.difference(r.cur[f], p.value), p.value)
	r.cur[f] = col.addResidual(p.value, residual)
	p.learn(r.cur[f], col)
	r.delta[f] = col.delta(r.origin[f], r.cur[f])
	r.acceleration[f] = r.delta[f] - r.lastDelta[f] // floats do not use their acceleration
	r.recordResidual(f, bitLength(residual))
}

// recordResidual records the length, in bits, of the residual of field f.
func (r *rowState) recordResidual(f, length int) {
	r.residualLength[f] = uint8(length)
	r.maxResidual = max(r.maxResidual, length)
	r.recentResiduals[1], r.recentResiduals[0] = r.recentResiduals[0], length
}

const (
	lengthBits     = 4                 // bits of the first tree of a length
	maxShortLength = 1<<lengthBits - 1 // a length of this or more continues in a second tree
	longLengthBits = 5                 // bits of the second tree of a length
)

// codeResidual codes and returns the residual of field f from the prediction guess: the number of
// its bits, its sign unless the range implies it, and the bits below the highest.
func (r *rowState) codeResidual(f int, col *fieldPlan, residual, guess int32) int32 {
	mixer := &r.coder.mixer
	largestClass := flag(r.largestChanged && r.coder.rotation.isComponent(f))
	kindClass := largestClass // a context of the sign, too
	if col.velocity >= 0 {
		kindClass = r.phase
	}
	// Contexts with id share counters among fields of the same range and unit, those with fieldID do not.
	id, fieldID := uint32(col.statsField)<<8|decisionLength, uint32(f)<<8|decisionLength
	expected, size := uint32(r.expectedLength), abs(residual)
	r.coder.beginContexts(col.weightSet)
	mixer.AddContext(id, largestClass, expected, uint32(r.maxResidual))
	mixer.AddContext(id, uint32(r.lastResiduals[f]), uint32(r.idleClass), kindClass)
	mixer.AddContext(fieldID, uint32(r.recentResiduals[0]), uint32(r.recentResiduals[1]), largestClass)
	length := uint32(bits.Len32(size))
	coded := mixer.CodeTree(min(length, maxShortLength), lengthBits, 0)
	if coded == maxShortLength {
		coded += mixer.CodeTree(length-maxShortLength, longLengthBits, longLengthNode)
	}
	length = min(coded, 32) // an invalid packet may hold more
	if length == 0 {
		return 0
	}
	maxUp, maxDown := col.residualBounds(guess)
	smallest := uint64(1) << (length - 1)
	var negative bool
	switch {
	case smallest > maxUp:
		negative = true // a positive residual would be out of range
	case smallest > maxDown: // positive: a negative residual would be out of range
	default:
		negative = r.codeSign(f, residual, kindClass, col.rangePart(guess)<<5|length)
	}
	size = r.codeLowBits(f, length, size)
	if negative {
		return int32(-size)
	}
	return int32(size)
}

// abs returns |v|; for -2^31 it is 2^31.
func abs(v int32) uint32 { return uint32(max(v, -v)) }

// codeSign codes the sign of a residual of field f and reports whether it is negative. Two parameters are contexts:
// kindClass is 1 for a component of a rotation whose largest component changed, and phase for a position with a
// velocity; boundClass combines in which sixteenth of the range the prediction lies, and the length of the residual.
func (r *rowState) codeSign(f int, residual int32, kindClass, boundClass uint32) bool {
	mixer, col := &r.coder.mixer, &r.coder.columns[f]
	id := uint32(col.statsField)<<8 | decisionSign
	r.coder.beginContexts(col.weightSet)
	mixer.AddContext(id, kindClass, signClass(r.lastDelta[f]), 0)
	mixer.AddContext(id, uint32(r.expectedLength), signClass(r.lastDelta[f]), uint32(r.lastResiduals[f]))
	mixer.AddContext(id, boundClass, signClass(r.lastDelta[f]), 0)
	return mixer.CodeFlag(signNode, residual < 0)
}

// signClass returns 0, 1 or 2 for negative, zero and positive v.
func signClass(v int32) uint32 { return 1 + flag(v > 0) - flag(v < 0) }

// codeLowBits codes the bits below the highest of a magnitude of the given length: the first two
// with contexts, the others directly. It returns the magnitude. The decoder ignores size.
func (r *rowState) codeLowBits(f int, length, size uint32) uint32 {
	mixer, col := &r.coder.mixer, &r.coder.columns[f]
	r.coder.beginContexts(col.weightSet)
	mixer.AddContext(uint32(col.statsField)<<8|decisionTopBits, length, 0, 0) // two of the four values are not needed
	bitsLeft, known := length-1, uint32(1)                                    // known holds the bits coded so far; its highest is 1
	for bitsLeft > 0 && known < 4 {
		bitsLeft--
		// nil: only the counters of the contexts are used.
		known = known<<1 | uint32(mixer.CodeBit(topNode+int(known), int(size>>bitsLeft&1), nil))
	}
	if bitsLeft > 0 {
		known = known<<bitsLeft | uint32(r.coder.Direct(uint64(size&(1<<bitsLeft-1)), uint(bitsLeft)))
	}
	return known
}

// codeSymbol codes a flag or an enum that changed. A flag takes no bit: it changed, so its new value is the
// other one.
func (r *rowState) codeSymbol(f int, col *fieldPlan) {
	oldRaw := col.Raw(r.base[f])
	if col.Span == 1 {
		r.cur[f] = col.FromRaw(1 - oldRaw)
		return
	}
	e := r.coder
	mixer := &e.mixer
	id := uint32(f)<<8 | decisionSymbol
	raw, bitsLeft, node := col.Raw(r.cur[f]), col.Width, uint32(1)
	for range min(col.Width, symbolBits) {
		bitsLeft--
		e.beginContexts(col.weightSet)
		mixer.AddContext(id, node, oldRaw, 0)
		mixer.AddContext(id, node, oldRaw, r.expectedComponents(f))
		mixer.AddContext(id, node, r.expectedComponents(f), r.margin)
		// Nodes from 15 on share weights. The nil means that only the counters of the contexts are used.
		node = node<<1 | uint32(mixer.CodeBit(symbolNode+int(min(node, 15)), int(raw>>bitsLeft&1), nil))
	}
	// The upper bits of the value are those of node without its leading 1; the lower bits are coded directly.
	raw = (node-1<<min(col.Width, symbolBits))<<bitsLeft | uint32(e.Direct(uint64(raw&(1<<bitsLeft-1)), bitsLeft))
	r.cur[f] = col.FromRaw(raw)
}

// expectedComponents returns a context for field f, if it is the enum of the rotation: the largest
// and second largest component of the predicted rotation; 0 for other fields.
func (r *rowState) expectedComponents(f int) uint32 {
	if f != r.coder.rotation.enumField {
		return 0
	}
	return uint32(1 + r.first*4 + r.second)
}

// codeBits codes a field of kind Bits: for each of 32 bits, the lowest first, whether it changed.
func (r *rowState) codeBits(f int) {
	changed := uint32(r.cur[f]) ^ uint32(r.base[f])
	mixer := &r.coder.mixer
	var out, count uint32 // the changes so far, and their number
	for i := range uint32(32) {
		// The last value, 0 or 1, keeps both contexts apart.
		r.coder.beginContexts(r.coder.columns[f].weightSet)
		mixer.AddContext(uint32(f)<<8|decisionBits, i, uint32(r.base[f])>>i&1, 0)
		mixer.AddContext(uint32(f)<<8|decisionBits, i, min(count, 3), 1)
		b := uint32(mixer.CodeBit(bitNode, int(changed>>i&1), nil)) // nil: only the counters of the contexts are used
		out |= b << i
		count += b
	}
	r.cur[f] = int32(out ^ uint32(r.base[f]))
}

// rotationSize is the number of fields of a rotation: the enum and the components.
const rotationSize = numComponents + 1

// A rotationState is the rotation of the row being coded, if its schema has one.
type rotationState struct {
	hasRotation        bool                // the row has a last rotation to extrapolate from
	current, predicted rotation.Quaternion // rotation in base, and the predicted rotation
	first, second      int                 // indices of the largest and the second largest component of predicted
	margin             uint32              // class of the difference of their magnitudes, from 1; 0 without a rotation
	largestChanged     bool                // the largest component differs from that in base
}

// values returns the rotation's fields of a row; zeros if the schema has no rotation.
func (t *rotationFields) values(row []int32) (v [rotationSize]int32) {
	if t.enumField >= 0 {
		copy(v[:], row[t.enumField:])
	}
	return v
}

// decodeRotation returns the quaternion of a rotation's fields.
func (r *rowState) decodeRotation(fields []int32) rotation.Quaternion {
	t := &r.coder.rotation
	return t.Decode(fields[0]-r.coder.columns[t.enumField].Min, fields[1:rotationSize])
}

// predictRotation extrapolates the rotation of a row that changed before. before holds the
// rotation's fields before the last motion; ratio is the ratio of the current ticks to those of the
// last motion. It does nothing if the schema has no rotation.
func (r *rowState) predictRotation(before [rotationSize]int32, ratio float64) {
	t := &r.coder.rotation
	if t.enumField < 0 {
		return
	}
	from := r.decodeRotation(before[:])
	r.current = r.decodeRotation(r.base[t.enumField:])
	r.predicted = extrapolate(&from, &r.current, ratio)
	r.hasRotation = true
	r.setReference(int(r.base[t.enumField] - r.coder.columns[t.enumField].Min))
}

// prepareRotation finds the largest and the second largest component of the predicted rotation of a row that
// changed, and the class of their margin (the difference of their magnitudes): 1 to 12, in steps of 1/40. If
// the margin is small, the largest component may change. The class is 0 if the schema has no rotation. A row
// without a last rotation is predicted to keep that of base.
func (r *rowState) prepareRotation() {
	t := &r.coder.rotation
	r.largestChanged, r.margin = false, 0
	if t.enumField < 0 {
		return
	}
	if !r.hasRotation {
		r.current = r.decodeRotation(r.base[t.enumField:])
		r.predicted = r.current
	}
	r.first, r.second = r.predicted.Largest()
	margin := math.Abs(r.predicted[r.first]) - math.Abs(r.predicted[r.second])
	r.margin = uint32(min(int(float64(margin*40)), 11)) + 1
}

// updateLargest converts origin and lastDelta if the largest component, now omitted, differs from
// that in base.
func (r *rowState) updateLargest(omitted int) {
	t := &r.coder.rotation
	if r.cur[t.enumField] != r.base[t.enumField] {
		r.largestChanged = true
		r.setReference(omitted)
	}
}

// setReference sets origin and lastDelta of the rotation's component fields, when the component with index
// omitted is the largest and not transmitted: from the current rotation, and from the difference of the
// predicted one to it.
func (r *rowState) setReference(omitted int) {
	t := &r.coder.rotation
	current, predicted := t.components(&r.current, omitted), t.components(&r.predicted, omitted)
	for k := range current {
		f := t.enumField + 1 + k
		r.origin[f], r.lastDelta[f] = current[k], predicted[k]-current[k]
	}
}
