package states

import (
	"wirelab/dataset/frame"
)

const (
	modelBits  = 16
	bookBits   = 18
	weightBits = 11
	recordBits = 7
	forever    = 255
	mostSlots  = 256 // of a part

	// mostMemory is what a memo may take. Histories get what models and rows leave of it.
	mostMemory = 256 << 10
	models     = 2<<modelBits + 34<<weightBits + 128<<recordBits
	rowSize    = 6
	cellSize   = 8
	slotSize   = 96
	fieldSize  = 72
	groupSize  = 3 * 72
)

// memo is the memo of a frame: what is remembered of its rows, and the state of adaptive
// models. It is a pure function of the frame, its reference and the reference's memo.
type memo struct {
	count   uint32 // frames of the chain
	pace    int64  // of Now, a tick, in 2^-16
	lapse   int64  // time from its baseline to this frame
	rows    []rowMemo
	slot    []uint16 // by row: 1 + the slot of its history, 0: it has none
	owner   []slotMemo
	cells   []cellMemo // by slot and field
	model   []counter
	shift   uint8 // of hashes, to numbers of those
	weights []weights
	records []record
	unit    []int8 // by field: of its fixed point
	speeds  []cluster
	pushes  [][2]cluster
	steps   []cluster // by velocity
	source  uint32    // the row that a new one was made from last
}

// rowMemo is what is remembered of every row.
type rowMemo struct {
	moved uint8 // in which of the last frames it changed, the last one lowest
	idle  uint8 // frames since it changed
	since uint8 // frames since it came or went
	life  uint8 // and how long that was before
}

// slotMemo is what is remembered of a row that changes.
type slotMemo struct {
	row   int32
	stamp uint32 // when it was last used
	drive [2]drive
	rest  [2 * maxAxes]int64 // what a place may have been before it was rounded, less what it is
}

// cellMemo is what is remembered of a value of such a row.
type cellMemo struct {
	old   int32 // before its last change
	moved uint8
	idle  uint8
	miss  uint8 // half octaves of the last residual, and its class
	best  uint8 // the expert that was nearest
}

func newMemo(p *plan) *memo {
	m := &memo{pace: 1 << 16, rows: make([]rowMemo, p.rows), slot: make([]uint16, p.rows), owner: make([]slotMemo, p.slots),
		cells: make([]cellMemo, p.cells), model: make([]counter, 1<<modelBits), shift: 32 - modelBits, weights: make([]weights, 1<<weightBits),
		records: make([]record, 1<<recordBits), unit: make([]int8, p.fields), speeds: make([]cluster, len(p.groups)),
		pushes: make([][2]cluster, len(p.groups)), steps: make([]cluster, p.velocities)}
	for i := range m.rows {
		m.rows[i] = rowMemo{idle: forever, since: forever, life: forever}
	}
	for i := range m.owner {
		m.owner[i].row = -1
	}
	for i := range m.model {
		m.model[i] = newCounter
	}
	for i := range m.weights {
		for j := range m.weights[i].Of {
			m.weights[i].Of[j] = firstWeight
		}
	}
	for i := range m.records {
		m.records[i] = newRecord()
	}
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
	m.shift = past.shift
	m.count, m.pace, m.lapse, m.source = past.count+1, past.pace, past.lapse, past.source
	m.rows = append(m.rows[:0], past.rows...)
	m.slot = append(m.slot[:0], past.slot...)
	m.owner = append(m.owner[:0], past.owner...)
	m.cells = append(m.cells[:0], past.cells...)
	m.model = append(m.model[:0], past.model...)
	m.weights = append(m.weights[:0], past.weights...)
	m.records = append(m.records[:0], past.records...)
	m.unit = append(m.unit[:0], past.unit...)
	m.speeds = append(m.speeds[:0], past.speeds...)
	m.pushes = append(m.pushes[:0], past.pushes...)
	m.steps = append(m.steps[:0], past.steps...)
}

// find returns the slot of a row; -1 if it has none.
func (m *memo) find(row int) int { return int(m.slot[row]) - 1 }

// claim returns the slot of a row, which takes that of the row of its part that has not
// changed for longest if it has none.
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
