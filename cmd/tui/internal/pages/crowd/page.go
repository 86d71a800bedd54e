package crowd

import (
	"fmt"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// New returns the page: on a large screen the clients above, below them the charts on the left, and the
// baselines and the packets of a client on the right. selectClient selects the client that is step places further in
// the order of the page.
func New() (p *room.Page, selectClient func(step int) room.Request) {
	span, table := &panes.TimeAxis{}, &clientTable{}
	p = &room.Page{Name: "Crowd", Top: room.NewSlot(&summary{})}
	client := &client{}
	clients := &clients{clientTable: table, selected: -1, packets: client}
	client.clients = clients
	strip := p.Add(clients)[0]
	overTime := p.Add(&charts{TimeAxis: span})[0]
	p.Add(&quantiles{table}) // on small screens only
	ages := p.Add(&baselines{span: span})[0]
	packets := p.Add(client)[0]
	clients.focusPackets = func() { p.FocusOn(packets) }
	clients.focusClients = func() { p.FocusOn(strip) }
	p.LayOut = func(w, h int) []room.Place {
		const minRest = 22 // rows for charts and packets
		shown := len(clients.fields)
		clientsH := min(shown+clients.fixedRows(), max(h-minRest/2, 0)) // one row a figure; on high screens two
		if h-clientsH-shown >= minRest {
			clientsH += shown
		}
		rightW := room.RightColumn(w)
		leftW, restH := w-rightW, h-clientsH
		clientH := restH / 2
		return []room.Place{
			strip.Place(0, 0, w, clientsH),
			overTime.Place(0, clientsH, leftW, restH),
			ages.Place(leftW, clientsH, rightW, restH-clientH),
			packets.Place(leftW, h-clientH, rightW, clientH),
		}
	}
	return p, func(step int) room.Request { return clients.Move(0, step) }
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
		{look.Dim.Span("last 2 s  ")},
		text(look.Value, fmt.Sprint(x.Recent.Clients), "clients"),
		text(look.Value, now.perTick(float64(now.sum.Encodings)).Text(1), "encodings/tick"),
		text(wrong, fmt.Sprint(x.Totals.Wrong), "wrong"),
		text(look.Value, now.perTick(float64(now.sum.CPU.OfServer())/1000).Text(0), "server µs/tick"),
		text(look.Wire, now.megabits().Text(2), "Mbit/s"),
	})...)
}
