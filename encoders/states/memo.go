package states

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

const (
	maxAge   = 255 // ages saturate here
	maxSlots = 256 // maximum number of slots of a part

	// defaultMemory bounds a memo, in bytes, unless the user chose another size.
	defaultMemory = 256 << 10

	// Upper bounds of the sizes of a memo's parts, in bytes; TestMemoryIsBounded checks them.
	rowBytes     = 6
	cellBytes    = 8
	slotBytes    = 96
	clusterBytes = 72
	groupBytes   = 3 * 72
)

// modelSize holds the logarithms of the numbers of counters, error distributions and weight sets.
type modelSize struct{ counterBits, errorBits, weightBits int }

// newModelSize returns the model of a memo of at most memory bytes, half of which are counters.
func newModelSize(memory int) modelSize {
	counterBits := bits.Len(uint(memory/4)) - 1 // a counter takes 2 bytes
	return modelSize{counterBits: counterBits, errorBits: counterBits - 9, weightBits: min(counterBits-5, 11)}
}

// bytes returns the size of the model: counters of 2 bytes, error distributions of 128, sets of weights of 34.
func (s *modelSize) bytes() int { return 2<<s.counterBits + 128<<s.errorBits + 34<<s.weightBits }

// A memo holds the coder's state after a frame: the histories of its rows, and the adaptive models.
// It is a pure function of the frame, its baseline and the baseline's memo, so sender and receiver
// always have the same one. Encoding a frame copies the baseline's memo and updates the copy.
type memo struct {
	frames     uint32 // number of memos before this one in the chain of baselines; also the seed of stochastic rounding
	elapsed    int64  // time from the baseline to this frame; see coder.codeTime
	lastSource uint32 // 1 + the index within its part of the last source row; 0 if none
	rows       []rowHistory
	slotByRow  []uint16      // 1 + the index in slots of the row's history; 0 if it has none
	slots      []slotHistory // histories of plan.historySlots rows, ordered by part
	cells      []cellHistory // histories of the values in rows with a slot: by slot, then by field of the part
	model
}

// A model is the part of a memo that does not refer to rows.
type model struct {
	timePerTick int64                     // increase of the field of role Now per tick, in units of 2^-16
	counters    []rangecoder.StateCounter // 1<<modelSize.counterBits
	weights     []rangecoder.StateWeights
	errors      []errorDist  // 1<<modelSize.errorBits distributions, selected by a hash
	units       []int8       // by field: exponent of its fixed point; see fixed.go
	speeds      []cluster    // by group: frequent speeds that pushes reach, along their direction
	pushes      [][2]cluster // by group: lengths of pushes, with drag and without; see slotHistory.lastPush
	steps       []cluster    // by fieldPlan.stepCluster: frequent changes of velocities
}

// A rowHistory is kept for every row. Ages are in frames of the chain, up to maxAge.
type rowHistory struct {
	changes         uint8 // flags: whether the row changed in the last 8 frames, the last in bit 0
	unchangedFor    uint8 // frames since the row changed
	presenceAge     uint8 // frames since it appeared or vanished
	lastPresenceAge uint8 // presenceAge when it last appeared or vanished
}

// A slotHistory is kept for rows that changed recently, as long as they keep their slot.
type slotHistory struct {
	row      int32   // index of the row; -1 if the slot is free
	lastUsed uint32  // value of memo.frames when the row last changed
	lastPush [2]push // in driven groups: the last push, derived with drag (index 0) and without (1)

	// rounding holds bounds of the exact position minus the rounded one, by axis: lower bound, upper
	// bound. See row.narrowRounding.
	rounding [2 * maxAxes]int64
}

// A cellHistory is the history of a value of a row that has a slot.
type cellHistory struct {
	old       int32 // value before the last change; of a vanished row the last value
	changes   uint8 // flags: whether the value changed when its row changed, the last in bit 0
	residual  uint8 // size of the last residual, in octaves
	bestInput uint8 // predictor.input of the predictor that was nearest to the last value
}

// newMemo returns the initial memo of a plan.
func newMemo(p *plan) *memo {
	m := &memo{rows: make([]rowHistory, p.rows), slotByRow: make([]uint16, p.rows), slots: make([]slotHistory, p.historySlots),
		cells: make([]cellHistory, p.historyCells), model: model{
			timePerTick: 1 << 16 /* one unit per tick */, counters: make([]rangecoder.StateCounter, 1<<p.sizes.counterBits),
			weights: make([]rangecoder.StateWeights, 1<<p.sizes.weightBits), errors: make([]errorDist, 1<<p.sizes.errorBits),
			units: make([]int8, p.fields), speeds: make([]cluster, len(p.groups)), pushes: make([][2]cluster, len(p.groups)),
			steps: make([]cluster, p.velocities)}}
	rangecoder.Fill(m.rows, rowHistory{unchangedFor: maxAge, presenceAge: maxAge, lastPresenceAge: maxAge})
	rangecoder.Fill(m.slots, slotHistory{row: -1})
	rangecoder.Fill(m.counters, rangecoder.NewStateCounter)
	rangecoder.Fill(m.weights, rangecoder.NewStateWeights())
	rangecoder.Fill(m.errors, newErrorDist())
	for i := range m.units {
		m.units[i] = integerUnit
		if p.columns[i].kind == frame.Float32 {
			m.units[i] = floatReach - 1 // for values below 2, until a larger one is coded
		}
	}
	return m
}

// begin makes m a copy of past, in m's memory, and counts the frame.
func (m *memo) begin(past *memo) {
	m.frames, m.elapsed, m.lastSource = past.frames+1, past.elapsed, past.lastSource
	m.rows = append(m.rows[:0], past.rows...)
	m.slotByRow = append(m.slotByRow[:0], past.slotByRow...)
	m.slots = append(m.slots[:0], past.slots...)
	m.cells = append(m.cells[:0], past.cells...)
	m.model.copyFrom(&past.model)
}

// copyFrom makes m a copy of past, in m's memory.
func (m *model) copyFrom(past *model) {
	m.timePerTick = past.timePerTick
	m.counters = append(m.counters[:0], past.counters...)
	m.weights = append(m.weights[:0], past.weights...)
	m.errors = append(m.errors[:0], past.errors...)
	m.units = append(m.units[:0], past.units...)
	m.speeds = append(m.speeds[:0], past.speeds...)
	m.pushes = append(m.pushes[:0], past.pushes...)
	m.steps = append(m.steps[:0], past.steps...)
}

// findSlot returns the index of a row's slot; -1 if it has none.
func (m *memo) findSlot(row int) int { return int(m.slotByRow[row]) - 1 }

// claimSlot returns the index of a row's slot and marks the slot as used now. A row without a slot
// gets a free one of its part q, or that of the row of the part that has not changed for longest; its
// history starts empty. base holds the part's fields of the row in the baseline.
func (m *memo) claimSlot(row int, q *part, base []int32) int {
	if n := m.findSlot(row); n >= 0 {
		m.slots[n].lastUsed = m.frames
		return n
	}
	chosen := q.firstSlot // a free slot, or the one used longest ago
	for i := q.firstSlot; i < q.firstSlot+q.slots; i++ {
		if m.slots[i].row < 0 {
			chosen = i
			break
		}
		if m.slots[i].lastUsed < m.slots[chosen].lastUsed {
			chosen = i
		}
	}
	slot := &m.slots[chosen]
	if slot.row >= 0 { // the row that had the slot loses its history
		m.slotByRow[slot.row] = 0 // 0: no slot; otherwise 1 + the index of the slot
	}
	*slot = slotHistory{row: int32(row), lastUsed: m.frames}
	m.slotByRow[row] = uint16(chosen + 1)
	for i, v := range base {
		m.slotCells(chosen, q)[i] = cellHistory{old: v}
	}
	return chosen
}

// slotCells returns the histories of the values of the row that has a slot of part q, by field of the part.
func (m *memo) slotCells(slot int, q *part) []cellHistory {
	return m.cells[q.firstCell+(slot-q.firstSlot)*q.fields:][:q.fields]
}
