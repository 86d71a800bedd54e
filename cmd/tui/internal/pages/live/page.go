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
	room.Panes
	charts   *panes.Charts
	packets  *strip
	controls *controls.Pane
	summary  *room.Slot
	lit      *room.Slot // what the tour points at; nil: nothing
}

// New returns the page.
func New(cat *controls.Catalog) *page {
	p := &page{
		charts:   &panes.Charts{Selected: -1},
		packets:  &strip{},
		controls: &controls.Pane{Cat: cat},
	}
	p.summary = room.NewSlot(&panes.SummaryLine{})
	for _, q := range []room.Pane{p.charts, p.controls, p.packets, &panes.Bits{}, &now{}, &panes.Changes{}} {
		p.Slots = append(p.Slots, room.NewSlot(q))
	}
	p.Usable = []int{atControls, atPackets}
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
	changed := p.summary.Observe(v)
	return room.ObserveAll(v, p.Slots...) || changed
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.charts.OnlySelected = false
	p.Resize(w, h)
	if p.Wide() {
		if p.At != atPackets {
			p.At = atControls // a pane that cannot have the keys here had them
		}
		p.Places = p.arrange(w, h)
		return room.Join(th, p.Places, h, p.Slots[p.At].Pane, p.lit)
	}
	const above, below = 2, 1
	p.charts.OnlySelected = p.lit != nil // one chart is enough here
	p.Places = []room.Place{p.Slots[p.At].At(0, above, w, h-above-below)}
	lines := p.summary.Render(th, w, 1, false)
	lines = append(lines[:1:1], p.Tabs(th))
	lines = append(lines, p.Places[0].Slot.Render(th, w, h-above-below, true)...)
	c := look.NewCanvas(w, below)
	p.controls.Brief(c, th, 0, p.At != atControls)
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
		p.Slots[atCharts].At(0, 0, left, upper-packets),
		p.Slots[atPackets].At(0, upper-packets, left, packets),
		p.Slots[atControls].At(left, 0, right, upper-now-log),
		p.Slots[atNow].At(left, upper-now-log, right, now),
		p.Slots[atLog].At(left, upper-log, right, log),
		p.Slots[atBits].At(0, upper, w, bits),
	}
}

func (p *page) Move(dx, dy int) room.Request {
	if p.At == atPackets {
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
	switch at := p.Hit(x, y, 1); at.Slot {
	case p.Slots[atControls]:
		p.controls.Click(y - at.Y)
	case p.Slots[atPackets]:
		p.packets.point(x-at.X, y-at.Y)
	}
	return room.Request{}
}

func (p *page) ChosenPacket() (packetlog.ID, bool) {
	return packetlog.ID{Seq: p.packets.chosen}, p.At == atPackets && p.packets.choosing
}

// Light implements tour.Lighter: it points at a place of the page: its border and title look as if it had the
// keys, and on a small screen it is the one in sight.
func (p *page) Light(s tour.Spot) {
	p.lit, p.charts.Selected, p.charts.Brief = nil, -1, s != tour.Nowhere
	p.Slots[atCharts].Redraw()
	switch s {
	case tour.OnBandwidth, tour.OnRatio, tour.OnFailures:
		p.lit, p.charts.Selected = p.Slots[atCharts], int(s-tour.OnBandwidth)
	case tour.OnPackets:
		p.lit = p.Slots[atPackets]
	}
	if i := slices.Index(p.Slots, p.lit); i >= 0 && !p.Wide() {
		p.At = i
	}
}
