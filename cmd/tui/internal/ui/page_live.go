package ui

import (
	"slices"

	"wirelab/experiment"
)

// livePage is page 1: three charts, the packets, the controls, the numbers, and
// where the bits go. On a large screen all at once, on a small one a pane at a
// time below a line of vital numbers.
type livePage struct {
	base
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

func newLivePage(cat *catalog, budgetKbps float64) *livePage {
	p := &livePage{
		charts:   &chartsPane{budget: budgetKbps, lit: -1},
		packets:  &packetsPane{},
		controls: &controlsPane{cat: cat},
	}
	p.vitals = newSlot(&vitalsPane{})
	for _, q := range []pane{p.charts, p.controls, p.packets, &bitsPane{}, &nowPane{}, &logPane{}} {
		p.slots = append(p.slots, newSlot(q))
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

func (p *livePage) arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *livePage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	return observeAll(v, p.slots...) || changed
}

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
	p.places = []place{p.slots[p.at].at(0, above, w, h-above-below)}
	lines := p.vitals.render(th, w, 1, false)
	lines = append(lines[:1:1], tabsOf(th, p.slots, p.at, w))
	lines = append(lines, p.places[0].slot.render(th, w, h-above-below, true)...)
	c := newCanvas(w, below)
	p.controls.brief(c, th, 0, p.at != atControls)
	return append(lines, c.lines(th)...)
}

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
		p.slots[atCharts].at(0, 0, left, upper-packets),
		p.slots[atPackets].at(0, upper-packets, left, packets),
		p.slots[atControls].at(left, 0, right, upper-now-log),
		p.slots[atNow].at(left, upper-now-log, right, now),
		p.slots[atLog].at(left, upper-log, right, log),
		p.slots[atBits].at(0, upper, w, bits),
	}
}

func (p *livePage) move(dx, dy int) request {
	if p.at == atPackets {
		p.packets.choose(dx + dy*p.packets.stride())
		return request{}
	}
	return p.controls.turn(dx, dy)
}

func (p *livePage) enter() request { return p.controls.enter() }

func (p *livePage) release() {
	p.packets.release()
	p.controls.release()
}

// aim also says which link it is: on a small screen nothing else does.
func (p *livePage) aim() request {
	p.controls.aim()
	return request{say: p.controls.aims()}
}

func (p *livePage) zoom() { p.charts.nextSpan() }

// click gives the keys to the pane at (x, y) and selects what is there.
func (p *livePage) click(x, y int) request {
	at := placeAt(p.places, x, y)
	if i := slices.Index(p.slots, at.slot); i >= 0 && p.focusable(i) {
		p.at = i
	}
	switch {
	case at.slot == p.slots[atControls]:
		p.controls.click(y - at.y)
	case at.slot == p.slots[atPackets]:
		p.packets.point(x-at.x, y-at.y)
	case at.slot == nil && !wide(p.w, p.h) && y == 1:
		if i, ok := tabAt(p.slots, x); ok {
			p.at = i
		}
	}
	return request{}
}

// chosenPacket implements packetChooser.
func (p *livePage) chosenPacket() (experiment.PacketID, bool) {
	return experiment.PacketID{Seq: p.packets.chosen}, p.at == atPackets && p.packets.choosing
}

// light points at a place of the page: its border and title look as if it had the
// keys, and on a small screen it is the one in sight.
func (p *livePage) light(s spot) {
	p.lit, p.charts.lit, p.charts.brief = nil, -1, s != nowhere
	p.slots[atCharts].redraw()
	switch s {
	case onBandwidth, onRatio, onFailures:
		p.lit, p.charts.lit = p.slots[atCharts], int(s-onBandwidth)
	case onPackets:
		p.lit = p.slots[atPackets]
	}
	if i := slices.Index(p.slots, p.lit); i >= 0 && !wide(p.w, p.h) {
		p.at = i
	}
}
