package bits

import (
	"cmp"
	"slices"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// stackUnit is the unit of the stacked areas.
type stackUnit uint8

const (
	byKbps    stackUnit = iota
	byShare             // percent of the payload
	byChanged           // bits per changed item
	numUnits
)

// budgetModel is the state of the page: the lanes compared, the slots listed, the unit and the
// selected slot.
type budgetModel struct {
	axis         panes.TimeAxis
	snap         *engine.Snapshot
	lanes        []engine.Lane
	total        encoders.Budget // units per slot in the visible time, all shown lanes together; see sumBudgets
	slots        []encoders.Slot // slots that a shown lane charged, in slot order or by cost
	byCost       bool            // slots is sorted by cost, largest first
	unit         stackUnit
	selected     int                   // selected slot; -1 means none
	onlySelected bool                  // the charts show the selected slot only
	shadowChoice *panes.SelectedShadow // which shadows are compared with the active encoder; shared by all pages
	shadowsShown []int                 // lane indices of those shadows when the page was last drawn
	numChanges   int                   // how often the budgets changed
}

// observe stores the snapshot of the view and reports whether the page changes. While time advances the
// page changes only when a redraw is due and the output can take it, or at once after a change by the user.
func (m *budgetModel) observe(v room.View) bool {
	hasOtherLanes := len(v.Snap.Lanes) == 0 || len(m.lanes) != len(v.Snap.Lanes) || !slices.Equal(m.shadowsShown, m.shadowChoice.Indices(m.lanes))
	m.axis.Changed = m.axis.Changed || m.snap == nil || hasOtherLanes
	v.RedrawDue = !v.Running() || v.RedrawDue && v.CanRedrawAll
	samples := v.ActiveLane().Samples
	if !m.axis.Observe(v, panes.EndOf(samples), len(samples)) {
		return false
	}
	m.snap, m.lanes = v.Snap, v.Snap.Lanes
	if m.axis.Crosshair > 0 {
		m.lanes = slices.Clone(m.lanes)
		for i := range m.lanes {
			m.lanes[i].Recent = meters.RecentOf(meters.Between(m.lanes[i].Samples, 0, m.axis.Crosshair), m.snap.Schema.TickHz)
		}
	}
	m.shadowsShown = m.shadowChoice.Indices(m.lanes)
	m.sumBudgets()
	m.listSlots()
	if m.selectedRow() < 0 { // the selected slot is no longer charged
		m.selected, m.onlySelected = -1, false
	}
	return true
}

// listSlots sets m.slots to the slots that were charged, in slot order or by cost.
func (m *budgetModel) listSlots() {
	m.slots = m.slots[:0]
	for k, u := range m.total.Units {
		if u > 0 {
			m.slots = append(m.slots, encoders.Slot(k))
		}
	}
	if m.byCost {
		slices.SortStableFunc(m.slots, func(a, b encoders.Slot) int { return cmp.Compare(m.total.Units[b], m.total.Units[a]) })
	}
}

// sumBudgets sets m.total to the sum of the budgets of the shown lanes over the visible time, so that a slot
// keeps its row in the table while it is visible in the charts.
func (m *budgetModel) sumBudgets() {
	m.total = encoders.Budget{}
	for _, l := range m.shownLanes() {
		m.total.Add(&l.Recent.Budget)
		recent := meters.Tail(l.Samples, m.axis.Span())
		for i := range recent {
			m.total.Add(&recent[i].Budget)
		}
	}
}

// largestSlots returns the n slots of list with the largest costs, and the others.
func (m *budgetModel) largestSlots(list []encoders.Slot, n int) (largest, others []encoders.Slot) {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b encoders.Slot) int { return cmp.Compare(m.total.Units[b], m.total.Units[a]) })
	return order[:n], order[n:]
}

// othersName names several slots.
func (m *budgetModel) othersName(others []encoders.Slot) string {
	n := 0
	for _, k := range others {
		n += k.Fields(m.snap.Schema)
	}
	return panes.OthersName(n)
}

// active returns the lane of the active encoder, nil before the first frame.
func (m *budgetModel) active() *engine.Lane {
	if len(m.lanes) == 0 {
		return nil
	}
	return &m.lanes[0]
}

// shownLanes returns the lane of the active encoder and those of the selected shadows; nil before the first frame.
func (m *budgetModel) shownLanes() (list []*engine.Lane) {
	if active := m.active(); active != nil {
		list = append(list, active)
	}
	for _, i := range m.shadowChoice.Indices(m.lanes) {
		list = append(list, &m.lanes[i])
	}
	return list
}

// selectedRow returns the index of the selected slot in slots; -1 without a selection.
func (m *budgetModel) selectedRow() int {
	return slices.IndexFunc(m.slots, func(k encoders.Slot) bool { return int(k) == m.selected })
}

// moveSelection moves the selection by n slots. Without a selection it starts at the first slot.
func (m *budgetModel) moveSelection(n int) {
	if len(m.slots) == 0 {
		return
	}
	// Without a selection the row is -1, before the first slot, so that down selects it.
	row := min(max(m.selectedRow()+n, 0), len(m.slots)-1)
	m.selected = int(m.slots[row])
}

// changeUnit selects the unit n units after the current one, or before it if n is negative, cyclically.
func (m *budgetModel) changeUnit(n int) {
	m.unit = stackUnit((int(m.unit) + int(numUnits) + n%int(numUnits)) % int(numUnits))
}

// schemaAndItem returns the schema of the data, nil before the first frame, and the name of an item, such as "cube".
func (m *budgetModel) schemaAndItem() (*frame.Schema, string) {
	if m.snap == nil {
		return nil, "item"
	}
	return m.snap.Schema, cmp.Or(m.snap.Item, "item")
}

// perItem returns what the third unit is per: "changed cube", or "byte". perShort is shorter: "changed", or "byte".
func (m *budgetModel) perItem() string  { return panes.PerItemUnit(m.schemaAndItem()) }
func (m *budgetModel) perShort() string { return panes.PerItemShort(m.perItem()) }
