package bits

import (
	"time"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// maxCharts is the largest number of lanes with a chart; minChartRows is the smallest height of one of several.
const maxCharts, minChartRows = 4, 8

// New returns the page: the bit budget of the active encoder and of shadows, over time on the left and
// as a table on the right; a small screen shows the chart of the active encoder above the table.
// shadowChoice selects the shadows that are compared with the active encoder; all pages share it.
func New(shadowChoice *panes.SelectedShadow) *room.Page {
	p := &room.Page{Name: "Bits", Top: room.NewSlot(&panes.SummaryLine{})}
	budget := &budgetModel{shadowChoice: shadowChoice, selected: -1}
	list := &rowList{}
	table := &table{budgetModel: budget, rows: list}
	// The first chart is first: its Observe updates the budget of all panes.
	charts := p.Add(&stack{budgetModel: budget}, &stack{budgetModel: budget, index: 1}, &stack{budgetModel: budget, index: 2},
		&stack{budgetModel: budget, index: 3})
	rows := p.Add(list)
	tables := p.Add(table)
	p.LayOut = func(w, h int) (places []room.Place) {
		lanes := max(len(budget.shownLanes()), 1)
		right := tableWidth(lanes, w)
		left, lower := w-right, 0
		if !list.Absent() { // below the charts
			lower = min(rowListHeight, h/2)
		}
		upper := h - lower
		n := max(min(lanes, maxCharts, upper/minChartRows), 1)
		for i := range n {
			top, bottom := (upper*i+n-1)/n, (upper*(i+1)+n-1)/n
			places = append(places, charts[i].Place(0, top, left, bottom-top))
		}
		if lower > 0 {
			places = append(places, rows[0].Place(0, upper, left, lower))
		}
		return append(places, tables[0].Place(left, 0, right, h))
	}
	p.Small = func(w, h int) []room.Place {
		tableRows := len(budget.slots) + 5 // with border, heading, sum and verdict
		tableRows = min(max(tableRows, 8), h*6/10)
		upper := charts[0]
		if !list.Absent() {
			upper = rows[0]
			tableRows = min(tableRows, h*4/10)
		}
		return []room.Place{upper.Place(0, 0, w, h-tableRows), tables[0].Place(0, h-tableRows, w, tableRows)}
	}
	return p
}

func (p *table) Observe(room.View) bool {
	changed := p.drawn != p.numChanges
	p.drawn = p.numChanges
	return changed
}

// recompute sums the budgets again, after the visible time or the shadow changed.
func (m *budgetModel) recompute() {
	m.sumBudgets()
	m.listSlots()
}

// Move selects a slot with up and down, and the unit with left and right.
func (p *table) Move(dx, dy int) room.Request {
	if dy != 0 {
		p.moveSelection(dy)
	}
	if dx != 0 {
		p.changeUnit(dx)
	}
	return room.Request{}
}

// Enter toggles between the selected slot only and all slots.
func (p *table) Enter() room.Request {
	if p.selected < 0 {
		return room.Refusal("no field is selected; up and down select one")
	}
	p.onlySelected = !p.onlySelected
	return room.Request{}
}

// Release clears the selection and shows all slots.
func (p *table) Release() room.Request {
	p.selected, p.onlySelected = -1, false
	return room.Request{}
}

// Wheel implements room.Wheeler.
func (p *table) Wheel(_, _, notches int) room.Request { return p.Move(0, -notches) }

// NextSpan implements room.Timed for all charts, which share a time axis.
func (p *table) NextSpan() {
	p.axis.NextSpan()
	p.recompute()
}

func (p *table) ZoomBy(notches int) {
	p.axis.ZoomBy(notches)
	p.recompute()
}

func (p *table) Span() time.Duration { return p.axis.Span() }

func (p *table) Bindings() []room.Binding {
	return []room.Binding{panes.RowCostBinding("the ten rows that cost most bits lately",
		func() bool { return !p.rows.Absent() })}
}

// NextSort sorts the fields by cost, or in their order.
func (p *table) NextSort() room.Request {
	p.byCost = !p.byCost
	p.recompute()
	return room.Request{}
}

// NextReference opens the list of the shadows to compare with.
func (p *table) NextReference() room.Request {
	const minLanes = 3 // the active encoder and two shadows
	if len(p.lanes) < minLanes {
		return room.Request{Notice: "r chooses the shadows to compare with, but there are fewer than two; v adds one"}
	}
	return room.Request{Overlay: p.shadowList()}
}

func (p *table) Arrows() [][2]string {
	if p.selected < 0 {
		return [][2]string{{"↑↓", "field"}, {"←→", "kbps, share, bits/" + p.perShort()}}
	}
	return [][2]string{{"↑↓", "field"}, {"enter", "only this"}, {"←→", "kbps, share, bits/" + p.perShort()}}
}

func (p *table) KeyHelp(key string) string {
	return map[string]string{"up": "select a field", "left": "kbps, share, or bits per changed item",
		"enter": "show the selected field only, or all",
		"esc":   "show all fields",
		"S":     "sort the fields by cost, or in their order",
		"r":     "choose the shadows to compare with"}[key]
}
