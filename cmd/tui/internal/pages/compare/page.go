package compare

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// page is page 5. It compares all running encoders in a table, in a chart of the figure
// that the table is sorted by, and in a chart of payload ratios to the active encoder.
type page struct {
	table   *table
	charts  *panes.Charts
	ratios  *panes.Charts
	slots   [3]*room.Slot // table, chart, chart of ratios
	shown   charts
	summary *room.Slot
	places  []room.Place
	second  *panes.Second // the shadow that other pages show next to the active encoder
	h       int           // of the table
	rest    int           // rows below it
}

// New returns the comparison page. The shadow selected on it is stored in second, so that other pages
// show it next to the active encoder.
func New(second *panes.Second) *page {
	p := &page{second: second, table: &table{}, charts: &panes.Charts{OnlySelected: true},
		ratios: &panes.Charts{OnlySelected: true, Selected: panes.RatioChart}}
	p.slots = [3]*room.Slot{room.NewSlot(p.table), room.NewSlot(p.charts), room.NewSlot(p.ratios)}
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
	return append(p.summary.Render(th, w, above, false)[:1:1], room.Join(th, p.places, h-above, p.table, nil)...)
}

// charts selects which of the charts are shown.
type charts uint8

const (
	bothCharts charts = iota // if there is room for both
	figureChart
	ratioChart
	numCharts
)

// charted returns which charts are shown below the table, in the given number of rows.
func (p *page) charted(rows int) charts {
	const leastForBoth = 20
	switch {
	case len(p.table.order) < leastToShare, p.shown == bothCharts && rows < leastForBoth:
		return figureChart
	}
	return p.shown
}

// turn selects the next of: both charts, the figure's, the ratio's.
func (p *page) turn() {
	small := p.charted(p.rest) == figureChart && p.shown == bothCharts
	p.shown = (p.shown + 1) % numCharts
	if small && p.shown == figureChart {
		p.shown = ratioChart
	}
}

// Move selects another encoder if dy is not 0, and another figure to sort by if dx is not 0.
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
		if by == figureAge && !t.has(by) { // files have no display
			by = (by + figure(step)) % numFigures
		}
		t.rank(by)
		p.charts.Selected = chartOf(t.by)
	}
	p.redraw()
	return room.Request{}
}

// choose stores the shadow under the cursor in p.second.
func (p *page) choose() {
	if r := p.table.picked(); r != nil {
		p.second.Select(p.table.all, r.lane)
	}
}

// chartOf returns the chart of a figure, BandwidthChart if the figure has none.
func chartOf(f figure) int {
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

// Enter makes the selected shadow the active encoder, and the active encoder a shadow.
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

// leave returns the change that removes one shadow. shadow_off removes all shadows of a
// name, so the change adds the other shadows of that name again.
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

// drop removes the selected shadow.
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

// Click selects a row, or a column to sort by.
func (p *page) Click(x, y int) room.Request {
	y--
	if y < p.h {
		p.table.point(x, y, p.h)
		p.choose()
		p.charts.Selected = chartOf(p.table.by)
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
