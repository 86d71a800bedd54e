package proxyview

import (
	"fmt"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// The panes, as indices of the page's slots, in the order of the tab key.
const (
	paneCharts = iota
	paneNow
	paneControls
	paneTrust
	paneClients
	paneDatagrams
	numPanes
)

// pane is a part of the page.
type pane struct {
	*model
	name string
	draw func(c *look.Canvas, focused bool)
}

func (p *pane) Name() string { return p.name }

func (p *pane) Draw(c *look.Canvas, _ *look.Theme, focused bool) { p.draw(c, focused) }

// chartsPane has the charts over time.
type chartsPane struct {
	pane
	*panes.TimeAxis
}

// Move shows a longer or a shorter time.
func (p *chartsPane) Move(_, dy int) room.Request {
	p.ZoomBy(-dy)
	return room.Request{}
}

func (p *chartsPane) Arrows() [][2]string { return [][2]string{{"↑↓", "time range"}} }

// rowsPane is a pane with lines that scroll.
type rowsPane struct {
	pane
	about func() string // what the lines are of
	lines func(w int) [][]look.Span
	first int // the first visible line
}

func (p *rowsPane) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.name, look.Dim.Span(p.about()))
	lines, rows := p.lines(c.W-4), c.H-2
	p.first = max(min(p.first, len(lines)-rows), 0)
	for i, line := range lines[p.first:min(p.first+rows, len(lines))] {
		c.Spans(2, 1+i, c.W-4, line...)
	}
	c.MoreBelow(th, len(lines)-p.first-rows)
}

func (p *rowsPane) Move(_, dy int) room.Request {
	p.first = min(max(p.first+dy, 0), 100) // Draw limits it to the number of lines
	return room.Request{}
}

func (p *rowsPane) Arrows() [][2]string { return [][2]string{{"↑↓", "scroll"}} }

// controlsPane has the controls.
type controlsPane struct {
	*controls.Pane
	m *model
}

// Arrows adds the keys that select which link the controls set, and type a value.
func (p *controlsPane) Arrows() [][2]string {
	return append(p.Pane.Arrows(), [2]string{"d", "up or down"}, [2]string{"enter", "value"})
}

// Aim selects the next link for the controls: both, down, up.
func (p *controlsPane) Aim() room.Request {
	r := p.Pane.Aim()
	p.m.update()
	return r
}

func (p *controlsPane) KeyHelp(key string) string {
	return map[string]string{"up": "previous or next control, client or datagram", "left": "less, more; not in lists",
		"enter": "type a value; of a client: set only its link",
		"[":     "much less, much more", "d": "which link the controls set: both, down, up",
		"esc": "links of all clients; continue the display"}[key]
}

// clientsPane lists the clients.
type clientsPane struct{ pane }

func (p *clientsPane) Move(_, dy int) room.Request {
	p.moveClientCursor(dy)
	return room.Request{}
}

func (p *clientsPane) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"enter", "set its links"}}
}

func (p *clientsPane) Enter() room.Request { return p.controlClient() }

func (p *clientsPane) Click(x, y int) room.Request {
	p.clientTable.Click(x, y)
	if i := p.clientTable.Cursor; i >= 0 {
		p.selectedClient = p.clients()[i].Number
	}
	return room.Request{}
}

// Release makes the controls set the links of all clients. While the display is stopped it does nothing, because then the
// key continues the display.
func (p *clientsPane) Release() room.Request {
	if p.frozen != nil {
		return room.Request{}
	}
	p.selectedClient = 0
	_ = p.setTarget(0) // 0, all clients, does not fail
	return room.Request{}
}

// datagramsPane lists the newest datagrams.
type datagramsPane struct{ pane }

func (p *datagramsPane) Move(_, dy int) room.Request {
	if dy != 0 {
		p.moveDatagramCursor(dy)
	}
	return room.Request{}
}

func (p *datagramsPane) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"enter", "explain"}}
}

func (p *datagramsPane) Click(x, y int) room.Request {
	p.datagramTable.Click(x, y)
	if i := p.datagramTable.Cursor; i >= 0 {
		p.moveDatagramCursor(i - (p.datagramTable.NumRows - 1 - p.datagramOffset))
	}
	return room.Request{}
}

func (p *datagramsPane) Enter() room.Request { return p.explainDatagram() }

// Release continues the display.
func (p *datagramsPane) Release() room.Request {
	if p.frozen != nil {
		p.toggleFrozen()
	}
	p.datagramOffset = 0
	return room.Request{}
}

// measuredLinks describes which links are compared with their settings.
func (m *model) measuredLinks() string {
	if m.target.Number > 0 {
		return fmt.Sprintf("client %d, since last set", m.target.Number)
	}
	return "all clients, since last set"
}

// newPage returns the only page of the proxy, with the focus on the controls.
func newPage(m *model) *room.Page {
	vital := pane{m, "", func(c *look.Canvas, _ bool) { m.drawVitalLine(c) }}
	p := &room.Page{Name: "Proxy", LayOut: m.layOut, Top: room.NewSlot(&vital)}
	now := &rowsPane{pane: pane{m, "Now", nil}, about: func() string { return "all clients, last 2 s" }, lines: m.nowLines}
	measured := &rowsPane{pane: pane{m, "Measured", nil}, about: m.measuredLinks, lines: m.trustLines}
	p.Add(&chartsPane{pane{m, "Charts", m.drawCharts}, &m.axis}, now, &controlsPane{&m.controls, m}, measured,
		&clientsPane{pane{m, "Clients", m.drawClients}}, &datagramsPane{pane{m, "Datagrams", m.drawDatagrams}})
	p.FocusOn(p.Slots[paneControls])
	return p
}

// layOut places the panes on a large screen: at the left the charts above the lists, at the right controls and figures,
// which get all rows that they need if the screen has them.
func (m *model) layOut(w, h int) []room.Place {
	rightW := room.RightColumn(w)
	leftW := w - rightW
	listRows := max(min(h*2/9, 12), 6)
	chartRows := h - 2*listRows
	const minTrustRows = 8
	controlRows := min(13, h/2-2)
	nowRows := min(16, h-controlRows-minTrustRows)
	slots := m.page.Slots
	return []room.Place{
		slots[paneCharts].Place(0, 0, leftW, chartRows),
		slots[paneClients].Place(0, chartRows, leftW, listRows),
		slots[paneDatagrams].Place(0, chartRows+listRows, leftW, listRows),
		slots[paneControls].Place(leftW, 0, rightW, controlRows),
		slots[paneNow].Place(leftW, controlRows, rightW, nowRows),
		slots[paneTrust].Place(leftW, controlRows+nowRows, rightW, h-controlRows-nowRows),
	}
}

// moveDatagramCursor moves the cursor in the list of datagrams by the given number of rows, and stops the
// display, because otherwise the list would scroll away under the cursor.
func (m *model) moveDatagramCursor(rows int) {
	if len(m.datagrams) == 0 {
		return
	}
	if m.frozen == nil {
		m.toggleFrozen()
	}
	m.datagramOffset = max(0, min(m.datagramOffset-rows, len(m.datagrams)-1))
}

// controlClient makes the controls set the links of the selected client only, and moves the focus to them.
func (m *model) controlClient() room.Request {
	m.moveClientCursor(0) // if none is selected, selects the first
	if err := m.setTarget(m.selectedClient); err != nil {
		return room.Refusal(err.Error())
	}
	if m.target.Number == 0 {
		return room.Refusal("no clients yet")
	}
	m.page.FocusOn(m.page.Slots[paneControls])
	return room.Request{Notice: fmt.Sprintf("the controls set the links of client %d only; esc: all clients", m.target.Number)}
}

// moveClientCursor moves the cursor in the list of clients by the given number of rows. If the selected
// client is not in the list, it selects the one after it.
func (m *model) moveClientCursor(rows int) {
	list := m.clients()
	if len(list) == 0 {
		return
	}
	i := m.clientRow(list)
	if isSelected := list[i].Number == m.selectedClient; isSelected || m.selectedClient == 0 {
		i += rows
	}
	m.selectedClient = list[max(0, min(i, len(list)-1))].Number
}
