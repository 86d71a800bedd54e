package proxyview

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// The panes, as indices of page.Slots, in the order of the tab key.
const (
	paneCharts = iota
	paneNow
	paneControls
	paneTrust
	paneClients
	paneDatagrams
	numPanes
)

// page is the only page of the proxy. A large screen shows all panes, a small one the focused pane
// below a line with the most important figures.
type page struct {
	room.Panes
	m *model

	selectedClient int // turn of the client under the cursor; 0: none
	datagramOffset int // distance of the datagram cursor from the newest datagram
	spanIndex      int // index in spans
}

// pane is a part of the page.
type pane struct {
	page        *page
	name, short string // short is used on narrow screens; "" if name is short
	draw        func(c *look.Canvas, focused bool)
}

// Name implements room.Pane. Narrow screens show the short name.
func (p *pane) Name() string {
	if p.short != "" && p.page.Width() < 76 {
		return p.short
	}
	return p.name
}

func (p *pane) Draw(c *look.Canvas, _ *look.Theme, focused bool) { p.draw(c, focused) }

// newPage returns the page of m, with the focus on the controls.
func newPage(m *model) *page {
	p := &page{m: m}
	p.Focused, p.Focusable = paneControls, []int{paneControls, paneClients, paneDatagrams}
	for _, x := range [numPanes]pane{{name: "Charts", draw: m.drawCharts}, {name: "Now", draw: m.drawNow}, {name: "Controls", draw: m.drawControls},
		{name: "Set and measured", short: "Measured", draw: m.drawTrust}, {name: "Clients", draw: m.drawClients},
		{name: "Datagrams", draw: m.drawDatagrams}} {
		x.page = p
		p.Slots = append(p.Slots, room.NewSlot(&x))
	}
	return p
}

// headerFooterRows is the height of header and footer.
const headerFooterRows = 3

func (p *page) Name() string { return "Proxy" }

// Lines implements room.Page. A small screen shows tabs, the line of vital figures and the focused
// pane.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h+headerFooterRows)
	if p.Wide() {
		p.Places = p.layOut(w, h)
		// nil: no pane is highlighted in addition to the focused one.
		return room.RenderPlaces(th, p.Places, h, p.Slots[p.Focused].Pane, nil)
	}
	vital := look.NewCanvas(w, 1)
	p.m.drawVitalLine(vital)
	return p.FocusedBelow(th, append([]string{p.TabRow(th)}, vital.Lines(th)...), w, h)
}

// layOut places the panes on a large screen. Controls and figures get all rows that they need, if
// the screen has them.
func (p *page) layOut(w, h int) []room.Place {
	rightW := room.RightColumn(w)
	leftW := w - rightW
	listRows := max(min(h/4, 12), 5)
	places := []room.Place{p.Slots[paneCharts].Place(0, 0, leftW, h-listRows), p.Slots[paneDatagrams].Place(0, h-listRows, leftW, listRows)}
	y, rest := 0, h
	minClientRows := 4
	if h >= 36 {
		minClientRows = 6
	}
	for _, x := range []struct{ pane, wantRows, rowsBelow int }{ // rowsBelow is reserved for the panes below
		{pane: paneControls, wantRows: 14, rowsBelow: 15 + minClientRows},
		{pane: paneNow, wantRows: 14, rowsBelow: 7 + minClientRows},
		{pane: paneTrust, wantRows: 9, rowsBelow: minClientRows},
		{pane: paneClients, wantRows: h},
	} {
		rows := max(min(x.wantRows, rest-x.rowsBelow), min(rest, 4))
		if x.pane == paneClients {
			rows = rest
		}
		places = append(places, p.Slots[x.pane].Place(leftW, y, rightW, rows))
		y += rows
		rest -= rows
	}
	return places
}

// Move implements room.Mover. Left and right adjust the control whichever pane has the focus.
func (p *page) Move(dx, dy int) room.Request {
	switch {
	case dx != 0 || p.Focused == paneControls:
		return p.m.controls.HandleArrow(dx, dy)
	case p.Focused == paneClients:
		p.moveClientCursor(dy)
	case p.Focused == paneDatagrams:
		p.moveDatagramCursor(dy)
	}
	return room.Request{}
}

// moveDatagramCursor moves the cursor in the list of datagrams by the given number of rows, and stops the
// display, because otherwise the list would scroll away under the cursor.
func (p *page) moveDatagramCursor(rows int) {
	p.datagramOffset = max(0, min(p.datagramOffset-rows, len(p.m.listedDatagrams())-1))
	if p.m.frozen == nil {
		p.m.toggleFrozen()
	}
}

func (p *page) Wheel(x, y, notches int) room.Request {
	switch at := room.PlaceAt(p.Places, x, y); at.Slot {
	case p.Slots[paneCharts]:
		p.spanIndex = panes.ZoomSpan(spans(), p.spanIndex, p.m.available(), notches)
	case p.Slots[paneControls]:
		return p.m.controls.Wheel(y-at.Y, notches)
	case p.Slots[paneClients]:
		p.moveClientCursor(-notches)
	case p.Slots[paneDatagrams]:
		p.moveDatagramCursor(-notches)
	}
	return room.Request{}
}

// Click focuses the pane at (x, y) and selects the control there.
func (p *page) Click(x, y int) room.Request {
	const tabRow = 0
	if at := p.FocusAt(x, y, tabRow); at.Slot == p.Slots[paneControls] {
		p.m.controls.Click(y - at.Y)
	}
	return room.Request{}
}

func (p *page) Zoom() { p.spanIndex = (p.spanIndex + 1) % len(spans()) }

// Aim selects the next link for the controls: both, down, up.
func (p *page) Aim() room.Request {
	p.m.controls.NextDirection()
	p.m.update()
	return room.Request{Notice: p.m.controls.DirectionText()}
}

// Enter opens what the cursor of the focused pane is on.
func (p *page) Enter() room.Request {
	switch p.Focused {
	case paneClients:
		return p.toggleClientTarget()
	case paneDatagrams:
		return p.m.explainDatagram()
	}
	return p.m.controls.Enter()
}

// toggleClientTarget makes the controls set the links of the selected client only or, if they already do, of all
// clients.
func (p *page) toggleClientTarget() room.Request {
	if p.selectedClient == 0 { // none is selected: select the first
		p.moveClientCursor(0)
	}
	number := p.selectedClient
	if number == p.m.target.Number {
		number = 0 // all clients
	}
	if err := p.m.setTarget(number); err != nil {
		return room.Request{Notice: err.Error(), IsError: true}
	}
	if number == 0 {
		return room.Request{Notice: "the controls set the links of all clients"}
	}
	return room.Request{Notice: fmt.Sprintf("the controls set the links of client %d only; c or esc: all clients", number)}
}

// Release continues the display, clears all selections, and makes the controls set the links of all
// clients.
func (p *page) Release() room.Request {
	if p.m.frozen != nil {
		p.m.toggleFrozen()
	}
	p.m.controls.SelectBothLinks()
	p.datagramOffset, p.selectedClient = 0, 0
	_ = p.m.setTarget(0) // 0, all clients, does not fail
	return room.Request{}
}

// moveClientCursor moves the cursor in the list of clients by the given number of rows. If the selected
// client is not in the list, it selects the one after it.
func (p *page) moveClientCursor(rows int) {
	turns := p.m.clientTurns()
	if len(turns) == 0 {
		return
	}
	i, found := slices.BinarySearch(turns, p.selectedClient)
	if found {
		i += rows
	}
	p.selectedClient = turns[max(0, min(i, len(turns)-1))]
}

func (p *page) Arrows() [][2]string { return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}} }

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "previous or next control, client or datagram", "left": "less, more, in any pane",
		"enter": "type an exact value, or choose from a list; on a client: the controls set only its links; on a datagram: its outcome",
		"[":     "much less, much more", "d": "which link the controls set: both, down, up",
		"esc": "select both links of all clients, and continue the display"}[key]
}
