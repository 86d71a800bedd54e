package ui

// bitsPage is page 2: what the bits were spent on, over time and in figures, of
// the encoder under the keys and of a shadow beside it.
type bitsPage struct {
	base
	account *account
	stacks  [2]*stackPane // of the encoder under the keys, and of the shadow
	table   *slot
	charts  [2]*slot
	vitals  *slot
	w, h    int
}

func newBitsPage() *bitsPage {
	p := &bitsPage{account: &account{beside: 1, chosen: -1}, vitals: newSlot(&vitalsPane{})}
	p.table = newSlot(&accountPane{p.account})
	for i := range p.stacks {
		p.stacks[i] = &stackPane{account: p.account, which: i}
		p.charts[i] = newSlot(p.stacks[i])
	}
	return p
}

func (p *bitsPage) name() string { return "Bits" }

func (p *bitsPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	if p.account.observe(v) {
		p.renew()
	}
	return changed || !p.table.fresh
}

// renew has everything drawn anew.
func (p *bitsPage) renew() {
	p.table.redraw()
	p.charts[0].redraw()
	p.charts[1].redraw()
}

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
		return []place{p.charts[0].at(0, 0, left, h), p.table.at(left, 0, right, h)}
	}
	upper := (h + 1) / 2
	return []place{p.charts[0].at(0, 0, left, upper), p.charts[1].at(0, upper, left, h-upper), p.table.at(left, 0, right, h)}
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

func (p *bitsPage) move(dx, dy int) request {
	if dy != 0 {
		p.account.choose(dy)
	}
	if dx != 0 {
		p.account.turn(dx)
	}
	p.renew()
	return request{}
}

// enter shows the chosen part by itself, and all of them again.
func (p *bitsPage) enter() request {
	if p.account.chosen >= 0 {
		p.account.solo = !p.account.solo
		p.renew()
	}
	return request{}
}

func (p *bitsPage) release() {
	p.account.chosen, p.account.solo = -1, false
	p.renew()
}

func (p *bitsPage) zoom() {
	p.account.zoom = (p.account.zoom + 1) % len(chartSpans())
	p.renew()
}

func (p *bitsPage) arrows() [][2]string {
	return [][2]string{{"↑↓", "field"}, {"enter", "alone"}, {"←→", "kbps, share, per changed"}}
}
