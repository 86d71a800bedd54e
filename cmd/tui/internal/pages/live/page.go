package live

import (
	"slices"
	"time"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"
	"wirelab/experiment/engine/packetlog"
)

// page is page 1: three charts, the packets, the controls, the figures, the changes and the bit
// budget. A large screen shows all panes, a small one a pane at a time below the summary line.
type page struct {
	room.Panes
	charts      *panes.Charts
	packets     *strip
	controls    *controls.Pane
	summary     *room.Slot
	highlighted *room.Slot // the pane that the tour highlights; nil if none
}

// New returns the page. cat lists what the controls can set.
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
	p.Focusable = []int{paneControls, panePackets}
	return p
}

// The panes, as indices of Slots.
const (
	paneCharts = iota
	paneControls
	panePackets
	paneBits
	paneNow
	paneChanges
)

func (p *page) Name() string { return "Live" }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select a control; in the packets: a row up or down",
		"left": "less, more; in the packets: older, newer", "[": "much less, much more",
		"enter": "type an exact value, or choose from a list", "tab": "next pane: controls or packets",
		"d": "which link the controls set: both, down, up", "esc": "clear the selection; set both links"}[key]
}

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	return room.ObserveAll(v, p.Slots...) || changed
}

// Lines implements room.Page. A small screen shows summary line, tabs, one pane and the selected
// control.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.charts.OnlySelected = false
	p.Resize(w, h)
	if p.Wide() {
		if p.Focused != panePackets {
			p.Focused = paneControls // the other panes have no keys on a large screen
		}
		p.Places = p.layOut(w, h)
		return room.RenderPlaces(th, p.Places, h, p.Slots[p.Focused].Pane, p.highlighted)
	}
	const headerRows, controlRows = 2, 1
	p.charts.OnlySelected = p.highlighted != nil // one chart is enough here
	p.Places = []room.Place{p.Slots[p.Focused].Place(0, headerRows, w, h-headerRows-controlRows)}
	const summaryRows = 1
	lines := p.summary.Render(th, w, summaryRows, look.Unfocused)[:1:1] // a capacity of 1 makes append copy: the slot reuses its lines
	lines = append(lines, p.TabRow(th))
	lines = append(lines, p.Places[0].Slot.Render(th, w, h-headerRows-controlRows, look.Focused)...)
	c := look.NewCanvas(w, controlRows) // the selected control
	p.controls.DrawHelpLine(c, th, p.Focused != paneControls)
	return append(lines, c.Lines(th)...)
}

// layOut places the panes on a large screen: charts above packets on the left; controls, figures and
// changes on the right; the bit budget at the bottom. The names of heights end in H.
func (p *page) layOut(w, h int) []room.Place {
	const (
		highScreen     = 44 // with fewer rows, three of the panes get their minimum height
		veryHighScreen = 56 // with as many, the packets get more rows
	)
	const maxControlsH = 23 // the changes get the rows that are left
	rightW := room.RightColumn(w)
	leftW := w - rightW
	bitsH, packetsH, nowH := 7, 5, 12
	switch {
	case h < highScreen:
		bitsH, packetsH, nowH = 4, 4, 11
	case h >= veryHighScreen:
		packetsH = 10
	}
	upperH := h - bitsH
	changesH := max(upperH-nowH-maxControlsH, 4)
	return []room.Place{
		p.Slots[paneCharts].Place(0, 0, leftW, upperH-packetsH),
		p.Slots[panePackets].Place(0, upperH-packetsH, leftW, packetsH),
		p.Slots[paneControls].Place(leftW, 0, rightW, upperH-nowH-changesH),
		p.Slots[paneNow].Place(leftW, upperH-nowH-changesH, rightW, nowH),
		p.Slots[paneChanges].Place(leftW, upperH-changesH, rightW, changesH),
		p.Slots[paneBits].Place(0, upperH, w, bitsH),
	}
}

// Move moves the packet cursor if the packets have the focus; otherwise it selects and adjusts a control.
func (p *page) Move(dx, dy int) room.Request {
	if p.Focused == panePackets {
		p.packets.moveCursor(dx + dy*p.packets.rowLength())
		return room.Request{}
	}
	return p.controls.HandleArrow(dx, dy)
}

// Wheel implements room.Wheeler. Over the packets, which are in the order of reading, down is newer.
func (p *page) Wheel(x, y, notches int) room.Request {
	switch at := room.PlaceAt(p.Places, x, y); at.Slot {
	case p.Slots[paneCharts]:
		p.charts.ZoomBy(notches)
	case p.Slots[panePackets]:
		p.packets.moveCursor(-notches)
	case p.Slots[paneControls]:
		return p.controls.Wheel(y-at.Y, notches)
	}
	return room.Request{}
}

func (p *page) Enter() room.Request { return p.controls.Enter() }

// Release clears the selected packet and resets the controls to both links.
func (p *page) Release() room.Request {
	p.packets.release()
	p.controls.SelectBothLinks()
	return room.Request{}
}

// Aim selects the next link for the controls, and shows a notice, because a small screen shows the
// link nowhere else.
func (p *page) Aim() room.Request {
	p.controls.NextDirection()
	return room.Request{Notice: p.controls.DirectionText()}
}

func (p *page) Zoom() { p.charts.NextSpan() }

func (p *page) Span() time.Duration { return p.charts.Span() }

// Click focuses the pane at (x, y) and selects the control or packet there.
func (p *page) Click(x, y int) room.Request {
	const tabRow = 1 // below the summary line
	switch at := p.FocusAt(x, y, tabRow); at.Slot {
	case p.Slots[paneControls]:
		p.controls.Click(y - at.Y)
	case p.Slots[panePackets]:
		p.packets.clickAt(x-at.X, y-at.Y)
	}
	return room.Request{}
}

func (p *page) ChosenPacket() (packetlog.ID, bool) {
	return packetlog.ID{Seq: p.packets.selected}, p.Focused == panePackets && p.packets.hasSelection
}

// Light implements tour.Lighter: it highlights the pane or chart that the guided tour is about, by drawing
// it as if it had the focus. On a small screen it shows that pane. Nowhere ends the highlighting.
func (p *page) Light(s tour.Spot) {
	p.highlighted, p.charts.Selected, p.charts.InTour = nil, -1, s != tour.Nowhere
	p.Slots[paneCharts].Redraw()
	switch s {
	case tour.OnBandwidth, tour.OnRatio, tour.OnFailures:
		p.highlighted, p.charts.Selected = p.Slots[paneCharts], int(s-tour.OnBandwidth) // spots are in the order of the charts
	case tour.OnPackets:
		p.highlighted = p.Slots[panePackets]
	}
	if i := slices.Index(p.Slots, p.highlighted); i >= 0 && !p.Wide() {
		p.Focused = i
	}
}
