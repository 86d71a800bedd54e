package rows

import (
	"errors"
	"fmt"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
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
	cur, base        []int32 // its values
	start            []int32 // origin of shifts: base, with the rotation as another component is left out
	was              []int32 // its last shifts, scaled to the present ticks; 0 if it did not change
	lastAcceleration []int32 // the change of its last shifts
	missed           []uint8 // lengths of its last residuals
	step                     // the present shifts
	idle             int
	place            *[maxPlace]int32 // its position in base
	nearest          uint32           // distance of the nearest mover
	fastest          uint32           // distance of the fastest mover
	pace             int              // length of the longest of was, of the position
	ahead            int              // length of the predicted shift of the field being coded
	worst            int              // length of the longest residual so far
	last             [2]int           // of the last two residuals
	same             uint32           // which of the fields before did not change, the last in the lowest bit
	neighbour        step             // of the nearest row that changed, with its distance
	distance         uint32
	prediction       prediction
	none             step // of a row that did not change
	rotationState
}

func (r *rowState) init(e *coder) {
	n := e.fields
	r.e, r.was, r.start = e, make([]int32, n), make([]int32, n)
	r.none = step{make([]int32, n), make([]int32, n), make([]uint8, n)}
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
		r.clearHistory()
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
			clear(r.was)
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

// clearHistory makes a row one without a history. Its shifts and their origin are set only if
// it changes.
func (r *rowState) clearHistory() {
	r.missed, r.lastAcceleration, r.pace, r.rotated = r.none.miss, r.none.acceleration, 0, false
}

// loadHistory loads the last step of a row, the n-th that moved.
func (r *rowState) loadHistory(past, next *memo, n int) {
	copy(r.start, r.base)
	s := past.step(n, r.e.fields)
	r.missed, r.lastAcceleration = s.miss, s.acceleration
	for f, v := range s.shift {
		r.was[f] = r.e.cols[f].scaled(v, past.ticks, next.ticks)
	}
	r.predictRotation(past.from[n], float64(next.ticks)/float64(past.ticks))
	for _, f := range r.e.place {
		r.pace = max(r.pace, length(r.was[f]))
	}
	r.pace = min(r.pace, paces-1)
}

// findNeighbour finds the nearest of the rows that changed last in this frame.
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

// codeChanged codes whether a row changed; own is the row's own counter.
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
		same := false // of the last field of a row that changed, if no other did
		if f < len(r.cur)-1 || !all {
			same = r.codeSame(f, col)
		}
		r.same = r.same<<1 | flag(same)
		all = all && same
		if same {
			r.noteUnchanged(f, col)
		} else if err := r.change(f, col); err != nil {
			return err
		}
		if f == r.e.turn.at {
			r.switchLargest(int(r.cur[f] - col.Min))
		}
		r.e.Charge(encoders.FieldSlot(f))
	}
	return nil
}

// codeSame codes whether a field of a row that changed did not.
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
	if r.was[f] == 0 || !column.IsNumber(c.kind) {
		return 0
	}
	return length(c.difference(c.apply(r.start[f], r.was[f]), r.start[f]))
}

// noteUnchanged records that a field did not change.
func (r *rowState) noteUnchanged(f int, col *fieldPlan) {
	r.cur[f] = r.base[f]
	if column.IsNumber(col.kind) {
		r.acceleration[f] = -r.was[f]
		r.missedBy(f, r.ahead)
	}
}

// change codes a field that changed.
func (r *rowState) change(f int, col *fieldPlan) error {
	if err := r.e.Err(); err != nil {
		return err
	}
	switch {
	case column.IsNumber(col.kind):
		r.number(f, col)
	case col.kind == frame.Bits:
		r.bits(f)
	default:
		r.symbol(f, col)
	}
	if !col.Admits(r.cur[f]) {
		return column.Error(r.e.schema, f, int64(r.cur[f]))
	}
	if r.cur[f] == r.base[f] {
		return fmt.Errorf("field %s: %w", r.e.schema.Fields[f].Name, errUnchanged)
	}
	return nil
}

// idleClass returns the class of n packets without a change.
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

// length returns the bits of |v|.
func length(v int32) int { return bits.Len32(magnitude(v)) }

// flag returns 1 for true, as a part of a context.
func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }
