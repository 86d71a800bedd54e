package bits

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// maxCharts is the largest number of lanes with a chart; minChartRows is the smallest height of one of several.
const maxCharts, minChartRows = 4, 8

// page is page 2: the bit budget of the active encoder and of shadows, over time and as a table.
type page struct {
	budget  *budgetModel
	table   *room.Slot
	charts  [maxCharts]*room.Slot // of the shown lanes, the active encoder first
	summary *room.Slot
	rows    *room.Slot // of rowList
	rowList *rowList
	w, h    int // size of the page, as last drawn
	places  []room.Place

	maximised maximised
}

// maximised is which part of the page fills it.
type maximised uint8

const (
	allPanes maximised = iota
	chartsOnly
	tableOnly
	numMaximised
)

// New returns the page. shadowChoice selects the shadow that is compared with the active encoder; all pages
// share it.
func New(shadowChoice *panes.SelectedShadow) *page {
	p := &page{budget: &budgetModel{shadowChoice: shadowChoice, selected: -1}, summary: room.NewSlot(&panes.SummaryLine{})}
	p.table = room.NewSlot(&table{budgetModel: p.budget})
	p.rowList = &rowList{}
	p.rows = room.NewSlot(p.rowList)
	for i := range p.charts {
		p.charts[i] = room.NewSlot(&stack{budgetModel: p.budget, index: i})
	}
	return p
}

func (p *page) Name() string { return "Bits" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	if p.budget.observe(v) {
		p.redraw()
	}
	return p.rows.Observe(v) || changed || !p.table.UpToDate
}

// redraw marks all panes for redrawing.
func (p *page) redraw() {
	p.table.Redraw()
	for _, c := range p.charts {
		c.Redraw()
	}
}

// recompute sums the budgets again and redraws, after the visible time or the shadow changed.
func (p *page) recompute() {
	p.budget.sumBudgets()
	p.budget.listSlots()
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
	if p.maximised == tableOnly {
		p.places = []room.Place{p.table.Place(0, summaryRows, w, h-summaryRows)}
		return append(p.summary.Render(th, w, summaryRows, look.Unfocused)[:1:1], p.table.Render(th, w, h-summaryRows, look.Unfocused)...)
	}
	tableRows := len(p.budget.slots) + 5 // with border, heading, sum and verdict
	tableRows = min(max(tableRows, 8), (h-summaryRows)*6/10)
	if p.maximised == chartsOnly {
		tableRows = 0
	}
	visibleChart := p.charts[0]
	if p.budget.showShadow && p.budget.shadow() != nil {
		visibleChart = p.charts[1]
	}
	if p.showsRows() {
		visibleChart = p.rows
	}
	p.places = []room.Place{visibleChart.Place(0, summaryRows, w, h-summaryRows-tableRows), p.table.Place(0, h-tableRows, w, tableRows)}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	lines = append(lines, visibleChart.Render(th, w, h-summaryRows-tableRows, look.Unfocused)...)
	if tableRows > 0 {
		lines = append(lines, p.table.Render(th, w, tableRows, look.Unfocused)...)
	}
	return lines
}

// Maximise implements room.Maximiser: the charts alone, then the table alone, then both.
func (p *page) Maximise() { p.maximised = (p.maximised + 1) % numMaximised }

// layOut places the panes on a large screen: the charts on the left, the table on the right.
func (p *page) layOut(w, h int) []room.Place {
	const minWideChart = 96 // of charts beside a table with longer names
	lanes := max(len(p.budget.shownLanes()), 1)
	if p.maximised == tableOnly {
		return []room.Place{p.table.Place(0, 0, w, h)}
	}
	right := tableWidth(lanes, w)
	right += max(min(p.budget.missingNameWidth(), w-right-minWideChart), 0)
	if p.maximised == chartsOnly {
		right = 0
	}
	left := w - right
	charts := max(min(lanes, maxCharts, h/minChartRows), 1)
	lower := 0
	if p.showsRows() { // below the charts
		lower = min(rowListHeight, h/2)
		charts = max(min(lanes, maxCharts, (h-lower)/minChartRows), 1)
	}
	upper := h - lower
	var places []room.Place
	for i := range charts {
		top, bottom := (upper*i+charts-1)/charts, (upper*(i+1)+charts-1)/charts
		places = append(places, p.charts[i].Place(0, top, left, bottom-top))
	}
	if lower > 0 {
		places = append(places, p.rows.Place(0, upper, left, lower))
	}
	if right == 0 {
		return places
	}
	return append(places, p.table.Place(left, 0, right, h))
}

// showsRows reports whether the page lists the most expensive rows.
func (p *page) showsRows() bool { return p.rowList.costs != nil }

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
func (p *page) Release() room.Request {
	p.budget.selected, p.budget.onlySelected = -1, false
	p.redraw()
	return room.Request{}
}

// Zoom selects the next time span.
func (p *page) Zoom() {
	p.budget.spanIndex = (p.budget.spanIndex + 1) % len(panes.ChartSpans())
	p.recompute()
}

func (p *page) Span() time.Duration { return p.budget.span() }

func (p *page) Wheel(x, y, notches int) room.Request {
	switch room.PlaceAt(p.places, x, y).Slot {
	case p.table:
		return p.Move(0, -notches)
	case nil, p.rows: // outside of all panes, or over ten rows that do not scroll
	default: // a chart; all share a time axis
		p.budget.spanIndex = panes.ZoomSpan(panes.ChartSpans(), p.budget.spanIndex, p.budget.available(), notches)
		p.recompute()
	}
	return room.Request{}
}

func (p *page) Bindings() []room.Binding {
	const group = "Bits, page 2"
	hasChoice := func() bool { return len(p.budget.lanes) > 2 } // beside the active encoder at least two shadows
	choose := func() room.Request {
		if !hasChoice() {
			return room.Request{Notice: "w chooses the shadows to compare with, but there are fewer than two; v adds one"}
		}
		return room.Request{Overlay: &laneBox{page: p}}
	}
	sort := func() room.Request {
		p.budget.byCost = !p.budget.byCost
		p.recompute()
		return room.Request{}
	}
	return []room.Binding{
		room.Bind(group, []string{"o"}, "o", "sort the fields by cost, or in their order", sort).InFooter("sort"),
		room.Bind(group, []string{"w"}, "w", "choose the shadows to compare with, also several", choose).InFooter("lanes").
			Unless(func() bool { return !hasChoice() }),
		panes.RowCostBinding(group, "the ten rows on which most bits were spent in the last 2 s; page 4 shows all as a heat map", p.showsRows),
	}
}

func (p *page) Arrows() [][2]string {
	if p.budget.selected < 0 {
		return [][2]string{{"↑↓", "field"}, {"←→", "kbps, share, bits/changed"}}
	}
	return [][2]string{{"↑↓", "field"}, {"enter", "only this"}, {"←→", "kbps, share, bits/changed"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select a field", "left": "kbps, share of the bits, or bits per changed item",
		"enter": "show the selected field only, or all", "tab": "compare with the next shadow",
		"esc": "show all fields"}[key]
}
