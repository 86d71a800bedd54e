package proxyview

import (
	"fmt"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// idleAfter is the time without datagrams after which a client is listed as silent.
const idleAfter = 2 * time.Second

// drawClients draws the list of clients with their rates, losses and states.
func (m *model) drawClients(c *look.Canvas, focused bool) {
	h := m.displayed()
	t := &h.snap.Totals
	title := fmt.Sprintf("Clients %d", t.Clients)
	more := []look.Span{look.Dim.Span(fmt.Sprintf("joined %d, timed out %d", t.Joined, t.Forgotten))}
	if t.Refused > 0 {
		more = append(more, look.Warn.Span(fmt.Sprintf(", %d datagrams refused", t.Refused)))
	}
	c.Frame(m.Theme(), focused, title, more...)
	list := slices.Clone(h.snap.Clients)
	slices.SortFunc(list, func(a, b relay.ClientState) int { return a.Turn - b.Turn })
	if len(list) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "no datagrams yet: point the client program at "+m.proxy.Listen)
		return
	}
	at := max(slices.IndexFunc(list, func(x relay.ClientState) bool { return x.Turn == m.page.selectedClient }), 0)
	span := max((t.At - h.olderAt).Seconds(), period.Seconds())
	address := max(min(c.W-4-33, 48), 16) // width of the column, after 33 or 37 columns for the others
	if c.W >= 64 {
		address = min(c.W-4-37, 48)
	}
	// line draws the columns up to the losses and returns the column after them.
	line := func(y int, style look.Ink, turn, addr, up, down, lost string) int {
		return c.Clip(2, y, c.W-4, style, look.PadRight(turn, 4)+look.PadRight(look.Short(addr, address-1), address)+look.PadLeft(up, 5)+look.PadLeft(down, 7)+
			look.PadLeft(lost, 8))
	}
	c.Clip(line(1, look.Dim, "turn", " address", "up/s", "down/s", "lost %")+2, 1, 8, look.Dim, "state")
	room := c.H - 3
	first := max(0, min(at-room/2, len(list)-room))
	for i := first; i < len(list) && i < first+room; i++ {
		x := &list[i]
		y := 2 + i - first
		style := look.Plain
		if x.Turn == m.target.Turn { // the controls set this client's links only
			c.Text(1, y, look.Warn, m.Theme().Dot)
		}
		if focused && x.Turn == m.page.selectedClient {
			style = look.Chosen
			c.Text(1, y, look.Chosen, m.Theme().Chosen)
		}
		d := clientTraffic(x, h.olderClients)
		state, stateInk := "active", look.Good
		switch silent := t.At - x.Seen; {
		case x.Leaving:
			state, stateInk = "timed out", look.Dim
		case silent >= idleAfter:
			state, stateInk = "silent "+units.Fixed(silent.Seconds(), 0)+" s", look.Warn
			if c.W < 64 {
				state = "silent"
			}
		}
		lost := formatPercent(d[0].Lost, d[0].In) + "/" + formatPercent(d[1].Lost, d[1].In)
		end := line(y, style, fmt.Sprint(x.Turn), " "+x.Addr.String(), formatRate(d[0].Out, span), formatRate(d[1].Out, span), lost)
		c.Clip(end+2, y, c.W-2-end-2, stateInk, state)
	}
	if len(list) > room {
		c.Text(2, c.H-1, look.Dim, fmt.Sprintf(" %d of %d ", min(room, len(list)), len(list)))
	}
}

// drawDatagrams draws the list of the newest datagrams with their outcomes.
func (m *model) drawDatagrams(c *look.Canvas, focused bool) {
	hint := "space stops the display, x explains"
	if m.frozen != nil {
		hint = "up/down select, x explains"
	}
	c.Frame(m.Theme(), focused, "Datagrams", look.Dim.Span(hint))
	list := m.listedDatagrams()
	if len(list) == 0 {
		c.Text(2, 1, look.Dim, "no datagrams yet")
		return
	}
	c.Clip(2, 1, c.W-4, look.Dim, fmt.Sprintf("%10s  %-5s%10s%7s%7s  %s", "read at s", "dir", "number", "client", "bytes", "outcome"))
	room := c.H - 3
	at := max(len(list)-1-m.page.datagramOffset, 0)
	first := max(0, min(at-room/2, len(list)-room))
	for i := first; i < len(list) && i < first+room; i++ {
		x := &list[i]
		y := 2 + i - first
		style, fate := look.Plain, look.Dim
		if x.Lost() {
			fate = look.Lost
		}
		if m.frozen != nil && i == at {
			style = look.Chosen
			c.Text(1, y, look.Chosen, m.Theme().Chosen)
		}
		end := c.Clip(2, y, c.W-4, style, fmt.Sprintf("%10.3f  %-5s%10d%7d%7d", x.At.Seconds(), x.Way, x.Seq, x.Client.Turn, x.Size))
		c.Clip(end+2, y, c.W-2-end-2, fate, x.Fate())
	}
}
