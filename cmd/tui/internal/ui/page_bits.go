package ui

import (
	"slices"

	"wirelab/encoders"
	"wirelab/experiment"
)

// bitsPage is page 2: what the bits were spent on, over time and in figures, of
// the encoder under the keys and of a shadow beside it.
type bitsPage struct {
	account *account
	stacks  [2]*stackPane // of the encoder under the keys, and of the shadow
	table   *slot
	charts  [2]*slot
	vitals  *slot
	w, h    int
}

func newBitsPage() *bitsPage {
	p := &bitsPage{account: &account{beside: 1, chosen: -1}, vitals: &slot{pane: &vitalsPane{}}}
	p.table = &slot{pane: &accountPane{p.account}}
	for i := range p.stacks {
		p.stacks[i] = &stackPane{account: p.account, which: i}
		p.charts[i] = &slot{pane: p.stacks[i]}
	}
	return p
}

func (p *bitsPage) name() string { return "Bits" }
func (p *bitsPage) number() int  { return 2 }

func (p *bitsPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	if p.account.observe(v) {
		p.renew()
	}
	return changed || !p.table.fresh
}

// renew has everything drawn anew.
func (p *bitsPage) renew() { p.table.fresh, p.charts[0].fresh, p.charts[1].fresh = false, false, false }

func (p *bitsPage) view(th *theme, w, h int) []string {
	p.w, p.h = w, h
	if wide(w, h) {
		return join(th, p.arrange(w, h), h, nil, nil)
	}
	const above = 1
	rows := len(p.account.parts) + 5 // of the table, with its edges, head, sum and verdict
	rows = min(max(rows, 8), (h-above)*6/10)
	at := p.charts[min(p.account.shown(), 1)]
	lines := append(make([]string, 0, h), p.vitals.render(th, w, above, false)...)
	lines = append(lines, at.render(th, w, h-above-rows, false)...)
	return append(lines, p.table.render(th, w, rows, false)...)
}

// arrange places the panes on a large screen: the charts one below the other, the
// figures beside them.
func (p *bitsPage) arrange(w, h int) []place {
	right := accountWidth
	if p.account.other() == nil {
		right = accountAlone
	}
	left := w - right
	if p.account.other() == nil {
		return []place{{p.charts[0], 0, 0, left, h}, {p.table, left, 0, right, h}}
	}
	upper := (h + 1) / 2
	return []place{{p.charts[0], 0, 0, left, upper}, {p.charts[1], 0, upper, left, h - upper}, {p.table, left, 0, right, h}}
}

// focus goes to the next shadow; where there is one chart, also to the encoder
// under the keys itself.
func (p *bitsPage) focus(step int) {
	a := p.account
	n := len(a.lanes)
	switch {
	case n < 2:
		return
	case !wide(p.w, p.h):
		a.alone = (a.alone + n + step) % n
		if a.alone > 0 {
			a.beside = a.alone
		}
	default:
		a.beside = 1 + (a.beside-1+n-1+step)%(n-1)
	}
	p.renew()
}

func (p *bitsPage) move(dx, dy int) wish {
	if dy != 0 {
		p.account.choose(dy)
	}
	if dx != 0 {
		p.account.turn(dx)
	}
	p.renew()
	return wish{}
}

// enter shows the chosen part by itself, and all of them again.
func (p *bitsPage) enter() wish {
	if p.account.chosen >= 0 {
		p.account.solo = !p.account.solo
		p.renew()
	}
	return wish{}
}

func (p *bitsPage) release() {
	p.account.chosen, p.account.solo = -1, false
	p.renew()
}

func (p *bitsPage) aim() {}

func (p *bitsPage) zoom() {
	p.account.zoom = (p.account.zoom + 1) % len(chartSpans())
	p.renew()
}

func (p *bitsPage) click(int, int) {}

func (p *bitsPage) bindings() []binding { return nil }

func (p *bitsPage) arrows() [][2]string {
	return [][2]string{{"↑↓", "field"}, {"enter", "alone"}, {"←→", "kbps, share, per changed"}}
}

// stackUnit is what the height of the areas stands for.
type stackUnit uint8

const (
	byKbps stackUnit = iota
	byShare
	byChanged
	numUnits
)

// account is what the page shows: whose bits, in what unit, and which part is
// looked at.
type account struct {
	snap   *experiment.Snapshot
	lanes  []experiment.Lane
	parts  []encoders.Slot // charged by any of the two, in their fixed order
	unit   stackUnit
	zoom   int
	chosen int // slot; -1: none
	solo   bool
	beside int // the lane beside the first
	alone  int // the lane whose chart is shown where there is room for one
	newest int64
}

func (a *account) observe(v sight) bool {
	same := a.snap != nil && len(a.lanes) == len(v.snap.Lanes) && a.ending(v.snap) == a.newest && sameMarks(a.snap.Marks, v.snap.Marks)
	if a.snap != nil && (same || v.running() && !(v.slow && v.spare)) {
		return false
	}
	a.snap, a.lanes, a.newest = v.snap, v.snap.Lanes, a.ending(v.snap)
	a.beside, a.alone = max(min(a.beside, len(a.lanes)-1), 1), min(a.alone, max(len(a.lanes)-1, 0))
	a.parts = a.parts[:0]
	used := a.used()
	for k, u := range used.Units {
		if u > 0 {
			a.parts = append(a.parts, encoders.Slot(k))
		}
	}
	if !slices.Contains(a.parts, encoders.Slot(max(a.chosen, 0))) {
		a.chosen, a.solo = -1, false
	}
	return true
}

// ending is the end of the newest sample, in periods.
func (a *account) ending(snap *experiment.Snapshot) int64 {
	if len(snap.Lanes) == 0 || len(snap.Lanes[0].Samples) == 0 {
		return 0
	}
	all := snap.Lanes[0].Samples
	return int64(all[len(all)-1].T / experiment.SamplePeriod)
}

// used sums up what both encoders spent in the time that the charts show: a part
// keeps its line though nothing was spent on it lately.
func (a *account) used() (sum encoders.Budget) {
	for _, l := range []*experiment.Lane{a.first(), a.other()} {
		if l == nil {
			continue
		}
		sum.Add(&l.Recent.Budget)
		for _, s := range l.Samples[max(len(l.Samples)-int(chartSpans()[a.zoom]/experiment.SamplePeriod), 0):] {
			sum.Add(&s.Budget)
		}
	}
	return sum
}

// first is the encoder under the keys; nil before the first frame.
func (a *account) first() *experiment.Lane {
	if len(a.lanes) == 0 {
		return nil
	}
	return &a.lanes[0]
}

// other is the shadow beside it; nil if there is none.
func (a *account) other() *experiment.Lane {
	if a.beside >= len(a.lanes) {
		return nil
	}
	return &a.lanes[a.beside]
}

// shown is the lane whose chart is shown where there is room for one.
func (a *account) shown() int {
	if a.alone >= len(a.lanes) {
		return 0
	}
	return a.alone
}

// choose moves among the parts.
func (a *account) choose(n int) {
	if len(a.parts) == 0 {
		return
	}
	at := slices.Index(a.parts, encoders.Slot(max(a.chosen, 0)))
	if a.chosen < 0 {
		at = -1
		if n < 0 {
			at = 0
		}
	}
	at = min(max(at+n, 0), len(a.parts)-1)
	a.chosen = int(a.parts[at])
}

// turn goes to another unit.
func (a *account) turn(n int) {
	a.unit = stackUnit((int(a.unit) + int(numUnits) + n%int(numUnits)) % int(numUnits))
}

// fill is what tells a part apart where there is no colour: a shade, and a letter
// where there are more parts than shades.
func (a *account) fill(th *theme, k encoders.Slot) rune {
	i := max(slices.Index(a.parts, k), 0)
	if i < len(th.shades) {
		return th.shades[i]
	}
	return rune('a' + (i-len(th.shades))%26)
}

// swatch is what ties a part's figures to its areas.
func (a *account) swatch(th *theme, k encoders.Slot) rune {
	if th.color {
		return th.block
	}
	return a.fill(th, k)
}

// item is what the rows of the data are called.
func (a *account) item() string {
	if a.snap == nil || a.snap.Item == "" {
		return "item"
	}
	return a.snap.Item
}
