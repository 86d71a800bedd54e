package shown

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
)

// page is page 4 of calls, messages and tables: charts of the receiver's display, and below
// them the values as the sender has them and as the receiver shows them.
type page struct {
	summary *room.Slot
	playout *panes.Playout
	charts  *room.Slot // of playout
	values  *values
	both    *room.Slot // of values
	world   *above     // nil if nothing in the schema is a place
	seen    *room.Slot // of world
	listed  bool       // the values are shown, not the world
}

// New returns the page for frames of schema s.
func New(s *frame.Schema) *page {
	p := &page{summary: room.NewSlot(&panes.SummaryLine{}), playout: panes.NewPlayout(false), values: &values{}}
	p.charts, p.both = room.NewSlot(p.playout), room.NewSlot(p.values)
	if parts, _ := placesOf(s); parts != nil {
		p.world = &above{}
		p.seen = room.NewSlot(p.world)
	}
	return p
}

func (p *page) Name() string {
	if p.world != nil {
		return "World"
	}
	return "Shown"
}

func (p *page) Observe(v room.View) bool {
	if p.world == nil {
		return room.ObserveAll(v, p.summary, p.charts, p.both)
	}
	return room.ObserveAll(v, p.summary, p.charts, p.both, p.seen)
}

// mapped reports whether the world is shown, in place of the values.
func (p *page) mapped() bool { return p.world != nil && !p.listed }

// chartsFrom is the height from which a page with a world has room for charts.
const chartsFrom = 36

func (p *page) Lines(th *look.Theme, w, h int) []string {
	const above, least = 1, 8
	if p.mapped() {
		return p.worldLines(th, w, h)
	}
	charts := min(max((h-above)*2/5, least), 16)
	if need := p.values.rows(w); need > 0 { // what the values need no room for the charts can take
		charts = max(charts, min(h-above-need, 2*charts))
	}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, above, false)...)
	lines = append(lines, p.charts.Render(th, w, charts, false)...)
	return append(lines, p.both.Render(th, w, max(h-above-charts, 0), false)...)
}

// worldLines puts the world below the line of vital numbers, and charts below it if there is room.
func (p *page) worldLines(th *look.Theme, w, h int) []string {
	const above, charts = 1, 8
	lines := append(make([]string, 0, h), p.summary.Render(th, w, above, false)...)
	if h < chartsFrom {
		return append(lines, p.seen.Render(th, w, max(h-above, 0), false)...)
	}
	lines = append(lines, p.seen.Render(th, w, h-above-charts, false)...)
	return append(lines, p.charts.Render(th, w, charts, false)...)
}

func (p *page) Bindings() []room.Binding {
	if p.world == nil {
		return nil
	}
	return []room.Binding{room.Bind("World, page 4", []string{"v"}, "v", "the world from above, or the values of all fields", func() room.Request {
		p.listed = !p.listed
		p.both.Redraw()
		p.seen.Redraw()
		return room.Request{}
	}).InFooter("values")}
}

// Move scrolls through the values.
func (p *page) Move(_, dy int) room.Request {
	p.values.scroll(dy)
	p.both.Redraw()
	return room.Request{}
}

// Release goes back to the first of them.
func (p *page) Release() {
	p.values.from, p.listed = 0, false
	p.both.Redraw()
	if p.world != nil {
		p.world.seen = false
		p.seen.Redraw()
	}
}

// Zoom changes how much time the charts show.
func (p *page) Zoom() {
	p.playout.NextSpan()
	p.charts.Redraw()
}

// Fit lets the charts begin above zero, or at zero again.
func (p *page) Fit() {
	p.playout.Fit()
	p.charts.Redraw()
}

func (p *page) Arrows() [][2]string {
	if p.mapped() {
		return nil
	}
	return [][2]string{{"↑↓", "values"}}
}
