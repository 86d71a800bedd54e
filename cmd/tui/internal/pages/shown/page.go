package shown

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
)

// page is page 4 of calls, messages and tables: charts of the receiver's display, and below them the
// values at the sender and as the receiver displays them, or a map.
type page struct {
	summary    *room.Slot
	playout    *panes.Playout
	charts     *room.Slot // of playout
	values     *values
	valuesSlot *room.Slot // of values
	worldMap   *mapView   // nil if the schema has no coordinates
	mapSlot    *room.Slot // of worldMap
	showValues bool       // show the values instead of the map
	alone      panes.Alone
}

func New(s *frame.Schema) *page {
	p := &page{summary: room.NewSlot(&panes.SummaryLine{}), playout: panes.NewPlayout(s), values: &values{}}
	p.charts, p.valuesSlot = room.NewSlot(p.playout), room.NewSlot(p.values)
	if parts, _ := findPlaces(s); parts != nil {
		p.worldMap = &mapView{}
		p.mapSlot = room.NewSlot(p.worldMap)
	}
	return p
}

func (p *page) Name() string {
	if p.worldMap != nil {
		return "World"
	}
	return "Values"
}

func (p *page) Observe(v room.View) bool {
	if p.worldMap == nil {
		return room.ObserveAll(v, p.summary, p.charts, p.valuesSlot)
	}
	return room.ObserveAll(v, p.summary, p.charts, p.valuesSlot, p.mapSlot)
}

// showsMap reports whether the page shows the map instead of the values.
func (p *page) showsMap() bool { return p.worldMap != nil && !p.showValues }

// minHeightForCharts is the height from which a page with a map also shows charts.
const minHeightForCharts = 36

// Lines implements room.Page: the charts above the values, or the map.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows, minRows = 1, 8
	if p.showsMap() {
		return p.mapLines(th, w, h)
	}
	charts := min(max((h-summaryRows)*2/5, minRows), 16)
	if need := p.values.preferredHeight(w); need > 0 { // the charts get the rows that the values do not need
		charts = max(charts, min(h-summaryRows-need, 2*charts))
	}
	charts = p.alone.ChartRows(h-summaryRows, charts)
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	if charts > 0 {
		lines = append(lines, p.charts.Render(th, w, charts, look.Unfocused)...)
	}
	if rows := h - summaryRows - charts; rows > 0 {
		lines = append(lines, p.valuesSlot.Render(th, w, rows, look.Unfocused)...)
	}
	return lines
}

// mapLines renders the summary line, the map, and charts below it if there is room.
func (p *page) mapLines(th *look.Theme, w, h int) []string {
	const summaryRows, chartRows = 1, 8
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	charts := 0
	if h >= minHeightForCharts {
		charts = chartRows
	}
	charts = p.alone.ChartRows(h-summaryRows, charts)
	if rows := h - summaryRows - charts; rows > 0 {
		lines = append(lines, p.mapSlot.Render(th, w, rows, look.Unfocused)...)
	}
	if charts > 0 {
		lines = append(lines, p.charts.Render(th, w, charts, look.Unfocused)...)
	}
	return lines
}

// Bindings implements room.Binder. Only a page with a map has a key to switch to the values.
func (p *page) Bindings() []room.Binding {
	if p.worldMap == nil {
		return nil
	}
	const group = "World, page 4"
	return []room.Binding{panes.RowCostBinding(group, "what each row cost in the last 2 s, as a heat map: 0 at most 0.1 bits/packet, 1 2, 2 10, 3 40, 4 more",
		func() bool { return p.worldMap.costs != nil }), room.Bind(group, []string{"v"}, "v", "show the map, or the values of all fields", func() room.Request {
		p.showValues = !p.showValues
		p.valuesSlot.Redraw()
		p.mapSlot.Redraw()
		return room.Request{}
	}).InFooter("values")}
}

// Move scrolls the values.
func (p *page) Move(_, dy int) room.Request {
	p.values.scroll(dy)
	p.valuesSlot.Redraw()
	return room.Request{}
}

// Release scrolls to the top, and shows the map again with a new extent.
func (p *page) Release() room.Request {
	p.values.firstLine, p.showValues = 0, false
	p.valuesSlot.Redraw()
	if p.worldMap != nil {
		p.worldMap.extent.known = false
		p.mapSlot.Redraw()
	}
	return room.Request{}
}

// Wheel implements room.Wheeler: it scrolls the values, and has no effect on the map.
func (p *page) Wheel(_, y, notches int) room.Request {
	const summaryRows = 1
	top := p.charts.H // the height of the upper part
	if p.showsMap() {
		top = p.mapSlot.H
	}
	overCharts := (y < summaryRows+top) != p.showsMap() // the charts are above the values, but below the map
	if p.alone != panes.Both {
		overCharts = p.alone == panes.ChartsAlone
	}
	switch {
	case y < summaryRows: // the line of figures
	case overCharts:
		p.playout.ZoomBy(notches)
		p.charts.Redraw()
	case !p.showsMap():
		return p.Move(0, -notches)
	}
	return room.Request{}
}

// Maximise implements room.Maximiser: the map or the values alone, then the charts alone, then both.
func (p *page) Maximise() { p.alone.Next() }

func (p *page) Span() time.Duration { return p.playout.Span() }

// Zoom selects the next time span of the charts.
func (p *page) Zoom() {
	p.playout.NextSpan()
	p.charts.Redraw()
}

func (p *page) Arrows() [][2]string {
	if p.showsMap() {
		return nil
	}
	return [][2]string{{"↑↓", "values"}}
}
