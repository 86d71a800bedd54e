package bits

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// page is page 2: the bit budget of the active encoder and of a shadow, over time and as a table.
type page struct {
	budget  *budgetModel
	stacks  [2]*stack // of the active encoder and of the shadow
	table   *room.Slot
	charts  [2]*room.Slot
	summary *room.Slot
	w, h    int // size of the page, as last drawn
	places  []room.Place
}

// New returns the page. shadowChoice selects the shadow that is compared with the active encoder; all pages
// share it.
func New(shadowChoice *panes.SelectedShadow) *page {
	p := &page{budget: &budgetModel{shadowChoice: shadowChoice, selected: -1}, summary: room.NewSlot(&panes.SummaryLine{})}
	p.table = room.NewSlot(&table{p.budget})
	for i := range p.stacks {
		p.stacks[i] = &stack{budgetModel: p.budget, index: i}
		p.charts[i] = room.NewSlot(p.stacks[i])
	}
	return p
}

func (p *page) Name() string { return "Bits" }

// Observe implements room.Observer.
func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	if p.budget.observe(v) {
		p.redraw()
	}
	return changed || !p.table.UpToDate
}

// redraw marks all panes for redrawing.
func (p *page) redraw() {
	p.table.Redraw()
	p.charts[0].Redraw()
	p.charts[1].Redraw()
}

// recompute sums the budgets again and redraws, after the visible time or the shadow changed.
func (p *page) recompute() {
	p.budget.sumBudgets()
	p.redraw()
}

// Lines implements room.Page. A small screen shows one chart above the table.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.w, p.h = w, h
	if room.Wide(w, h) {
		p.places = p.layOut(w, h)
		return room.RenderPlaces(th, p.places, h, nil, nil) // no pane is focused, and none is highlighted
	}
	const summaryRows = 1
	tableRows := len(p.budget.slots) + 5 // with border, heading, sum and verdict
	tableRows = min(max(tableRows, 8), (h-summaryRows)*6/10)
	visibleChart := p.charts[0]
	if p.budget.showShadow && p.budget.shadow() != nil {
		visibleChart = p.charts[1]
	}
	p.places = []room.Place{visibleChart.Place(0, summaryRows, w, h-summaryRows-tableRows), p.table.Place(0, h-tableRows, w, tableRows)}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	lines = append(lines, visibleChart.Render(th, w, h-summaryRows-tableRows, look.Unfocused)...)
	return append(lines, p.table.Render(th, w, tableRows, look.Unfocused)...)
}

// layOut places the panes on a large screen: the charts on the left, the table on the right.
func (p *page) layOut(w, h int) []room.Place {
	right := widthWithShadow
	if p.budget.shadow() == nil {
		right = widthAlone
	}
	left := w - right
	if p.budget.shadow() == nil {
		return []room.Place{p.charts[0].Place(0, 0, left, h), p.table.Place(left, 0, right, h)}
	}
	upper := (h + 1) / 2
	return []room.Place{p.charts[0].Place(0, 0, left, upper), p.charts[1].Place(0, upper, left, h-upper), p.table.Place(left, 0, right, h)}
}

// Focus selects the next shadow, or the previous one if step is -1. On a small screen, which has one
// chart, the active encoder is one of the choices.
func (p *page) Focus(step int) {
	b := p.budget
	n := len(b.lanes)
	switch {
	case n < 2: // no shadows
		return
	case !room.Wide(p.w, p.h):
		lane := 0 // whose chart is visible; 0 is the active encoder
		if b.showShadow {
			lane = b.shadowChoice.Index(b.lanes)
		}
		lane = (lane + n + step) % n
		b.showShadow = lane > 0
		b.shadowChoice.Select(b.lanes, lane)
	default:
		b.shadowChoice.Next(b.lanes, step)
	}
	p.recompute()
}

// Move selects a slot with up and down, and the unit with left and right.
func (p *page) Move(dx, dy int) room.Request {
	if dy != 0 {
		p.budget.moveSelection(dy)
	}
	if dx != 0 {
		p.budget.changeUnit(dx)
	}
	p.redraw()
	return room.Request{}
}

// Enter toggles between the selected slot only and all slots.
func (p *page) Enter() room.Request {
	if p.budget.selected < 0 {
		return room.Refusal("no field is selected; ↑ and ↓ select one")
	}
	p.budget.onlySelected = !p.budget.onlySelected
	p.redraw()
	return room.Request{}
}

// Release clears the selection and shows all slots.
func (p *page) Release() {
	p.budget.selected, p.budget.onlySelected = -1, false
	p.redraw()
}

// Zoom selects the next time span.
func (p *page) Zoom() {
	p.budget.spanIndex = (p.budget.spanIndex + 1) % len(panes.ChartSpans())
	p.recompute()
}

// Wheel implements room.Wheeler.
func (p *page) Wheel(x, y, notches int) room.Request {
	switch room.PlaceAt(p.places, x, y).Slot {
	case p.table:
		return p.Move(0, -notches)
	case p.charts[0], p.charts[1]:
		p.budget.spanIndex = panes.ZoomSpan(panes.ChartSpans(), p.budget.spanIndex, p.budget.available(), notches)
		p.recompute()
	}
	return room.Request{}
}

// Bindings implements room.Binder.
func (p *page) Bindings() []room.Binding {
	next := func() room.Request {
		if len(p.budget.lanes) < 3 { // the active encoder and at most one shadow
			return room.Request{Notice: "w selects another shadow, but there are fewer than two; v adds one"}
		}
		p.budget.shadowChoice.Next(p.budget.lanes, 1)
		p.recompute()
		return room.Request{}
	}
	return []room.Binding{room.Bind("Bits, page 2", []string{"w"}, "w", "compare with the next shadow", next)}
}

// Arrows implements room.Hinter.
func (p *page) Arrows() [][2]string {
	if p.budget.selected < 0 {
		return [][2]string{{"↑↓", "field"}, {"←→", "kbps, share, bits/changed"}}
	}
	return [][2]string{{"↑↓", "field"}, {"enter", "only this"}, {"←→", "kbps, share, bits/changed"}}
}

// KeyHelp implements room.Explainer.
func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select a field", "left": "kbps, share of the bits, or bits per changed item",
		"enter": "show the selected field only, or all", "tab": "compare with the next shadow", "z": "time span; dots or lines; the axis always begins at 0",
		"esc": "show all fields"}[key]
}
