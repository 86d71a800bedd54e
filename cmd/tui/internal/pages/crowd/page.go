package crowd

import (
	"fmt"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// page is page 8. A large screen shows the clients above, below them the charts on the left, and the baselines and the
// packets of a client on the right; a small one shows a pane at a time below the summary line.
type page struct {
	room.Panes
	summary *room.Slot
	clients *clients
	charts  *charts
	client  *client
}

// The panes, as indices of Slots.
const (
	paneClients = iota
	paneCharts
	paneQuantiles
	paneBaselines
	paneClient
)

func New() *page {
	span, table := &timeSpan{}, &clientTable{}
	p := &page{summary: room.NewSlot(&summary{}), clients: &clients{clientTable: table, selected: -1}, charts: &charts{timeSpan: span}, client: &client{}}
	for _, q := range []room.Pane{p.clients, p.charts, &quantiles{table}, &baselines{timeSpan: span}, p.client} {
		p.Slots = append(p.Slots, room.NewSlot(q))
	}
	p.Focusable = []int{paneClients, paneClient}
	return p
}

func (p *page) Name() string { return "Crowd" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	return room.ObserveAll(v, p.Slots...) || changed
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h)
	if p.Wide() {
		p.Places = p.layOut(w, h)
		return room.RenderPlaces(th, p.Places, h, p.Slots[p.Focused].Pane, nil)
	}
	return p.FocusedOnly(th, p.summary, w, h)
}

// layOut places the panes on a large screen.
func (p *page) layOut(w, h int) []room.Place {
	const minRest = 22 // rows for charts and packets
	shown := len(p.clients.shown())
	clientsH := min(shown+p.clients.fixedRows(), max(h-minRest/2, 0)) // one row a figure; on high screens two
	if h-clientsH-shown >= minRest {
		clientsH += shown
	}
	rightW := room.RightColumn(w)
	leftW, restH := w-rightW, h-clientsH
	clientH := restH / 2
	return []room.Place{
		p.Slots[paneClients].Place(0, 0, w, clientsH),
		p.Slots[paneCharts].Place(0, clientsH, leftW, restH),
		p.Slots[paneBaselines].Place(leftW, clientsH, rightW, restH-clientH),
		p.Slots[paneClient].Place(leftW, h-clientH, rightW, clientH),
	}
}

// Move implements room.Mover: it scrolls the packets of a client if their pane is focused, and otherwise selects a client:
// dx in columns of the strip, dy in clients.
func (p *page) Move(dx, dy int) room.Request {
	if p.Focused == paneClient && dy != 0 {
		p.client.scroll -= dy
		p.Slots[paneClient].Redraw()
		return room.Request{}
	}
	return p.selectClient(p.clients.move(dx*p.clients.perColumn() + dy))
}

// selectClient returns the request for the packets of the client with the given number, from 1; none if it is 0.
func (p *page) selectClient(number int) room.Request {
	if number == 0 {
		return room.Request{}
	}
	p.client.scroll = 0
	p.Slots[paneClients].Redraw()
	return room.Request{Command: &live.Command{Client: number}}
}

// Enter implements room.Enterer: it focuses the packets of the selected client, the last in the strip if none is selected.
func (p *page) Enter() room.Request {
	p.Focused, p.UserChose = paneClient, true
	if p.clients.selected < 0 {
		return p.selectClient(p.clients.move(room.ListEnd))
	}
	return room.Request{}
}

// Release implements room.Releaser: it focuses the clients again.
func (p *page) Release() room.Request {
	p.Focused = paneClients
	return room.Request{}
}

func (p *page) Bindings() []room.Binding {
	return []room.Binding{room.Bind("Crowd, page 8", []string{"o"}, "o", "order the clients by the next figure", func() room.Request {
		p.clients.order = (p.clients.order + 1) % max(len(p.clients.fields), 1)
		p.clients.sort()
		p.Slots[paneClients].Redraw()
		return room.Request{Notice: "clients by " + p.clients.fields[p.clients.order].Label()}
	}).InFooter("order")}
}

func (p *page) Arrows() [][2]string {
	if p.Focused == paneClient {
		return [][2]string{{"↑↓", "scroll"}, {"←→", "client"}}
	}
	return [][2]string{{"←→", "client"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"tab": "next pane", "up": "select the previous or next client; or scroll its packets", "left": "select a client further left or right",
		"enter": "show the packets of the selected client", "esc": "back to the clients",
		"x": "explain what a tick costs and what limits the server"}[key]
}

func (p *page) Span() time.Duration { return p.charts.span(len(p.charts.samples)) }

func (p *page) Zoom() {
	p.charts.index = (p.charts.index + 1) % len(panes.ChartSpans())
	p.redrawCharts()
}

// redrawCharts draws the panes with a time axis again.
func (p *page) redrawCharts() {
	p.Slots[paneCharts].Redraw()
	p.Slots[paneBaselines].Redraw()
}

// Wheel implements room.Wheeler: it changes the time span over the charts, and otherwise acts as the arrow keys.
func (p *page) Wheel(x, y, notches int) room.Request {
	switch room.PlaceAt(p.Places, x, y).Slot {
	case p.Slots[paneCharts], p.Slots[paneBaselines]:
		p.charts.index = panes.ZoomSpan(panes.ChartSpans(), p.charts.index, available(len(p.charts.samples)), notches)
		p.redrawCharts()
	case p.Slots[paneClient]:
		p.client.scroll += notches
		p.Slots[paneClient].Redraw()
	case p.Slots[paneClients]:
		return p.selectClient(p.clients.move(-notches))
	}
	return room.Request{}
}

// Click implements room.Clicker: it focuses the pane at (x, y), and selects the client there.
func (p *page) Click(x, y int) room.Request {
	const tabRow = 1 // below the summary line
	at := p.FocusAt(x, y, tabRow)
	if at.Slot == p.Slots[paneClients] && p.clients.view != nil {
		return p.selectClient(p.clients.selectColumn(x - at.X))
	}
	return room.Request{}
}

// Selection implements room.Copier: the figures of the selected client.
func (p *page) Selection() string { return look.SpansText(p.clients.selectedFigures()) }

func (p *page) Reasons() (room.Request, bool) {
	lines := explain(p.clients.clientTable)
	return room.Request{Overlay: &panes.TextBox{Title: "Crowd", Lines: lines}}, len(lines) > 0
}

// summary is a line with the main figures.
type summary struct{ view *engine.CrowdView }

func (p *summary) Name() string { return "Summary" }

func (p *summary) Observe(v room.View) bool {
	changed := p.view == nil || v.RedrawDue
	if changed {
		p.view = v.Snap.Crowd
	}
	return changed
}

func (p *summary) Draw(c *look.Canvas, _ *look.Theme, _ bool) {
	x := p.view
	if x == nil {
		return
	}
	now := recent(x.Samples)
	wrong := look.Value
	if x.Totals.Wrong > 0 {
		wrong = look.Alarm
	}
	text := func(style look.Style, value, unit string) []look.Span {
		return []look.Span{style.Span(value), look.Dim.Span(" " + unit + "  ")}
	}
	c.Spans(1, 0, c.W-2, look.FitGroups(c.W-2, [][]look.Span{
		text(look.Value, fmt.Sprint(x.Recent.Clients), "clients"),
		text(look.Value, now.perTick(float64(now.sum.Encodings)).Text(1), "encodings/tick"),
		text(wrong, fmt.Sprint(x.Totals.Wrong), "wrong"),
		text(look.Value, now.perTick(float64(now.sum.CPU.Elapsed)/1000).Text(0), "µs/tick"),
		text(look.Wire, now.megabits().Text(2), "Mbit/s"),
	})...)
}
