package compare

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// page is page 5: every encoder that runs side by side, in a table, in a chart of the
// figure that the table is sorted by, and in one of what each sends over what the encoder
// under the keys does.
type page struct {
	table  *table
	charts *panes.Charts
	ratios *panes.Charts
	slots  [3]*room.Slot // table, chart, chart of ratios
	shown  charts
	vitals *room.Slot
	places []room.Place
	second *panes.Second // which shadow stands beside on other pages
	h      int           // of the table
	rest   int           // rows below it
}

// New returns the page. The shadow under its cursor stands beside on other pages.
func New(second *panes.Second) *page {
	p := &page{second: second, table: &table{}, charts: &panes.Charts{Solo: true},
		ratios: &panes.Charts{Solo: true, Lit: panes.RatioChart}}
	p.slots = [3]*room.Slot{room.NewSlot(p.table), room.NewSlot(p.charts), room.NewSlot(p.ratios)}
	p.vitals = room.NewSlot(&panes.Vitals{})
	return p
}

func (p *page) Name() string { return "Compare" }

func (p *page) Observe(v room.View) bool {
	changed := p.vitals.Observe(v)
	return room.ObserveAll(v, p.slots[:]...) || changed
}

// Lines puts the line of vital numbers on top, the table below it, and the chart in
// what is left.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const above = 1
	rows := max(len(p.table.order), 1) + compareTop + compareTail - 1
	if len(p.table.order) < leastToShare {
		rows = 7
	}
	p.h = min(rows, max((h-above)/2, 7))
	p.places = []room.Place{p.slots[0].At(0, 0, w, p.h)}
	p.rest = h - above - p.h
	switch rest := p.rest; p.charted(rest) {
	case bothCharts:
		p.places = append(p.places, p.slots[1].At(0, p.h, w, (rest+1)/2), p.slots[2].At(0, p.h+(rest+1)/2, w, rest/2))
	case ratioChart:
		p.places = append(p.places, p.slots[2].At(0, p.h, w, rest))
	default:
		p.places = append(p.places, p.slots[1].At(0, p.h, w, rest))
	}
	return append(p.vitals.Render(th, w, above, false)[:1:1], room.Join(th, p.places, h-above, p.table, nil)...)
}

// charts are which of the charts are in sight.
type charts uint8

const (
	bothCharts charts = iota // where there is room for both
	figureChart
	ratioChart
	numCharts
)

// charted is what is shown below the table, in so many rows.
func (p *page) charted(rows int) charts {
	const leastForBoth = 20
	switch {
	case len(p.table.order) < leastToShare, p.shown == bothCharts && rows < leastForBoth:
		return figureChart
	}
	return p.shown
}

// turn shows the other chart, or both.
func (p *page) turn() {
	small := p.charted(p.rest) == figureChart && p.shown == bothCharts
	p.shown = (p.shown + 1) % numCharts
	if small && p.shown == figureChart {
		p.shown = ratioChart
	}
}

// Move chooses an encoder, or what to sort by.
func (p *page) Move(dx, dy int) room.Request {
	t := p.table
	if dy != 0 {
		t.chosen = min(max(t.chosen+dy, 0), max(len(t.order)-1, 0))
		p.choose()
	}
	if dx != 0 {
		step := 1
		if dx < 0 {
			step = int(numFigures) - 1
		}
		by := (t.by + figure(step)) % numFigures
		if by == figureAge && !t.has(by) { // of files there is no display
			by = (by + figure(step)) % numFigures
		}
		t.rank(by)
		p.charts.Lit = chartOf(t.by)
	}
	p.redraw()
	return room.Request{}
}

// choose makes the shadow under the cursor the one that stands beside.
func (p *page) choose() {
	if r := p.table.picked(); r != nil {
		p.second.Choose(p.table.all, r.lane)
	}
}

// chartOf is the chart that shows a figure, bandwidth where there is none.
func chartOf(f figure) int {
	switch f {
	case figureBits:
		return panes.ItemChart
	case figureFailures:
		return panes.FailureChart
	}
	return panes.BandwidthChart
}

// redraw has everything drawn anew.
func (p *page) redraw() {
	for _, s := range p.slots {
		s.Redraw()
	}
}

// Enter puts the chosen encoder under the keys, and the one that was there in its
// place among the shadows.
func (p *page) Enter() room.Request {
	r := p.table.picked()
	if r == nil || r.lane == 0 || r.lane > len(p.table.cfg.Shadows) {
		return room.Request{}
	}
	was, chosen := p.table.cfg.Encoder, p.table.cfg.Shadows[r.lane-1]
	ch := config.NewChange("encoder.name", chosen.Name, "encoder.params", chosen.Params).Then(p.leave(chosen))
	if !slices.ContainsFunc(p.table.cfg.Shadows, was.Equal) {
		ch = ch.Then(config.NewChange("shadow", []config.Encoder{was}))
	}
	return room.Change(ch)
}

// leave is the change that sends one shadow away. Those of one name leave together, so the
// others of it join again in the same instant: they are left alone.
func (p *page) leave(gone config.Encoder) config.Change {
	ch := config.NewChange("shadow_off", []string{gone.Name})
	var stay []config.Encoder
	for _, e := range p.table.cfg.Shadows {
		if e.Name == gone.Name && !e.Equal(gone) {
			stay = append(stay, e.Clone())
		}
	}
	if len(stay) > 0 {
		ch = ch.Then(config.NewChange("shadow", stay))
	}
	return ch
}

// drop sends the chosen shadow away.
func (p *page) drop() room.Request {
	r := p.table.picked()
	if r == nil || r.lane == 0 {
		return room.Request{Say: "the encoder under the keys cannot leave; choose one of the shadows", Bad: true}
	}
	if r.lane > len(p.table.cfg.Shadows) {
		return room.Request{}
	}
	return room.Change(p.leave(p.table.cfg.Shadows[r.lane-1]))
}

func (p *page) Focus(step int) { p.Move(step, 0) }

func (p *page) Zoom() {
	p.charts.NextSpan()
	p.ratios.NextSpan()
}

func (p *page) Fit() { p.charts.Fit() }

// Click chooses a row, or a column to sort by.
func (p *page) Click(x, y int) room.Request {
	y--
	if y < p.h {
		p.table.point(x, y, p.h)
		p.choose()
		p.charts.Lit = chartOf(p.table.by)
		p.redraw()
	}
	return room.Request{}
}

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "choose"}, {"←→", "sort by"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "choose an encoder", "left": "which figure to sort by", "tab": "the next figure to sort by",
		"enter": "put the chosen encoder under the keys, the one there beside", "z": "fit the axis; how much time; dots or lines"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "Compare, page 5"
	return []room.Binding{
		room.Bind(group, []string{"v"}, "v", "choose which encoders run beside",
			func() room.Request { return room.Request{Line: "encoder"} }).InFooter("beside").Pin(),
		room.Bind(group, []string{"c"}, "c", "charts: the figure sorted by, the ratio to the encoder under the keys, or both",
			room.Quietly(p.turn)).InFooter("charts"),
		room.Bind(group, []string{"delete", "backspace"}, "del", "send the chosen shadow away", p.drop).InFooter("send away"),
	}
}
