package ui

import (
	"maps"
	"slices"

	"wirelab/experiment"
)

// comparePage is page 5: every encoder that runs side by side, in a table and in
// one chart.
type comparePage struct {
	base
	table  *comparePane
	charts *chartsPane
	slots  [2]*slot // table, chart
	vitals *slot
	places []place
	h      int // of the table
}

func newComparePage(budgetKbps float64) *comparePage {
	p := &comparePage{table: &comparePane{}, charts: &chartsPane{budget: budgetKbps, solo: true}}
	p.slots = [2]*slot{newSlot(p.table), newSlot(p.charts)}
	p.vitals = newSlot(&vitalsPane{})
	return p
}

func (p *comparePage) name() string { return "Compare" }

func (p *comparePage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	return observeAll(v, p.slots[:]...) || changed
}

// view puts the line of vital numbers on top, the table below it, and the chart in
// what is left.
func (p *comparePage) view(th *theme, w, h int) []string {
	const above = 1
	rows := max(len(p.table.order), 1) + compareTop + compareTail - 1
	if len(p.table.order) < leastToShare {
		rows = 7
	}
	p.h = min(rows, max((h-above)/2, 7))
	p.places = []place{p.slots[0].at(0, 0, w, p.h), p.slots[1].at(0, p.h, w, h-above-p.h)}
	return append(p.vitals.render(th, w, above, false)[:1:1], join(th, p.places, h-above, p.table, nil)...)
}

// move chooses an encoder, or what to sort by.
func (p *comparePage) move(dx, dy int) request {
	t := p.table
	t.chosen = min(max(t.chosen+dy, 0), max(len(t.order)-1, 0))
	if dx != 0 {
		step := 1
		if dx < 0 {
			step = int(numFigures) - 1
		}
		t.rank((t.by + yardstick(step)) % numFigures)
		p.charts.lit = chartOf(t.by)
	}
	p.fade()
	return request{}
}

// chartOf is the chart that shows a figure, bandwidth where there is none.
func chartOf(f yardstick) int {
	switch f {
	case yardBits:
		return 1
	case yardFailures:
		return 2
	}
	return 0
}

// fade has everything drawn anew.
func (p *comparePage) fade() {
	for _, s := range p.slots {
		s.redraw()
	}
}

// enter puts the chosen encoder under the keys, and the one that was there in its
// place among the shadows.
func (p *comparePage) enter() request {
	r := p.table.picked()
	if r == nil || r.lane == 0 || r.lane > len(p.table.cfg.Shadows) {
		return request{}
	}
	was, chosen := p.table.cfg.Encoder, p.table.cfg.Shadows[r.lane-1]
	ch := experiment.Change{Encoder: chosen.Name, Params: maps.Clone(chosen.Params), ShadowOff: []string{chosen.Name}}
	if !slices.ContainsFunc(p.table.cfg.Shadows, was.Equal) {
		ch.Shadow = []experiment.EncoderConfig{was}
	}
	return change(ch)
}

// drop sends the chosen shadow away.
func (p *comparePage) drop() request {
	r := p.table.picked()
	if r == nil || r.lane == 0 {
		return request{say: "the encoder under the keys cannot leave; choose one of the shadows", bad: true}
	}
	return request{line: "shadow off " + r.name}
}

func (p *comparePage) focus(step int) { p.move(step, 0) }
func (p *comparePage) zoom()          { p.charts.nextSpan() }

// click chooses a row, or a column to sort by.
func (p *comparePage) click(x, y int) request {
	if y--; y < p.h {
		p.table.point(x, y, p.h)
		p.charts.lit = chartOf(p.table.by)
		p.fade()
	}
	return request{}
}

func (p *comparePage) arrows() [][2]string {
	return [][2]string{{"↑↓", "choose"}, {"←→", "sort by"}}
}

func (p *comparePage) bindings() []binding {
	const group = "Compare, page 5"
	return []binding{
		bind(group, []string{"v"}, "v", "choose which encoders run beside", func() request { return request{line: "encoder"} }).inFooter("beside").pin(),
		bind(group, []string{"delete", "backspace"}, "del", "send the chosen shadow away", p.drop).inFooter("send away"),
	}
}
