package states

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

const (
	counterBits = 16
	errorBits   = 7
	forever     = 255
	maxSlots    = 256 // of a part

	// maxMemory bounds a memo, in bytes. Histories of rows share what the models leave.
	maxMemory = 256 << 10
	models    = 2<<counterBits + 34<<rangecoder.StateWeightBits + 128<<errorBits
	rowSize   = 6
	cellSize  = 8
	slotSize  = 96
	fieldSize = 72
	groupSize = 3 * 72
)

// memo is the memo of a frame: the history of its rows, and the state of adaptive models. It is
// a pure function of the frame, its reference and the reference's memo.
type memo struct {
	count  uint32 // frames of the chain
	lapse  int64  // time from its baseline to this frame
	source uint32 // 1 + the row, within its part, that the last new row was made from
	rows   []rowMemo
	slot   []uint16 // by row: 1 + the slot of its history; 0 if it has none
	owner  []slotMemo
	cells  []cellMemo // by slot and field
	learnt
}

// learnt is the part of a memo that another match can begin with.
type learnt struct {
	pace     int64 // time per tick, in 2^-16
	counters []rangecoder.StateCounter
	weights  []rangecoder.StateWeights
	errors   []errorDist
	unit     []int8 // by field: of its fixed point
	speeds   []cluster
	pushes   [][2]cluster
	steps    []cluster // by velocity
}

// rowMemo is the history of a row.
type rowMemo struct {
	moved uint8 // in which of the last frames it changed, the last in the lowest bit
	idle  uint8 // frames since it changed
	since uint8 // frames since it appeared or vanished
	life  uint8 // frames from then to the time before that it did
}

// slotMemo is the history of a row that changes, as long as it has a slot.
type slotMemo struct {
	row   int32
	stamp uint32 // the frame in which it was last used
	drive [2]drive
	// rest bounds what each coordinate was before it was rounded, less what it is now.
	rest [2 * maxAxes]int64
}

// cellMemo is the history of a value of such a row.
type cellMemo struct {
	old   int32 // the value before its last change
	moved uint8 // as in rowMemo
	idle  uint8
	miss  uint8 // half octaves of the last residual
	best  uint8 // the predictor that was nearest
}

func newMemo(p *plan) *memo {
	m := &memo{rows: make([]rowMemo, p.rows), slot: make([]uint16, p.rows), owner: make([]slotMemo, p.slots),
		cells: make([]cellMemo, p.cells), learnt: learnt{
			pace: 1 << 16, counters: make([]rangecoder.StateCounter, 1<<counterBits),
			weights: make([]rangecoder.StateWeights, 1<<rangecoder.StateWeightBits), errors: make([]errorDist, 1<<errorBits),
			unit: make([]int8, p.fields), speeds: make([]cluster, len(p.groups)), pushes: make([][2]cluster, len(p.groups)),
			steps: make([]cluster, p.velocities)}}
	rangecoder.Fill(m.rows, rowMemo{idle: forever, since: forever, life: forever})
	rangecoder.Fill(m.owner, slotMemo{row: -1})
	rangecoder.Fill(m.counters, rangecoder.NewStateCounter)
	rangecoder.Fill(m.weights, rangecoder.NewStateWeights())
	rangecoder.Fill(m.errors, newErrorDist())
	for i := range m.unit {
		m.unit[i] = integerUnit
		if p.cols[i].kind == frame.Float32 {
			m.unit[i] = floatReach - 1
		}
	}
	return m
}

// begin copies past into m.
func (m *memo) begin(past *memo) {
	m.count, m.lapse, m.source = past.count+1, past.lapse, past.source
	m.rows = append(m.rows[:0], past.rows...)
	m.slot = append(m.slot[:0], past.slot...)
	m.owner = append(m.owner[:0], past.owner...)
	m.cells = append(m.cells[:0], past.cells...)
	m.learnt.copyFrom(&past.learnt)
}

// copyFrom makes l a copy of past, in l's memory.
func (l *learnt) copyFrom(past *learnt) {
	l.pace = past.pace
	l.counters = append(l.counters[:0], past.counters...)
	l.weights = append(l.weights[:0], past.weights...)
	l.errors = append(l.errors[:0], past.errors...)
	l.unit = append(l.unit[:0], past.unit...)
	l.speeds = append(l.speeds[:0], past.speeds...)
	l.pushes = append(l.pushes[:0], past.pushes...)
	l.steps = append(l.steps[:0], past.steps...)
}

// find returns the slot of a row; -1 if it has none.
func (m *memo) find(row int) int { return int(m.slot[row]) - 1 }

// claim returns the slot of a row. A row without one takes a free slot of its part, or that of
// the row that has not changed for longest.
func (m *memo) claim(row int, q *part, base []int32) int {
	if n := m.find(row); n >= 0 {
		m.owner[n].stamp = m.count
		return n
	}
	oldest := q.slot
	for i := q.slot; i < q.slot+q.slots; i++ {
		if m.owner[i].row < 0 {
			oldest = i
			break
		}
		if m.owner[i].stamp < m.owner[oldest].stamp {
			oldest = i
		}
	}
	o := &m.owner[oldest]
	if o.row >= 0 {
		m.slot[o.row] = 0
	}
	*o = slotMemo{row: int32(row), stamp: m.count}
	m.slot[row] = uint16(oldest + 1)
	for i, v := range base {
		m.of(oldest, q)[i] = cellMemo{idle: forever, old: v}
	}
	return oldest
}

// of returns the cells of a slot of a part.
func (m *memo) of(slot int, q *part) []cellMemo {
	return m.cells[q.cell+(slot-q.slot)*q.fields:][:q.fields]
}
