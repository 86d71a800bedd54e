package rows

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// The kinds of decisions. They are part of contexts, so that each kind has its own counters.
const (
	decisionRow = iota + 1
	decisionUnchanged
	decisionLength
	decisionSign
	decisionTopBits
	decisionSymbol
	decisionBits
	decisionBody
	decisionTime
	decisionStray
	decisionVanished
	decisionSource
	decisionGuess
	decisionClass
	decisionPush

	newRowDecision = 1 << 31 // added in new rows
)

// Nodes number the decisions of a field, up to 63. Those of trees begin at the first.
const (
	longLengthNode = 16
	symbolNode     = 16
	signNode       = 48
	topNode        = 48 // with the known bits 1 to 3
	bitNode        = 52
	unchangedNode  = 53
	classNode      = 54 // first of five
	guessNode      = 58 // first of five

	// Of decisions that belong to no field.
	rowNode    = 1
	bodyNode   = 2
	timeNode   = 3
	strayNode  = 4
	vanishNode = 5
	sourceNode = 6 // with the number of the bit, up to 15
)

var errUnchanged = errors.New("marked as changed, but equal to the baseline")

// A rowState is the row being coded. A row that changed is coded as a flag whether it vanished: all fields
// of its part become 0. A row that existed then has a flag for each field, whether it is unchanged, and the
// new values; the last field must have changed if no other has. A new row has the index of its source, and
// its fields relative to that row.
type rowState struct {
	*coder
	index       int
	part        *part
	cur, base   []int32
	history     *rowHistory
	cells       []cell // by field of the part
	rounding    *rounding
	isNew       bool   // the row is empty in base
	moved       bool   // the row changed with the baseline
	idle        uint32 // class of the time since the row changed
	typeContext uint32 // the row's part, and its value of role Type

	unchanged  uint32  // flags: whether the fields before are unchanged, the last one lowest
	symbols    uint32  // hash of all symbols of the row so far
	lastSymbol uint32  // hash of the last one
	source     []int32 // values of the source row of a new row

	// Fixed-point values by field; see number.go.
	origin      []int64 // the value in base
	lastDelta   []int64 // the change of the value before, as long as the present one
	expected    int     // length of the expected delta of the field being coded
	maxResidual int     // length of the row's longest residual so far
	moves       moves
	prediction  prediction
	turn        rotationState
}

// ageClass quantises a number of frames: exact up to 11, then increasingly coarse.
func ageClass(n uint8) uint32 {
	if n < 12 {
		return uint32(n)
	}
	length := uint32(bits.Len8(n))
	return 4 + length*2 + uint32(n)>>(length-2)&1
}

// code codes row i.
func (r *rowState) code(i int) error {
	q := &r.parts[r.partOf[i]]
	h := &r.next.rows[i]
	r.index = i
	r.part = q
	r.history = h
	r.cur = r.table[i*r.fields:][:r.fields]
	r.base = r.baseTable[i*r.fields:][:r.fields]
	r.TraceRow(i)
	r.isNew = !h.exists
	r.moved = h.unchangedFor == 0
	r.idle = ageClass(h.unchangedFor)
	r.setType(r.base)
	changed := r.codeChanged()
	r.Charge(encoders.SlotFlags)
	r.recent = r.recent<<1 | changed
	h.changes = h.changes<<1 | uint8(changed)
	h.presenceAge = min(h.presenceAge, maxAge-1) + 1
	if changed == 0 {
		h.unchangedFor = min(h.unchangedFor, maxAge-1) + 1
		return nil
	}
	h.unchangedFor = 0
	if err := r.Err(); err != nil {
		return err
	}
	return r.codeContents()
}

// setType sets typeContext from the values of the row.
func (r *rowState) setType(values []int32) {
	r.typeContext = uint32(r.partOf[r.index]) << 24
	if k := r.part.kind; k >= 0 && !r.isNew {
		r.typeContext += uint32(values[k]) + 1
	}
}

// codeChanged codes whether a row changed, apart from the time of the frame. It returns 1 if so.
func (r *rowState) codeChanged() uint32 {
	h := r.history
	x := &r.mixer
	differs := !r.Reading() && r.changed.Has(r.index)
	if differs && r.index == r.timeRow {
		k := r.timeField
		differs = !slices.Equal(r.cur[:k], r.base[:k]) || !slices.Equal(r.cur[k+1:], r.base[k+1:])
	}
	r.beginShared()
	if len(r.position) > 0 {
		distance := r.scene.nearest(r.baseTable, r.index)
		x.AddContext(decisionRow, r.idle, r.lastSpeed(), r.recent&7)
		x.AddContext(decisionRow, r.idle, distance, r.typeContext)
	} else {
		isNew := flag(r.isNew)
		changes := uint32(h.changes)
		x.AddContext(decisionRow, r.typeContext, changes&15, isNew)
		x.AddContext(decisionRow, r.typeContext, ageClass(h.presenceAge), isNew<<8|changes&1)
		x.AddContext(decisionRow, r.typeContext, r.idle, isNew<<8|r.recent&3)
	}
	return uint32(x.BitWith(r.index, rowNode, rangecoder.Flag(differs)))
}

// lastSpeed returns the length of the last change of the row's position; 0 if the row did not change with
// base.
func (r *rowState) lastSpeed() uint32 {
	if !r.moved {
		return 0
	}
	return uint32(min(bits.Len32(r.speedOf(r.baseTable, r.index, r.past)), deltaLengths-1))
}

// codeContents codes the new contents of a row that changed.
func (r *rowState) codeContents() error {
	if !r.isNew {
		r.beginShared()
		r.mixer.AddContext(decisionVanished, r.typeContext, uint32(r.history.changes>>1)&15, 0)
		r.mixer.AddContext(decisionVanished, uint32(r.index), 0, 0)
		if r.mixer.Flag(vanishNode, r.part.empty(r.cur)) {
			r.Charge(encoders.SlotIndex)
			return r.clearRow()
		}
	}
	r.beginFields()
	if r.isNew {
		r.history.presenceAge = 0
		r.history.exists = true
		if err := r.codeSource(); err != nil {
			return err
		}
	}
	mayEqual := r.isNew || len(r.schema.Parts) > 0 // a row may differ in a stray only
	for i, k := range r.part.order {
		implied := i == len(r.part.order)-1 && !mayEqual
		changed, err := r.codeField(k, implied)
		if err != nil {
			return fmt.Errorf("field %s: %w", r.schema.Fields[k].Name, err)
		}
		mayEqual = mayEqual || changed
		r.TraceField(encoders.FieldSlot(k), k)
		r.Charge(encoders.FieldSlot(k))
	}
	r.next.changedRows = append(r.next.changedRows, int32(r.index))
	r.learnRounding()
	r.learnPush()
	return nil
}

// beginFields prepares the coding of the row's fields.
func (r *rowState) beginFields() {
	m := r.next
	n := m.claimSlot(r.index, r.part, r.base)
	r.cells = m.slotCells(n, r.part)
	if len(m.roundings) > 0 {
		r.rounding = &m.roundings[n]
	}
	r.unchanged = 0
	r.symbols = 0
	r.lastSymbol = 0
	r.maxResidual = 0
	r.prepareRotation()
}

// clearRow sets all fields of a row that vanished to 0. Its cells keep the old values.
func (r *rowState) clearRow() error {
	q := r.part
	r.beginFields()
	for i := range r.cells {
		k := q.firstField + i
		if err := r.checkValue(k, 0); err != nil {
			return err
		}
		r.cells[i] = cell{old: r.base[k]}
		r.cur[k] = 0
	}
	r.history.presenceAge = 0
	r.history.exists = false
	return nil
}

// codeSource codes the index of the source row within the part.
func (r *rowState) codeSource() error {
	q := r.part
	x := &r.mixer
	source := 0
	if !r.Reading() {
		source = r.chooseSource() - q.firstRow
	}
	node := uint32(1)
	for b := q.indexBits() - 1; b >= 0; b-- {
		r.beginShared()
		x.AddContext(decisionSource, node, uint32(q.firstRow), 0)
		x.AddContext(decisionSource, node, uint32(r.index), 0)
		node = node<<1 | uint32(x.Bit(sourceNode+min(b, 15), source>>b&1))
	}
	source = int(node) - 1<<q.indexBits()
	if source >= q.rows {
		return fmt.Errorf("index of the source row in its part is %d, expected less than %d",
			source, q.rows)
	}
	r.source = r.newest(q.firstRow + source)
	r.Charge(encoders.SlotIndex)
	return nil
}

// newest returns the newest fields of row i that sender and receiver have.
func (r *rowState) newest(i int) []int32 {
	table := r.baseTable
	if i < r.index {
		table = r.table
	}
	return table[i*r.fields:][:r.fields]
}

// sourceDistance is the maximum distance, in rows, of a source from the new row. It bounds the time of the
// search.
const sourceDistance = 256

// chooseSource returns the row of the part that is most similar to the new row. Only the encoder calls it.
func (r *rowState) chooseSource() int {
	q := r.part
	best := r.index
	maxScore := r.similarity(r.index)
	first := max(r.index-sourceDistance, q.firstRow)
	last := min(r.index+sourceDistance, q.firstRow+q.rows-1)
	for i := first; i <= last; i++ {
		if !r.next.rows[i].exists {
			continue
		}
		if score := r.similarity(i); score > maxScore {
			best = i
			maxScore = score
		}
	}
	return best
}

// similarity scores row i as the source of the new row: 4 for each equal field, or 1 if the value is 0.
func (r *rowState) similarity(i int) (score int) {
	q := r.part
	source := r.newest(i)
	for k := q.firstField; k < q.firstField+q.fields; k++ {
		switch {
		case r.cur[k] != source[k]:
		case r.cur[k] == 0:
			score++
		default:
			score += 4
		}
	}
	return score
}
