package rows

import (
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

const (
	maxAge        = 255 // ages and ticks saturate here
	maxWeightSets = 1 << 11
	slotsPerField = 2048 // of the mixer, if memory allows
	deltaLengths  = 12   // number of classes of the length of a delta

	// Sizes in memory, in bytes: for each row, slot, cell and field, and for all else.
	rowBytes      = 8
	slotBytes     = 56
	cellBytes     = 8
	fieldBytes    = 1 + 2*deltaLengths*predictors
	reservedBytes = 1 << 10
)

// A memo holds the coder's state after a frame: the changes since the frame's baseline, the histories of
// rows that changed recently, and the adaptive models. It is a pure function of the frame, its baseline and
// the baseline's memo.
type memo struct {
	frames      uint32 // in the chain of baselines
	ticks       int64  // from the baseline to this frame, 1..maxAge
	elapsed     int64  // the same in units of the field of role Now
	timePerTick int64  // of that field, in units of 2^-16

	rows        []rowHistory
	slotOf      []uint16 // by row: 1 + index in slots; 0 if none
	slots       []slot
	roundings   []rounding // by slot; empty if the schema has no groups
	cells       []cell     // by slot and field of its part
	changedRows []int32    // rows that differ between the baseline and this frame, ascending

	mixing  *rangecoder.MixerModel
	lengths [][deltaLengths][predictors]int16 // by field; see prediction.lengths
	units   []int8                            // by field: bits after the point of its fixed point
	pushes  []pushModel                       // by group
}

// A rowHistory is kept for every row. Ages are in frames of the chain of baselines.
type rowHistory struct {
	changes      uint8 // flags: whether the row changed, the newest lowest
	unchangedFor uint8
	presenceAge  uint8 // since it appeared or vanished
	exists       bool  // it is not empty
}

// A slot is a row's place in roundings and cells.
type slot struct {
	row      int32 // -1 if the slot is free
	lastUsed uint32
}

// A rounding holds bounds of the exact position of a row's first group minus the rounded one, two for each
// axis, in fixed point. Both are 0 if unknown.
type rounding [2 * maxAxes]int64

// A cell is the history of a value of a row that has a slot.
type cell struct {
	old      int32 // value before the last change
	residual uint8 // length of the last residual
	push     uint8 // 1 + the push that was nearest to the last value; 0 if none
	changes  uint8 // flags: whether the value changed when its row changed, the newest lowest
}

// newMemo returns the memo of a reference that has none. It takes about the given number of bytes.
func newMemo(p *plan, memory int) *memo {
	sets := maxWeightSets
	for sets*rangecoder.WeightSetBytes > memory/4 {
		sets /= 2
	}
	m := &memo{
		ticks:       1,
		timePerTick: 1 << 16,
		rows:        make([]rowHistory, p.rows),
		slotOf:      make([]uint16, p.rows),
		slots:       make([]slot, p.slots),
		cells:       make([]cell, p.cells),
		lengths:     make([][deltaLengths][predictors]int16, p.fields),
		units:       make([]int8, p.fields),
		pushes:      make([]pushModel, len(p.groups)),
	}
	if len(p.groups) > 0 {
		m.roundings = make([]rounding, p.slots)
	}
	used := sets*rangecoder.WeightSetBytes + p.rows*rowBytes + p.slots*slotBytes
	used += p.cells*cellBytes + p.fields*fieldBytes + reservedBytes
	slots := min(max(memory-used, memory/4)/rangecoder.SlotBytes, slotsPerField*p.fields)
	m.mixing = rangecoder.NewMixerModel(p.rows, slots, sets)
	for i := range m.pushes {
		rangecoder.Fill(m.pushes[i].hits[:], firstHits)
	}
	rangecoder.Fill(m.rows, rowHistory{unchangedFor: maxAge, presenceAge: maxAge})
	rangecoder.Fill(m.slots, slot{row: -1})
	for row := range p.rows {
		m.mixing.SetCounter(row, rangecoder.One/8) // most rows do not change
	}
	for k := range m.units {
		m.units[k] = integerUnit
		if p.columns[k].kind == frame.Float32 {
			m.units[k] = floatReach - 1
		}
	}
	return m
}

// begin makes m a copy of past, in m's memory, for the next frame: without changed rows.
func (m *memo) begin(past *memo, ticks int64) {
	old := *m
	*m = *past
	m.frames++
	m.ticks = ticks
	m.elapsed = ticks
	m.rows = append(old.rows[:0], past.rows...)
	m.slotOf = append(old.slotOf[:0], past.slotOf...)
	m.slots = append(old.slots[:0], past.slots...)
	m.roundings = append(old.roundings[:0], past.roundings...)
	m.cells = append(old.cells[:0], past.cells...)
	m.changedRows = slices.Grow(old.changedRows[:0], len(past.rows)) // an invalid packet cannot make it grow
	m.lengths = append(old.lengths[:0], past.lengths...)
	m.units = append(old.units[:0], past.units...)
	m.pushes = append(old.pushes[:0], past.pushes...)
	m.mixing = old.mixing
	if m.mixing == nil {
		m.mixing = new(rangecoder.MixerModel)
	}
	m.mixing.CopyFrom(past.mixing)
}

// claimSlot returns the index of a row's slot. A row without one gets a free slot of its part, or that
// which was used longest ago; its cells start with the values of base.
func (m *memo) claimSlot(row int, q *part, base []int32) int {
	if n := int(m.slotOf[row]) - 1; n >= 0 {
		m.slots[n].lastUsed = m.frames
		return n
	}
	chosen := q.firstSlot
	for i := q.firstSlot; i < q.firstSlot+q.slots; i++ {
		if q.slots == q.rows { // each row has a slot of its own
			chosen += row - q.firstRow
			break
		}
		if m.slots[i].row < 0 {
			chosen = i
			break
		}
		if m.slots[i].lastUsed < m.slots[chosen].lastUsed {
			chosen = i
		}
	}
	if evicted := m.slots[chosen].row; evicted >= 0 {
		m.slotOf[evicted] = 0
	}
	m.slots[chosen] = slot{row: int32(row), lastUsed: m.frames}
	m.slotOf[row] = uint16(chosen + 1)
	if len(m.roundings) > 0 {
		m.roundings[chosen] = rounding{}
	}
	cells := m.slotCells(chosen, q)
	for i := range cells {
		cells[i] = cell{old: base[q.firstField+i]}
	}
	return chosen
}

// slotCells returns the cells of a slot of part q, by field of the part.
func (m *memo) slotCells(slot int, q *part) []cell {
	return m.cells[q.firstCell+(slot-q.firstSlot)*q.fields:][:q.fields]
}
