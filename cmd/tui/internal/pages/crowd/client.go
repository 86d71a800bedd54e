package crowd

import (
	"strconv"

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
	list := p.view.Packets
	c.FitFrame(th, focused, "Packets of client "+strconv.Itoa(p.view.Selected), look.Labelled("the newest "+strconv.Itoa(len(list))))
	const outcomeWidth = 13
	columns, outcomeX := packetColumns(), 0
	for {
		outcomeX = columns[len(columns)-1].end + 2
		if outcomeX+outcomeWidth < c.W || len(columns) == minColumns {
			break
		}
		columns = columns[:len(columns)-1]
	}
	for _, col := range columns {
		c.TextRight(col.end, 1, look.Dim, col.heading)
	}
	c.Clip(outcomeX, 1, c.W-2-outcomeX, look.Dim, "outcome")
	rows := max(c.H-3, 0)
	p.scroll = min(max(p.scroll, 0), max(len(list)-rows, 0))
	list = list[:len(list)-p.scroll]
	list = list[max(len(list)-rows, 0):]
	for i := range list {
		r, y := &list[i], 2+i
		for _, col := range columns {
			c.TextRight(col.end, y, col.style, col.text(r))
		}
		word := look.OutcomeName(r.Outcome)
		if r.Outcome == packetlog.Lost {
			word += ": " + r.Cause.String()
		}
		style := look.OutcomeStyle(r.Outcome)
		c.Clip(c.Text(outcomeX, y, style, string(th.Outcome[r.Outcome])+" "), y, c.W-1-outcomeX, style, word)
	}
}

// packetColumn is a column of the list: its right edge, heading, style and cells.
type packetColumn struct {
	end     int
	heading string
	style   look.Style
	text    func(*packetlog.Record) string
}

// minColumns is the number of columns that are never left out.
const minColumns = 3

// packetColumns returns the columns before the outcome, the most important first.
func packetColumns() []packetColumn {
	return []packetColumn{
		{9, "packet", look.Value, func(r *packetlog.Record) string { return strconv.FormatUint(r.Seq, 10) }},
		{18, "baseline", look.Plain, func(r *packetlog.Record) string {
			if r.Baseline == 0 {
				return "initial"
			}
			return "-" + strconv.Itoa(r.Baseline)
		}},
		{24, "bytes", look.Payload, func(r *packetlog.Record) string { return strconv.Itoa(r.Payload) }},
		{32, "took ms", look.Plain, func(r *packetlog.Record) string {
			if r.Arrived == 0 {
				return "-"
			}
			return units.Fixed(units.Milliseconds(r.Arrived-r.Sent), 1)
		}},
		{38, "wire", look.Wire, func(r *packetlog.Record) string { return strconv.Itoa(r.Wire) }},
	}
}
