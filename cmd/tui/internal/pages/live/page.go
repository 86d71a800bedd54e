package live

import (
	"slices"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"
	"wirelab/experiment/engine/packetlog"
)

// page is page 1: three charts, the packets, the controls, the numbers, and
// where the bits go. On a large screen all at once, on a small one a pane at a
// time below a line of vital numbers.
type page struct {
	charts   *panes.Charts
	packets  *strip
	controls *controls.Pane
	slots    []*room.Slot // in the order of the tab key
	vitals   *room.Slot
	at       int        // index of the focused one
	lit      *room.Slot // what the tour points at; nil: nothing
	w, h     int
	places   []room.Place
}

// New returns the page.
func New(cat *controls.Catalog) *page {
	p := &page{
		charts:   &panes.Charts{Lit: -1},
		packets:  &strip{},
		controls: &controls.Pane{Cat: cat},
	}
	p.vitals = room.NewSlot(&panes.Vitals{})
	for _, q := range []room.Pane{p.charts, p.controls, p.packets, &panes.Bits{}, &now{}, &panes.Changes{}} {
		p.slots = append(p.slots, room.NewSlot(q))
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

func (p *page) Name() string { return "Live" }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "choose a control; in the packets: a row up or down",
		"left": "less, more; in the packets: an older one, a newer one", "[": "much less, much more",
		"enter": "type an exact value, or choose from a list", "tab": "the next pane: controls or packets", "z": "fit the axis; how much time; dots or lines",
		"d": "which link the controls set: both, down, up", "esc": "let go of the packet; set both links again"}[key]
}

func (p *page) Observe(v room.View) bool {
	changed := p.vitals.Observe(v)
	return room.ObserveAll(v, p.slots...) || changed
}

// focusable are the panes that the arrows can serve where all are in sight.
func (p *page) focusable(i int) bool {
	return !room.Wide(p.w, p.h) || i == atControls || i == atPackets
}

func (p *page) Focus(step int) {
	for range p.slots {
		p.at = (p.at + step + len(p.slots)) % len(p.slots)
		if p.focusable(p.at) {
			return
		}
	}
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.charts.Solo = false
	if room.Wide(w, h) && p.at != atPackets {
		p.at = atControls // a pane that cannot have the keys here had them
	}
	p.w, p.h = w, h
	if room.Wide(w, h) {
		p.places = p.arrange(w, h)
		return room.Join(th, p.places, h, p.slots[p.at].Pane, p.lit)
	}
	const above, below = 2, 1
	p.charts.Solo = p.lit != nil // one chart is enough here
	p.places = []room.Place{p.slots[p.at].At(0, above, w, h-above-below)}
	lines := p.vitals.Render(th, w, 1, false)
	lines = append(lines[:1:1], room.TabsOf(th, p.slots, p.at, w))
	lines = append(lines, p.places[0].Slot.Render(th, w, h-above-below, true)...)
	c := look.NewCanvas(w, below)
	p.controls.Brief(c, th, 0, p.at != atControls)
	return append(lines, c.Lines(th)...)
}

// arrange places the panes on a large screen.
func (p *page) arrange(w, h int) []room.Place {
	right := room.RightColumn(w)
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
	return []room.Place{
		p.slots[atCharts].At(0, 0, left, upper-packets),
		p.slots[atPackets].At(0, upper-packets, left, packets),
		p.slots[atControls].At(left, 0, right, upper-now-log),
		p.slots[atNow].At(left, upper-now-log, right, now),
		p.slots[atLog].At(left, upper-log, right, log),
		p.slots[atBits].At(0, upper, w, bits),
	}
}

func (p *page) Move(dx, dy int) room.Request {
	if p.at == atPackets {
		p.packets.choose(dx + dy*p.packets.stride())
		return room.Request{}
	}
	return p.controls.Turn(dx, dy)
}

// Wheel adjusts what is chosen.
func (p *page) Wheel(up int) room.Request { return p.Move(up, 0) }

func (p *page) Enter() room.Request { return p.controls.Enter() }

func (p *page) Release() {
	p.packets.release()
	p.controls.Release()
}

// Aim also says which link it is: on a small screen nothing else does.
func (p *page) Aim() room.Request {
	p.controls.Aim()
	return room.Request{Say: p.controls.Aims()}
}

func (p *page) Zoom() { p.charts.NextSpan() }

func (p *page) Fit() { p.charts.Fit() }

// Click gives the keys to the pane at (x, y) and selects what is there.
func (p *page) Click(x, y int) room.Request {
	at := room.PlaceAt(p.places, x, y)
	if i := slices.Index(p.slots, at.Slot); i >= 0 && p.focusable(i) {
		p.at = i
	}
	switch {
	case at.Slot == p.slots[atControls]:
		p.controls.Click(y - at.Y)
	case at.Slot == p.slots[atPackets]:
		p.packets.point(x-at.X, y-at.Y)
	case at.Slot == nil && !room.Wide(p.w, p.h) && y == 1:
		if i, ok := room.TabAt(p.slots, x); ok {
			p.at = i
		}
	}
	return room.Request{}
}

// ChosenPacket implements packetChooser.
func (p *page) ChosenPacket() (packetlog.ID, bool) {
	return packetlog.ID{Seq: p.packets.chosen}, p.at == atPackets && p.packets.choosing
}

// Light implements tour.Lighter: it points at a place of the page: its border and title look as if it had the
// keys, and on a small screen it is the one in sight.
func (p *page) Light(s tour.Spot) {
	p.lit, p.charts.Lit, p.charts.Brief = nil, -1, s != tour.Nowhere
	p.slots[atCharts].Redraw()
	switch s {
	case tour.OnBandwidth, tour.OnRatio, tour.OnFailures:
		p.lit, p.charts.Lit = p.slots[atCharts], int(s-tour.OnBandwidth)
	case tour.OnPackets:
		p.lit = p.slots[atPackets]
	}
	if i := slices.Index(p.slots, p.lit); i >= 0 && !room.Wide(p.w, p.h) {
		p.at = i
	}
}
