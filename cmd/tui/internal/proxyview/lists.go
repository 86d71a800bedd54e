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

// drawClients draws the list of clients with their rates, losses and states, scrolled so that the cursor is
// visible. A dot marks the client whose links the controls set.
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
	slices.SortFunc(list, func(a, b relay.ClientState) int { return a.Number - b.Number })
	if len(list) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "no datagrams yet: point the client program at "+m.proxy.Listen)
		return
	}
	cursor := max(slices.IndexFunc(list, func(x relay.ClientState) bool { return x.Number == m.selectedClient }), 0)
	span := max((t.At - h.olderAt).Seconds(), period.Seconds())
	const wide = 64                            // width from which on the state has four columns more, for the time of silence
	addressWidth := max(min(c.W-4-33, 48), 16) // the other columns take 33, or 37 with a long state
	if c.W >= wide {
		addressWidth = min(c.W-4-37, 48)
	}
	// drawLine draws the columns up to the losses and returns the column after them.
	drawLine := func(y int, style look.Style, turn, addr, up, down, lost string) int {
		return c.Clip(2, y, c.W-4, style, look.PadRight(turn, 4)+look.PadRight(look.Shorten(addr, addressWidth-1), addressWidth)+
			look.PadLeft(up, 5)+look.PadLeft(down, 7)+look.PadLeft(lost, 8))
	}
	c.Clip(drawLine(1, look.Dim, "turn", " address", "up/s", "down/s", "lost %")+2, 1, 8, look.Dim, "state")
	rows := c.H - 3
	first := max(0, min(cursor-rows/2, len(list)-rows)) // the cursor is in the middle if possible
	for i := first; i < len(list) && i < first+rows; i++ {
		client := &list[i]
		y := 2 + i - first
		style := look.Plain
		if client.Number == m.target.Number { // the controls set this client's links only
			c.Text(1, y, look.Warn, m.Theme().Dot)
		}
		if focused && client.Number == m.selectedClient {
			style = look.Chosen
			c.Text(1, y, look.Chosen, m.Theme().Chosen)
		}
		traffic := clientTraffic(client, h.olderClients)
		up, down := &traffic[relay.Up], &traffic[relay.Down]
		state, stateStyle := "active", look.Good
		switch silent := t.At - client.LastSeen; {
		case client.Leaving:
			state, stateStyle = "timed out", look.Dim
		case silent >= idleAfter:
			state, stateStyle = "silent "+units.Fixed(silent.Seconds(), 0)+" s", look.Warn
			if c.W < wide {
				state = "silent"
			}
		}
		lost := formatPercent(up.Lost, up.In) + "/" + formatPercent(down.Lost, down.In)
		end := drawLine(y, style, fmt.Sprint(client.Number), " "+client.Addr.String(), formatRate(up.Out, span), formatRate(down.Out, span), lost)
		c.Clip(end+2, y, c.W-2-end-2, stateStyle, state)
	}
	if len(list) > rows {
		c.Text(2, c.H-1, look.Dim, fmt.Sprintf(" %d of %d ", min(rows, len(list)), len(list)))
	}
}

// drawDatagrams draws the list of the newest datagrams with their outcomes, newest at the bottom. While the
// display is stopped the list has a cursor.
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
	rows := c.H - 3
	cursor := max(len(list)-1-m.datagramOffset, 0)
	first := max(0, min(cursor-rows/2, len(list)-rows))
	for i := first; i < len(list) && i < first+rows; i++ {
		d := &list[i]
		y := 2 + i - first
		style, outcomeStyle := look.Plain, look.Dim
		if d.Lost() {
			outcomeStyle = look.Lost
		}
		if m.frozen != nil && i == cursor {
			style = look.Chosen
			c.Text(1, y, look.Chosen, m.Theme().Chosen)
		}
		end := c.Clip(2, y, c.W-4, style, fmt.Sprintf("%10.3f  %-5s%10d%7d%7d", d.At.Seconds(), d.Way, d.Seq, d.Client.Number, d.Size))
		c.Clip(end+2, y, c.W-2-end-2, outcomeStyle, d.Describe())
	}
}
