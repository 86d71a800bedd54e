package shown

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// Page is page 4 of calls, messages and tables: charts of the receiver's display, and below
// them the values as the sender has them and as the receiver shows them.
type Page struct {
	room.Base
	vitals  *room.Slot
	playout *panes.Playout
	charts  *room.Slot // of playout
	values  *values
	both    *room.Slot // of values
}

// New returns the page.
func New() *Page {
	p := &Page{vitals: room.NewSlot(&panes.Vitals{}), playout: panes.NewPlayout(false), values: &values{}}
	p.charts, p.both = room.NewSlot(p.playout), room.NewSlot(p.values)
	return p
}

// Name implements room.Page.
func (p *Page) Name() string { return "Shown" }

// Observe implements room.Page.
func (p *Page) Observe(v room.View) bool { return room.ObserveAll(v, p.vitals, p.charts, p.both) }

// Lines implements room.Page.
func (p *Page) Lines(th *look.Theme, w, h int) []string {
	const above, least = 1, 8
	charts := min(max((h-above)*2/5, least), 16)
	if need := p.values.rows(w); need > 0 { // what the values need no room for the charts can take
		charts = max(charts, min(h-above-need, 2*charts))
	}
	lines := append(make([]string, 0, h), p.vitals.Render(th, w, above, false)...)
	lines = append(lines, p.charts.Render(th, w, charts, false)...)
	return append(lines, p.both.Render(th, w, max(h-above-charts, 0), false)...)
}

// Move scrolls through the values.
func (p *Page) Move(_, dy int) room.Request {
	p.values.scroll(dy)
	p.both.Redraw()
	return room.Request{}
}

// Wheel goes through the list.
func (p *Page) Wheel(up int) room.Request { return p.Move(0, -up) }

// Release goes back to the first of them.
func (p *Page) Release() {
	p.values.from = 0
	p.both.Redraw()
}

// Zoom changes how much time the charts show.
func (p *Page) Zoom() {
	p.playout.NextSpan()
	p.charts.Redraw()
}

// Fit lets the charts begin above zero, or at zero again.
func (p *Page) Fit() {
	p.playout.Fit()
	p.charts.Redraw()
}

// Arrows implements room.Page.
func (p *Page) Arrows() [][2]string { return [][2]string{{"↑↓", "values"}} }
