package ui

// livePage is page 1: three charts, the packets, the controls, the numbers, and
// where the bits go. On a large screen all at once, on a small one a pane at a
// time below a line of vital numbers.
type livePage struct {
	charts   *chartsPane
	packets  *packetsPane
	controls *controlsPane
	slots    []*slot // in the order of the tab key
	vitals   *slot
	at       int   // index of the focused one
	lit      *slot // what the tour points at; nil: nothing
	w, h     int
	places   []place
}

func newLivePage(opt Options, cat *catalog) *livePage {
	p := &livePage{
		charts:   &chartsPane{budget: opt.BudgetKbps, lit: -1},
		packets:  &packetsPane{},
		controls: &controlsPane{cat: cat},
	}
	p.vitals = &slot{pane: &vitalsPane{}}
	for _, q := range []pane{p.charts, p.controls, p.packets, &bitsPane{}, &nowPane{}, &logPane{}} {
		p.slots = append(p.slots, &slot{pane: q})
	}
	return p
}

// The places of panes in slots.
const (
	atCharts = iota
	atControls
	atPackets
	atBits
	atNow
	atLog
)

func (p *livePage) name() string { return "Live" }
func (p *livePage) number() int  { return 1 }

func (p *livePage) bindings() []binding { return nil }

func (p *livePage) arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *livePage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	for _, s := range p.slots {
		if s.observe(v) {
			changed = true
		}
	}
	return changed
}

// wide reports whether all panes fit the screen at once.
func wide(w, h int) bool { return w >= 104 && h >= 30 }

// focusable are the panes that the arrows can serve where all are in sight.
func (p *livePage) focusable(i int) bool {
	return !wide(p.w, p.h) || i == atControls || i == atPackets
}

func (p *livePage) focus(step int) {
	for range p.slots {
		p.at = (p.at + step + len(p.slots)) % len(p.slots)
		if p.focusable(p.at) {
			return
		}
	}
}

func (p *livePage) view(th *theme, w, h int) []string {
	p.charts.solo = false
	if wide(w, h) && p.at != atPackets {
		p.at = atControls // a pane that cannot have the keys here had them
	}
	p.w, p.h = w, h
	if wide(w, h) {
		p.places = p.arrange(w, h)
		return join(th, p.places, h, p.slots[p.at].pane, p.lit)
	}
	const above, below = 2, 1
	p.charts.solo = p.lit != nil // one chart is enough here
	p.places = []place{{p.slots[p.at], 0, above, w, h - above - below}}
	lines := p.vitals.render(th, w, 1, false)
	lines = append(lines[:1:1], tabsOf(th, p.slots, p.at, w))
	lines = append(lines, p.places[0].slot.render(th, w, h-above-below, true)...)
	c := newCanvas(w, below)
	p.controls.brief(c, th, 0, p.at != atControls)
	return append(lines, c.lines(th)...)
}

// rightColumn is the width of the controls and what stands below them.
func rightColumn(w int) int { return min(max(w*36/100, 52), 66) }

// arrange places the panes on a large screen.
func (p *livePage) arrange(w, h int) []place {
	right := rightColumn(w)
	left := w - right
	bits, packets := 7, 5
	if h < 44 {
		bits, packets = 4, 4
	}
	upper := h - bits
	now := 12
	if h < 44 {
		now = 11
	}
	log := max(upper-now-23, 4)
	return []place{
		{p.slots[atCharts], 0, 0, left, upper - packets},
		{p.slots[atPackets], 0, upper - packets, left, packets},
		{p.slots[atControls], left, 0, right, upper - now - log},
		{p.slots[atNow], left, upper - now - log, right, now},
		{p.slots[atLog], left, upper - log, right, log},
		{p.slots[atBits], 0, upper, w, bits},
	}
}

func (p *livePage) move(dx, dy int) wish {
	if p.at == atPackets {
		p.packets.choose(dx + dy*p.packets.stride())
		return wish{}
	}
	return p.controls.turn(dx, dy)
}

func (p *livePage) enter() wish { return p.controls.enter() }

func (p *livePage) release() {
	p.packets.release()
	p.controls.release()
}

func (p *livePage) aim() { p.controls.aim() }

func (p *livePage) zoom() { p.charts.nextSpan() }

// click gives the keys to the pane at (x, y) and selects what is there.
func (p *livePage) click(x, y int) {
	for _, at := range p.places {
		if x < at.x || x >= at.x+at.w || y < at.y || y >= at.y+at.h {
			continue
		}
		for i, s := range p.slots {
			if s == at.slot && p.focusable(i) {
				p.at = i
			}
		}
		switch at.slot.pane {
		case p.controls:
			p.controls.click(y - at.y)
		case p.packets:
			p.packets.point(x-at.x, y-at.y)
		}
		return
	}
	if !wide(p.w, p.h) && y == 1 {
		if at, ok := tabAt(p.slots, x); ok {
			p.at = at
		}
	}
}
