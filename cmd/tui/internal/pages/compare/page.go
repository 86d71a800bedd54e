package compare

import (
	"time"

	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// page is page 5. It compares all running encoders in a table, in a chart of the figure
// that the table is sorted by, and in a chart of payload ratios to the active encoder.
type page struct {
	table        *table
	charts       *panes.Charts        // the chart of the sort figure
	ratios       *panes.Charts        // the chart of payload ratios
	slots        [numSlots]*room.Slot // indexed by tableSlot, chartSlot, ratioSlot
	chartChoice  charts               // selected with c
	summary      *room.Slot
	places       []room.Place
	shadowChoice *panes.SelectedShadow // the shadow that all pages compare with the active encoder
	tableRows    int                   // height of the table; 0 if maximised
	maximised    bool                  // the charts fill the page
	chartRows    int                   // height below the table, for one chart or both
}

// Indices of page.slots.
const (
	tableSlot = iota
	chartSlot
	ratioSlot
	numSlots
)

// New returns the comparison page. The shadow selected on it is stored in shadowChoice, so that other
// pages show it next to the active encoder.
func New(shadowChoice *panes.SelectedShadow) *page {
	p := &page{shadowChoice: shadowChoice, table: &table{}, charts: &panes.Charts{OnlySelected: true},
		ratios: &panes.Charts{OnlySelected: true, Selected: panes.RatioChart}}
	p.slots = [numSlots]*room.Slot{tableSlot: room.NewSlot(p.table), chartSlot: room.NewSlot(p.charts), ratioSlot: room.NewSlot(p.ratios)}
	p.summary = room.NewSlot(&panes.SummaryLine{})
	return p
}

func (p *page) Name() string { return "Compare" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	return room.ObserveAll(v, p.slots[:]...) || changed
}

// Lines renders the summary line, the table below it, and one or both charts in the
// remaining rows.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows = 1
	const hintRows = 7 // height of a table with a hint instead of entries
	neededRows := max(len(p.table.order), 1) + rowsAbove + rowsBelow
	if len(p.table.order) < minEncoders {
		neededRows = hintRows
	}
	p.tableRows = min(neededRows, max((h-summaryRows)/2, hintRows)) // at most half of the page, but never less than the hint needs
	p.places = []room.Place{p.slots[tableSlot].Place(0, 0, w, p.tableRows)}
	if p.maximised {
		p.tableRows, p.places = 0, nil
	}
	p.chartRows = h - summaryRows - p.tableRows
	switch y, rows := p.tableRows, p.chartRows; p.visibleCharts(rows) {
	case bothCharts:
		upper := (rows + 1) / 2
		p.places = append(p.places, p.slots[chartSlot].Place(0, y, w, upper), p.slots[ratioSlot].Place(0, y+upper, w, rows-upper))
	case ratioChart:
		p.places = append(p.places, p.slots[ratioSlot].Place(0, y, w, rows))
	default:
		p.places = append(p.places, p.slots[chartSlot].Place(0, y, w, rows))
	}
	lines := p.summary.Render(th, w, summaryRows, look.Unfocused)[:1:1] // a capacity of 1 makes append copy: the slot reuses its lines
	// nil: no pane is highlighted in addition to the focused one.
	return append(lines, room.RenderPlaces(th, p.places, h-summaryRows, p.table, nil)...)
}

// charts selects which of the charts are shown.
type charts uint8

const (
	bothCharts charts = iota // only the figure's chart if both do not fit
	figureChart
	ratioChart
	numCharts
)

// visibleCharts returns which charts are shown below the table, in the given number of rows.
func (p *page) visibleCharts(rows int) charts {
	const minRowsForBoth = 20
	switch {
	case len(p.table.order) < minEncoders, // no ratios without a second encoder
		p.chartChoice == bothCharts && rows < minRowsForBoth:
		return figureChart
	}
	return p.chartChoice
}

// nextChartChoice selects the next choice: both charts, the chart of the figure, the ratio chart. Without a second
// encoder there is no ratio, and it returns a notice.
// On a page too small for both charts it skips the chart of the figure, which is shown already.
func (p *page) nextChartChoice() room.Request {
	if len(p.table.order) < minEncoders {
		return room.Refusal("the chart of ratios needs a shadow; v adds one")
	}
	isReduced := p.visibleCharts(p.chartRows) == figureChart && p.chartChoice == bothCharts
	p.chartChoice = (p.chartChoice + 1) % numCharts
	if isReduced && p.chartChoice == figureChart {
		p.chartChoice = ratioChart
	}
	return room.Request{}
}

// Move selects another encoder if dy is not 0, and another figure to sort by if dx is not 0.
func (p *page) Move(dx, dy int) room.Request {
	t := p.table
	if dy != 0 {
		t.cursor = min(max(t.cursor+dy, 0), max(len(t.order)-1, 0))
		p.storeSelection()
	}
	if dx != 0 {
		step := figure(1)
		if dx < 0 {
			step = numFigures - 1 // one back, modulo numFigures
		}
		next := (t.sortFigure + step) % numFigures
		if next == figureAge && !t.hasFigure(next) { // files have no display, so skip the age of the displayed data
			next = (next + step) % numFigures
		}
		t.sortBy(next)
		p.charts.Selected = chartForFigure(t.sortFigure)
	}
	p.redraw()
	return room.Request{}
}

// storeSelection makes the shadow under the cursor the one that other pages compare with the active
// encoder. If the cursor is on the active encoder, their choice stays.
func (p *page) storeSelection() {
	if r := p.table.selected(); r != nil {
		p.shadowChoice.Select(p.table.snapLanes, r.lane)
	}
}

// chartForFigure returns the chart of a figure, BandwidthChart if the figure has none.
func chartForFigure(f figure) int {
	switch f {
	case figureBits:
		return panes.ItemChart
	case figureFailures:
		return panes.FailureChart
	}
	return panes.BandwidthChart
}

// redraw redraws the table and the charts.
func (p *page) redraw() {
	for _, s := range p.slots {
		s.Redraw()
	}
}

// Enter makes the selected shadow the active encoder, and the active encoder a shadow. It does nothing
// on the active encoder, or on a shadow whose removal was requested already.
func (p *page) Enter() room.Request {
	r := p.table.selected()
	switch {
	case r == nil || len(p.table.cfg.Shadows) == 0:
		return room.Refusal("there are no shadows; v adds one")
	case r.lane == 0:
		return room.Refusal("this encoder is active already; ↑ and ↓ select a shadow")
	case r.lane > len(p.table.cfg.Shadows):
		return room.Refusal("this shadow is being removed")
	}
	active, chosen := p.table.cfg.Encoder, p.table.cfg.Shadows[r.lane-1]
	ch := config.NewChange("encoder.name", chosen.Name, "encoder.params", chosen.Params).Merge(p.removal(chosen))
	if !slices.ContainsFunc(p.table.cfg.Shadows, active.Equal) {
		ch = ch.Merge(config.NewChange("shadow", []config.Encoder{active}))
	}
	return room.Change(ch)
}

// removal returns the change that removes one shadow. The setting shadow_off removes all shadows with a
// name, so the change then adds again those with the same name and other parameters.
func (p *page) removal(removed config.Encoder) config.Change {
	ch := config.NewChange("shadow_off", []string{removed.Name})
	var others []config.Encoder
	for _, e := range p.table.cfg.Shadows {
		if e.Name == removed.Name && !e.Equal(removed) {
			others = append(others, e.Clone())
		}
	}
	if len(others) > 0 {
		ch = ch.Merge(config.NewChange("shadow", others))
	}
	return ch
}

// removeSelected removes the selected shadow. Nothing happens if its removal was requested already.
func (p *page) removeSelected() room.Request {
	r := p.table.selected()
	if r == nil || r.lane == 0 {
		return room.Request{Notice: "the active encoder cannot be removed; select a shadow", IsError: true}
	}
	if r.lane > len(p.table.cfg.Shadows) {
		return room.Refusal("this shadow is being removed")
	}
	return room.Change(p.removal(p.table.cfg.Shadows[r.lane-1]))
}

func (p *page) Focus(step int) { p.Move(step, 0) }

// Zoom selects the next time span of both charts.
func (p *page) Zoom() {
	p.charts.NextSpan()
	p.ratios.NextSpan()
}

func (p *page) Span() time.Duration { return p.charts.Span() }

func (p *page) Wheel(x, y, notches int) room.Request {
	const summaryRows = 1
	switch room.PlaceAt(p.places, x, y-summaryRows).Slot {
	case p.slots[tableSlot]:
		return p.Move(0, -notches)
	case p.slots[chartSlot], p.slots[ratioSlot]: // they share a time axis
		p.charts.ZoomBy(notches)
		p.ratios.ZoomBy(notches)
		p.redraw()
	}
	return room.Request{}
}

// Selection implements room.Copier: the figures of the selected encoder, as "heading value" in each line.
func (p *page) Selection() string {
	r := p.table.selected()
	if r == nil {
		return ""
	}
	text := r.label() + "\n"
	for f := range numFigures {
		name := f.text("item").long
		text += name + " " + f.format(r.figures[f]) + r.timingMark(f) + "\n"
	}
	return text
}

// Maximise implements room.Maximiser: the charts alone, or all panes.
func (p *page) Maximise() { p.maximised = !p.maximised }

// Click selects an encoder, or sorts by the column whose heading is at (x, y).
func (p *page) Click(x, y int) room.Request {
	y-- // row 0 is the summary line
	if y < p.tableRows {
		p.table.clickAt(x, y, p.tableRows)
		p.storeSelection()
		p.charts.Selected = chartForFigure(p.table.sortFigure)
		p.redraw()
	}
	return room.Request{}
}

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "sort by"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select an encoder", "left": "sort by another figure", "tab": "sort by the next figure",
		"enter": "make the selected shadow the active encoder; the active encoder becomes a shadow"}[key]
}

// Bindings implements room.Binder. The command encoder without arguments opens the list of encoders, in which
// shadows are added and removed.
func (p *page) Bindings() []room.Binding {
	const group = "Compare, page 5"
	return []room.Binding{
		room.Bind(group, []string{"v"}, "v", "add or remove shadows",
			func() room.Request { return room.Request{Line: "encoder"} }).InFooter("shadows").Pin(),
		room.Bind(group, []string{"c"}, "c", "charts: the sort figure, the payload ratio to the active encoder, or both",
			p.nextChartChoice).InFooter("charts"),
		room.Bind(group, []string{"delete", "backspace"}, "del", "remove the selected shadow", p.removeSelected).InFooter("remove"),
	}
}
