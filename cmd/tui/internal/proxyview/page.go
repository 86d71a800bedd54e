package proxyview

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// The places of panes in page.slots, in the order of the tab key.
const (
	paneCharts = iota
	paneNow
	paneControls
	paneTrust
	paneClients
	paneDatagrams
	numPanes
)

// page is the one page of the proxy: on a large screen all panes at once, on a small one a pane
// at a time below a line of vital numbers.
type page struct {
	room.Panes
	m *model

	chosen   int // the client under the cursor, by turn; 0: none
	datagram int // the datagram under the cursor, by its place from the newest
	span     int // of the charts
	fit      bool
}

// pane is a part of the page.
type pane struct {
	page        *page
	name, short string // short where there is little room
	draw        func(c *look.Canvas, focused bool)
}

func (p *pane) Name() string {
	if p.short != "" && p.page.Width() < 76 {
		return p.short
	}
	return p.name
}

func (p *pane) Draw(c *look.Canvas, _ *look.Theme, focused bool) { p.draw(c, focused) }

func newPage(m *model) *page {
	p := &page{m: m}
	p.At, p.Usable = paneControls, []int{paneControls, paneClients, paneDatagrams}
	for _, x := range [numPanes]pane{{name: "Charts", draw: m.drawCharts}, {name: "Now", draw: m.drawNow}, {name: "Controls", draw: m.drawControls},
		{name: "Asked and done", short: "Done", draw: m.drawTrust}, {name: "Clients", draw: m.drawClients},
		{name: "Datagrams", draw: m.drawDatagrams}} {
		x.page = p
		p.Slots = append(p.Slots, room.NewSlot(&x))
	}
	return p
}

// aroundPage is how many rows header and footer take.
const aroundPage = 3

func (p *page) Name() string { return "Proxy" }

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h+aroundPage)
	if p.Wide() {
		p.Places = p.arrange(w, h)
		return room.Join(th, p.Places, h, p.Slots[p.At].Pane, nil)
	}
	const above = 2
	p.Places = []room.Place{p.Slots[p.At].At(0, above, w, h-above)}
	vital := look.NewCanvas(w, 1)
	p.m.drawVital(vital, 0)
	lines := append([]string{p.Tabs(th)}, vital.Lines(th)...)
	return append(lines, p.Slots[p.At].Render(th, w, h-above, true)...)
}

// arrange places the panes on a large screen. The controls and the figures are whole where they
// can be.
func (p *page) arrange(w, h int) []room.Place {
	right := room.RightColumn(w)
	left := w - right
	list := max(min(h/4, 12), 5)
	places := []room.Place{p.Slots[paneCharts].At(0, 0, left, h-list), p.Slots[paneDatagrams].At(0, h-list, left, list)}
	y, rest := 0, h
	few := 4 // rows of the clients, at least
	if h >= 36 {
		few = 6
	}
	for _, x := range []struct{ at, want, below int }{ // below: rows that the panes below it must have
		{paneControls, 14, 15 + few}, {paneNow, 14, 7 + few}, {paneTrust, 9, few}, {paneClients, h, 0}} {
		rows := max(min(x.want, rest-x.below), min(rest, 4))
		if x.at == paneClients {
			rows = rest
		}
		places = append(places, p.Slots[x.at].At(left, y, right, rows))
		y += rows
		rest -= rows
	}
	return places
}

// Move implements room.Mover. Whatever pane has the keys, left and right adjust the control.
func (p *page) Move(dx, dy int) room.Request {
	switch {
	case dx != 0 || p.At == paneControls:
		return p.m.controls.Turn(dx, dy)
	case p.At == paneClients:
		p.choose(dy)
	case p.At == paneDatagrams:
		p.datagram = max(0, min(p.datagram-dy, len(p.m.list())-1))
		if p.m.frozen == nil {
			p.m.toggle() // else it would run away from the cursor
		}
	}
	return room.Request{}
}

func (p *page) Wheel(up int) room.Request {
	if p.At == paneControls {
		return p.Move(up, 0)
	}
	return p.Move(0, -up)
}

func (p *page) Click(x, y int) room.Request {
	if at := p.Hit(x, y, 0); at.Slot == p.Slots[paneControls] {
		p.m.controls.Click(y - at.Y)
	}
	return room.Request{}
}

func (p *page) Zoom() { p.span = (p.span + 1) % len(spans()) }

func (p *page) Fit() { p.fit = !p.fit }

func (p *page) Aim() room.Request {
	p.m.controls.Aim()
	p.m.update()
	return room.Request{Say: p.m.controls.Aims()}
}

func (p *page) Enter() room.Request {
	switch p.At {
	case paneClients:
		return p.enterClient()
	case paneDatagrams:
		return p.m.explain()
	}
	return p.m.controls.Enter()
}

// enterClient has the controls set the links of the chosen client alone, or those of all again.
func (p *page) enterClient() room.Request {
	if p.chosen == 0 {
		p.choose(0)
	}
	turn := p.chosen
	if turn == p.m.client.Turn {
		turn = 0
	}
	if err := p.m.aim(turn); err != nil {
		return room.Request{Say: err.Error(), Bad: true}
	}
	if turn == 0 {
		return room.Request{Say: "the controls set the links of all clients"}
	}
	return room.Request{Say: fmt.Sprintf("the controls set the links of client %d alone; c or esc: of all", turn)}
}

func (p *page) Release() {
	if p.m.frozen != nil {
		p.m.toggle()
	}
	p.m.controls.Release()
	p.datagram, p.chosen = 0, 0
	_ = p.m.aim(0)
}

// choose moves the cursor on clients.
func (p *page) choose(by int) {
	list := p.m.turns()
	if len(list) == 0 {
		return
	}
	at, found := slices.BinarySearch(list, p.chosen)
	if found {
		at += by
	}
	p.chosen = list[max(0, min(at, len(list)-1))]
}

func (p *page) Arrows() [][2]string { return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}} }

func (p *page) Means(key string) string {
	return map[string]string{"up": "the control, the client or the datagram above, below", "left": "less, more, whatever pane has the keys",
		"enter": "type an exact value, or choose from a list; on a client: the controls set it alone; on a datagram: what became of it",
		"[":     "much less, much more", "z": "fit the axis; how much time; dots or lines", "d": "which link the controls set: both, down, up",
		"esc": "both links of all clients again, and the display goes on"}[key]
}
