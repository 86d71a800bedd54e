package crowd

import (
	"strconv"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// client lists the newest packets of the selected client.
type client struct {
	view   *engine.CrowdView
	scroll int // packets between the newest one and the last row
	table  grid.Table
	order  *order
}

func (p *client) Name() string { return "Client" }

// Absent implements room.Absent: the page Packets shows the packets.
func (p *client) Absent() bool { return p.view == nil || p.view.NoClient == "" }

// Move scrolls the packets, or selects another client.
func (p *client) Move(dx, dy int) room.Request {
	if dy != 0 {
		p.scroll -= dy
		return room.Request{}
	}
	p.scroll = 0
	return p.order.move(dx)
}

func (p *client) Arrows() [][2]string { return [][2]string{{"↑↓", "scroll"}, {"←→", "client"}} }

// Observe implements room.Observer: a newly selected client is shown at once.
func (p *client) Observe(v room.View) bool {
	x := v.Snap.Crowd
	if !v.RedrawDue && x.Selected == p.view.Selected {
		return false
	}
	p.view = x
	return true
}

func (p *client) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.view.Selected == 0 {
		c.Frame(th, focused, "Packets of a client")
		c.Clip(2, 1, c.W-4, look.Dim, "no client is in the game")
		return
	}
	p.table.NumRows = len(p.view.Packets)
	c.FitFrame(th, focused, "Packets of client "+strconv.Itoa(p.view.Selected), look.Labelled("the newest "+strconv.Itoa(p.table.NumRows)))
	const headings = 3 // and the edges
	last := max(p.table.NumRows-c.H+headings, 0)
	p.scroll = min(max(p.scroll, 0), last)
	p.table.First = last - p.scroll
	p.table.Draw(c, th, 1, c.H-2)
}

// newClient returns the pane for the client that is selected in o.
func newClient(o *order) *client {
	p := &client{order: o}
	column := func(title string, width, drop int, style look.Style, text func(*packetlog.Record) string) grid.Column {
		return grid.Column{Title: title, Width: width, Drop: drop, Right: true, Text: func(c grid.Cell) []look.Span {
			return grid.Text(style, text(&p.view.Packets[c.Row]))
		}}
	}
	p.table = grid.Table{Cursor: -1, Sort: -1, Columns: []grid.Column{
		column("packet", 7, 0, look.Value, func(r *packetlog.Record) string { return strconv.FormatUint(r.Seq, 10) }),
		column("baseline", 8, 0, look.Plain, func(r *packetlog.Record) string {
			if r.Baseline == 0 {
				return "initial"
			}
			return "-" + strconv.Itoa(r.Baseline)
		}),
		column("bytes", 5, 0, look.Payload, func(r *packetlog.Record) string { return strconv.Itoa(r.Payload) }),
		column("took ms", 7, 2, look.Plain, func(r *packetlog.Record) string {
			if r.Arrived == 0 {
				return "-"
			}
			return units.Fixed(units.Milliseconds(r.Arrived-r.Sent), 1)
		}),
		column("wire", 5, 1, look.Wire, func(r *packetlog.Record) string { return strconv.Itoa(r.Wire) }),
		{Title: "outcome", Width: grid.Rest, Min: 13, Text: func(c grid.Cell) []look.Span {
			r := &p.view.Packets[c.Row]
			return grid.Text(look.OutcomeStyle(r.Outcome), c.Theme.OutcomeSymbol(r.Outcome)+" "+look.OutcomeText(r))
		}},
	}}
	return p
}
