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

// Marks separate the contexts of different kinds of decisions.
const (
	rowMark = iota + 1
	sameMark
	lengthMark
	signMark
	topMark
	enumMark
	bitsMark
	bodyMark
)

var errUnchanged = errors.New("listed as changed, but is not")

// rowState is the state of the row being coded.
type rowState struct {
	e                *coder
	cur, base        []int32 // the row's values in the frame and in the base frame
	start            []int32 // origin of shifts: base, with the rotation converted to the new largest component
	lastShift        []int32 // shifts of the row's last step, scaled to the present ticks; 0 if it did not change
	lastAcceleration []int32 // acceleration of the row's last step
	missed           []uint8 // lengths of the residuals of the row's last step
	step                     // the step being coded
	idle             int
	place            *[maxPlace]int32 // the row's position in base
	nearest          uint32           // distance of the nearest row that moved
	fastest          uint32           // distance of the fastest row that moved
	pace             int              // greatest length of lastShift among the fields of the position
	ahead            int              // length of the predicted shift of the field being coded
	worst            int              // greatest length of a residual of this row so far
	last             [2]int           // lengths of the last two residuals, the last first
	same             uint32           // which of the earlier fields did not change, the last in the lowest bit
	neighbour        step             // step of the nearest row that changed; see distance
	distance         uint32
	prediction       prediction
	none             step // the zero step, for rows that did not change
	rotationState
}

// codeRows codes all rows.
func (e *coder) codeRows(cur, base *frame.Frame, past, next *memo) error {
	at, recent := 0, uint32(0)
	r, n := &e.row, e.fields
	for i := range e.rows {
		r.cur, r.base = cur.Table[i*n:][:n], base.Table[i*n:][:n]
		r.idle = idleClass(past.idle[i])
		r.place = &e.scene.places[i]
		moved := at < len(past.moved) && int(past.moved[at]) == i
		// A row without a history; lastShift and start are set only if the row changes.
		r.missed, r.lastAcceleration, r.pace, r.rotated = r.none.miss, r.none.acceleration, 0, false
		if moved {
			r.loadHistory(past, next, at)
			at++
		}
		changed := r.codeChanged(i, recent, moved, &next.rows[i])
		e.Charge(encoders.SlotFlags)
		recent = (recent<<1 | changed) & 15
		if changed == 0 {
			if next.idle[i] < forever {
				next.idle[i]++
			}
			continue
		}
		next.idle[i] = 0
		if !moved {
			clear(r.lastShift)
			copy(r.start, r.base)
		}
		r.findNeighbour(next)
		e.scene.coded = append(e.scene.coded, *r.place)
		r.step = next.appendStep(i, n)
		next.from = append(next.from, e.turn.fields(r.base))
		if err := r.code(); err != nil {
			return fmt.Errorf("%s %d: %w", e.schema.Item, i, err)
		}
	}
	return nil
}

// loadHistory loads the last step of a row, the n-th that moved.
func (r *rowState) loadHistory(past, next *memo, n int) {
	copy(r.start, r.base)
	s := past.step(n, r.e.fields)
	r.missed, r.lastAcceleration = s.miss, s.acceleration
	for f, v := range s.shift {
		r.lastShift[f] = r.e.cols[f].scaled(v, past.ticks, next.ticks)
	}
	r.predictRotation(past.from[n], float64(next.ticks)/float64(past.ticks))
	for _, f := range r.e.place {
		r.pace = max(r.pace, length(r.lastShift[f]))
	}
	r.pace = min(r.pace, paces-1)
}

// findNeighbour finds the nearest among the last maxMovers rows that changed in this frame.
func (r *rowState) findNeighbour(next *memo) {
	r.neighbour, r.distance = r.none, farthest
	last, e := len(next.moved)-1, r.e
	if last < 0 {
		return
	}
	pick := last
	if len(e.place) > 0 {
		best := uint64(1<<64 - 1)
		for k := last; k >= 0 && k > last-maxMovers; k-- {
			if d := distance2(r.place, &e.scene.coded[k]); d < best {
				best, pick = d, k
			}
		}
		r.distance = uint32(bits.Len64(best))
	}
	r.neighbour = next.step(pick, e.fields)
}

// codeChanged codes whether row i changed; own is the counter of this row alone.
func (r *rowState) codeChanged(i int, recent uint32, moved bool, own *rangecoder.Counter) uint32 {
	r.nearest, r.fastest = r.e.scene.distances(i, r.place, moved)
	state := uint32(0)
	for _, f := range r.e.states {
		state = state<<1 | uint32(r.base[f]&1)
	}
	idle, pace := uint32(r.idle), uint32(r.pace)
	x := &r.e.x
	r.e.begin(r.e.shared)
	x.AddContext(rowMark, idle, pace, recent&7)
	x.AddContext(rowMark, idle, r.nearest, state)
	x.AddContext(rowMark, idle, r.fastest, pace)
	x.AddContext(rowMark, r.nearest, r.fastest, idle)
	differ := int32(0)
	for f, v := range r.cur {
		differ |= v ^ r.base[f]
	}
	return uint32(x.CodeBit(rowNode, rangecoder.Flag(differ != 0), own))
}

// code codes a row that changed.
func (r *rowState) code() error {
	r.worst, r.last, r.same = 0, [2]int{}, 0
	r.prepareRotation()
	all := true // no field has changed so far
	for f := range r.cur {
		col := &r.e.cols[f]
		r.ahead = r.shiftAhead(f, col)
		same := false // not coded for the last field if no other field changed
		if f < len(r.cur)-1 || !all {
			same = r.codeSame(f, col)
		}
		r.same = r.same<<1 | flag(same)
		all = all && same
		if same {
			r.noteUnchanged(f, col)
		} else if err := r.codeField(f, col); err != nil {
			return err
		}
		if f == r.e.turn.at {
			r.switchLargest(int(r.cur[f] - col.Min))
		}
		r.e.Charge(encoders.FieldSlot(f))
	}
	return nil
}

// codeSame codes whether field f of a changed row is unchanged.
func (r *rowState) codeSame(f int, col *fieldPlan) bool {
	x := &r.e.x
	id := uint32(f)<<8 | sameMark
	pace := uint32(r.ahead)
	r.e.begin(col.slot)
	x.AddContext(id, r.same&15, min(pace, 3), flag(r.largestChanged))
	x.AddContext(id, pace, uint32(r.missed[f]), uint32(r.idle))
	x.AddContext(id, uint32(r.neighbour.miss[f]), uint32(r.pace), r.same&3)
	if f == r.e.turn.at {
		x.AddContext(id, flag(int(r.base[f]-col.Min) == r.first), r.margin, flag(r.rotated))
	} else {
		x.AddContext(id, r.nearest, uint32(r.idle), r.same&1)
	}
	return x.CodeFlag(sameNode, r.cur[f] == r.base[f])
}

// shiftAhead returns the length of the predicted shift of field f.
func (r *rowState) shiftAhead(f int, c *fieldPlan) int {
	if r.lastShift[f] == 0 || !column.IsNumber(c.kind) {
		return 0
	}
	return length(c.difference(c.apply(r.start[f], r.lastShift[f]), r.start[f]))
}

// noteUnchanged records that a field did not change.
func (r *rowState) noteUnchanged(f int, col *fieldPlan) {
	r.cur[f] = r.base[f]
	if column.IsNumber(col.kind) {
		r.acceleration[f] = -r.lastShift[f]
		r.recordResidual(f, r.ahead)
	}
}

// codeField codes the new value of a field that changed.
func (r *rowState) codeField(f int, col *fieldPlan) error {
	if err := r.e.Err(); err != nil {
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
		return column.Error(r.e.schema, f, int64(r.cur[f]))
	}
	if r.cur[f] == r.base[f] {
		return fmt.Errorf("field %s: %w", r.e.schema.Fields[f].Name, errUnchanged)
	}
	return nil
}

// idleClass returns the class of a row that did not change for n packets.
func idleClass(n uint8) int {
	switch {
	case n < 3:
		return int(n)
	case n < 8:
		return 3
	case n < 32:
		return 4
	case n < forever:
		return 5
	}
	return 6
}

// length returns the number of bits of |v|.
func length(v int32) int { return bits.Len32(magnitude(v)) }

// flag returns 1 for true, as a part of a context.
func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }

const (
	nodeCount   = 64 // weights of a field
	firstWeight = rangecoder.Unit * 3 / 10
	bias        = 256
)

// Nodes number the decisions of a field. Lengths have the first 16. Longer ones and
// symbols, which no field has both of, share the next 32.
const (
	farNode    = 16
	symbolNode = 16
	signNode   = 48
	topNode    = 48 // and the next three
	bitNode    = 52
	sameNode   = 53
	rowNode    = 54
	bodyNode   = 55
	symbolBits = 12 // of an enum that have counters; the bits below are coded directly
)

// codeNumber codes a numeric field as the residual of a prediction, which then learns the value, and
// records the field's shift, acceleration and residual for the next frame.
func (r *rowState) codeNumber(f int, col *fieldPlan) {
	g := r.predict(f, col)
	miss := r.codeResidual(f, col, col.difference(r.cur[f], g.value), g.value)
	r.cur[f] = col.add(g.value, miss)
	g.learn(r.cur[f], col)
	r.shift[f] = col.shift(r.start[f], r.cur[f])
	r.acceleration[f] = r.shift[f] - r.lastShift[f] // floats do not use their acceleration
	r.recordResidual(f, length(miss))
}

// recordResidual records the length n, in bits, of the residual of field f.
func (r *rowState) recordResidual(f, n int) {
	r.miss[f] = uint8(n)
	r.worst = max(r.worst, n)
	r.last[1], r.last[0] = r.last[0], n
}

const (
	lengthBits = 4
	longest    = 1<<lengthBits - 1 // longer ones continue in a second tree
	farBits    = 5
)

// codeResidual codes a residual: the length of its magnitude, its sign unless the range implies
// it, and the bits below the leading one.
func (r *rowState) codeResidual(f int, col *fieldPlan, miss, guess int32) int32 {
	x := &r.e.x
	kind := flag(r.largestChanged && r.e.turn.has(f))
	id, own := uint32(col.class)<<8|lengthMark, uint32(f)<<8|lengthMark
	was, size := uint32(r.ahead), magnitude(miss)
	r.e.begin(col.slot)
	x.AddContext(id, kind, was, uint32(r.worst))
	x.AddContext(id, uint32(r.missed[f]), uint32(r.idle), kind)
	x.AddContext(own, uint32(r.last[0]), uint32(r.last[1]), kind)
	n := uint32(bits.Len32(size))
	short := x.CodeTree(min(n, longest), lengthBits, 0)
	if short == longest {
		short += x.CodeTree(n-longest, farBits, farNode)
	}
	n = min(short, 32)
	if n == 0 {
		return 0
	}
	up, down := col.room(guess)
	least := uint64(1) << (n - 1)
	var negative bool
	switch {
	case least > up:
		negative = true
	case least > down:
	default:
		negative = r.codeSign(f, miss, kind, col.part(guess)<<5|n)
	}
	size = r.codeLowBits(f, n, size)
	if negative {
		return int32(-size)
	}
	return int32(size)
}

// magnitude returns |v|; the magnitude of -2^31 is 2^31.
func magnitude(v int32) uint32 { return uint32(max(v, -v)) }

// codeSign codes the sign of a residual and reports whether it is negative.
func (r *rowState) codeSign(f int, miss int32, kind, room uint32) bool {
	x, col := &r.e.x, &r.e.cols[f]
	id := uint32(col.class)<<8 | signMark
	r.e.begin(col.slot)
	x.AddContext(id, kind, signOf(r.lastShift[f]), 0)
	x.AddContext(id, uint32(r.ahead), signOf(r.lastShift[f]), uint32(r.missed[f]))
	x.AddContext(id, room, signOf(r.lastShift[f]), 0)
	return x.CodeFlag(signNode, miss < 0)
}

func signOf(v int32) uint32 { return 1 + flag(v > 0) - flag(v < 0) }

// codeLowBits codes the bits below the leading one of a magnitude of n bits: the first two with
// contexts, the others directly.
func (r *rowState) codeLowBits(f int, n, size uint32) uint32 {
	x, col := &r.e.x, &r.e.cols[f]
	r.e.begin(col.slot)
	x.AddContext(uint32(col.class)<<8|topMark, n, 0, 0)
	left, top := n-1, uint32(1)
	for left > 0 && top < 4 {
		left--
		top = top<<1 | uint32(x.CodeBit(topNode+int(top), int(size>>left&1), nil))
	}
	if left > 0 {
		top = top<<left | uint32(r.e.Direct(uint64(size&(1<<left-1)), uint(left)))
	}
	return top
}

// codeSymbol codes a flag or an enum that changed.
func (r *rowState) codeSymbol(f int, col *fieldPlan) {
	was := col.Raw(r.base[f])
	if col.Span == 1 {
		r.cur[f] = col.Value(1 - was)
		return
	}
	e := r.e
	x := &e.x
	id := uint32(f)<<8 | enumMark
	v, left, at := col.Raw(r.cur[f]), col.Width, uint32(1)
	for range min(col.Width, symbolBits) {
		left--
		e.begin(col.slot)
		x.AddContext(id, at, was, 0)
		x.AddContext(id, at, was, r.expected(f))
		x.AddContext(id, at, r.expected(f), r.margin)
		at = at<<1 | uint32(x.CodeBit(symbolNode+int(min(at, 15)), int(v>>left&1), nil))
	}
	v = (at-1<<min(col.Width, symbolBits))<<left | uint32(e.Direct(uint64(v&(1<<left-1)), left))
	r.cur[f] = col.Value(v)
}

// expected returns the predicted largest components as a context if f is the enum of the rotation;
// 0 for other fields.
func (r *rowState) expected(f int) uint32 {
	if f != r.e.turn.at {
		return 0
	}
	return uint32(1 + r.first*4 + r.second)
}

// codeBits codes which bits of a field of flags changed.
func (r *rowState) codeBits(f int) {
	d := uint32(r.cur[f]) ^ uint32(r.base[f])
	x := &r.e.x
	var out, count uint32
	for i := range uint32(32) {
		r.e.begin(r.e.cols[f].slot)
		x.AddContext(uint32(f)<<8|bitsMark, i, uint32(r.base[f])>>i&1, 0)
		x.AddContext(uint32(f)<<8|bitsMark, i, min(count, 3), 1)
		b := uint32(x.CodeBit(bitNode, int(d>>i&1), nil))
		out |= b << i
		count += b
	}
	r.cur[f] = int32(out ^ uint32(r.base[f]))
}

// rotationSize is the number of fields of a rotation.
const rotationSize = parts + 1

// rotationState is the rotation of the row being coded, if its schema has one.
type rotationState struct {
	rotated            bool                // the row has a last step to extrapolate from
	current, predicted rotation.Quaternion // rotation in base, and the predicted rotation
	first, second      int                 // largest and second largest component of predicted
	margin             uint32              // class of the difference of their magnitudes
	largestChanged     bool                // the largest component differs from that in base
}

// fields returns the rotation's fields of a row.
func (t *rotationFields) fields(row []int32) (v [rotationSize]int32) {
	if t.at >= 0 {
		copy(v[:], row[t.at:])
	}
	return v
}

// read returns the quaternion of a rotation's fields.
func (r *rowState) read(fields []int32) rotation.Quaternion {
	t := &r.e.turn
	return t.Decode(fields[0]-r.e.cols[t.at].Min, fields[1:rotationSize])
}

// predictRotation extrapolates the rotation. fields is the rotation before the last step; times is
// the ratio of the present ticks to the ticks of the last step.
func (r *rowState) predictRotation(fields [rotationSize]int32, times float64) {
	t := &r.e.turn
	if t.at < 0 {
		return
	}
	from := r.read(fields[:])
	r.current = r.read(r.base[t.at:])
	r.predicted = extrapolate(&from, &r.current, times)
	r.rotated = true
	r.setReference(int(r.base[t.at] - r.e.cols[t.at].Min))
}

// prepareRotation sets first, second and margin for a row that changed.
func (r *rowState) prepareRotation() {
	t := &r.e.turn
	r.largestChanged, r.margin = false, 0
	if t.at < 0 {
		return
	}
	if !r.rotated {
		r.current = r.read(r.base[t.at:])
		r.predicted = r.current
	}
	r.first, r.second = r.predicted.Largest()
	margin := math.Abs(r.predicted[r.first]) - math.Abs(r.predicted[r.second])
	r.margin = uint32(min(int(float64(margin*40)), 11)) + 1
}

// switchLargest converts start and lastShift if the largest component is now left, and not that in base.
func (r *rowState) switchLargest(left int) {
	t := &r.e.turn
	if r.cur[t.at] != r.base[t.at] {
		r.largestChanged = true
		r.setReference(left)
	}
}

// setReference sets start and lastShift for the fields of the rotation. left is the component that
// the fields omit.
func (r *rowState) setReference(left int) {
	t := &r.e.turn
	is, goes := t.components(&r.current, left), t.components(&r.predicted, left)
	for k := range is {
		f := t.at + 1 + k
		r.start[f], r.lastShift[f] = is[k], goes[k]-is[k]
	}
}
