package proxyview

import (
	"fmt"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// idleAfter is the time without datagrams after which a client is listed as silent.
const idleAfter = 2 * time.Second

// clients returns the displayed clients in the order of joining.
func (m *model) clients() []relay.ClientState {
	list := slices.Clone(m.displayed().snap.Clients)
	slices.SortFunc(list, func(a, b relay.ClientState) int { return a.Number - b.Number })
	return list
}

// clientRow returns the row of the selected client, or of the one after it, in a list of clients; 0 if none is selected.
func (m *model) clientRow(list []relay.ClientState) int {
	after := slices.IndexFunc(list, func(c relay.ClientState) bool { return c.Number >= m.selectedClient })
	if after < 0 {
		return len(list) - 1
	}
	return after
}

// drawClients draws the list of clients with their rates, losses and states.
func (m *model) drawClients(c *look.Canvas, focused bool) {
	totals := &m.displayed().snap.Totals
	title := fmt.Sprintf("Clients %d", totals.Clients)
	if m.proxy.Shared {
		title += ", one pair of links"
	}
	more := [][]look.Span{look.Labelled(fmt.Sprintf("joined %d, timed out %d", totals.Joined, totals.Forgotten))}
	if totals.Refused > 0 {
		more = append(more, grid.Text(look.Warn, fmt.Sprintf(", %d datagrams refused", totals.Refused)))
	}
	if m.differing() > 0 {
		more = append(more, look.Labelled(", * own settings"))
	}
	c.Frame(m.Theme(), focused, title, look.FitGroups(look.TitleSpace(c.W, title), more)...)
	list := m.clients()
	t := &m.clientTable
	t.Columns = m.clientColumns(list, c.W)
	t.NumRows = len(list)
	t.Sort = -1
	t.Cursor = -1
	if focused {
		t.Cursor = m.clientRow(list)
	}
	t.Draw(c, m.Theme(), 1, c.H-2)
	if len(list) == 0 {
		text := "no datagrams yet: point the client at " + m.proxy.Listen
		if totals.Joined > 0 {
			text = "no clients now"
		}
		c.Wrap(3, 2, c.W-4, look.Dim, text)
	}
}

// clientColumns returns the columns of the list of clients in a pane of w columns. Rates and losses are those of the
// last seconds.
func (m *model) clientColumns(list []relay.ClientState, w int) []grid.Column {
	stateWidth := shortState // without the time of silence
	if w >= 64 {
		stateWidth = 12
	}
	h := m.displayed()
	both := func(row, width int, text func(*relay.ClientFlow) string) string {
		traffic := h.recentTraffic(&list[row])
		return look.PadLeft(text(&traffic[relay.Up]), width) + "/" + look.PadLeft(text(&traffic[relay.Down]), width)
	}
	return []grid.Column{
		{Title: "client", Width: 6, Right: true, Text: func(c grid.Cell) []look.Span {
			mark := ""
			if m.differs(list[c.Row].Client) {
				mark = "*"
			}
			return grid.Text(look.Plain, mark+fmt.Sprint(list[c.Row].Number))
		}},
		{Title: "address", Width: 48, Min: 9, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Plain, look.ShortenStart(list[c.Row].Addr.String(), c.Width))
		}},
		{Title: "up/down/s", Width: 9, Right: true, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Plain, both(c.Row, 4, func(f *relay.ClientFlow) string { return formatRate(f.Out, h.recentSeconds) }))
		}},
		{Title: "% lost", Width: 11, Right: true, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Plain, both(c.Row, 5, func(f *relay.ClientFlow) string { return formatPercent(f.Lost, f.In) }))
		}},
		{Title: "state", Width: stateWidth, Drop: 1, Text: func(c grid.Cell) []look.Span { return m.clientState(&list[c.Row], c.Width) }},
	}
}

// shortState is the number of columns of the states without the time of silence.
const shortState = 9

// clientState describes in a given number of columns whether a client sends.
func (m *model) clientState(client *relay.ClientState, width int) []look.Span {
	silent := m.displayed().snap.Totals.At - client.LastSeen
	switch {
	case client.Leaving:
		return grid.Text(look.Dim, "timed out")
	case silent >= idleAfter && width <= shortState:
		return grid.Text(look.Warn, "silent")
	case silent >= idleAfter:
		return grid.Text(look.Warn, "silent "+units.Fixed(silent.Seconds(), 0)+" s")
	}
	return grid.Text(look.Good, "active")
}

// drawDatagrams draws the list of the newest datagrams with their outcomes, newest at the bottom. While the
// display is stopped the list has a cursor.
func (m *model) drawDatagrams(c *look.Canvas, focused bool) {
	hint := "x explains the last one lost"
	if m.frozen != nil {
		hint = m.Theme().KeyLabel("↑↓ select, x explains")
	}
	c.Frame(m.Theme(), focused, "Datagrams", look.Dim.Span(hint))
	list := m.datagrams
	t := &m.datagramTable
	t.Columns = datagramColumns(list)
	t.NumRows = len(list)
	t.Sort = -1
	t.Centered = true
	t.Cursor, t.First = -1, len(list) // the newest
	if m.frozen != nil {
		t.Cursor = len(list) - 1 - m.datagramOffset
	}
	t.Draw(c, m.Theme(), 1, c.H-2)
	if len(list) == 0 {
		c.Text(3, 2, look.Dim, "no datagrams yet")
	}
}

// datagramColumns returns the columns of the list of datagrams.
func datagramColumns(list []relay.TracedDatagram) []grid.Column {
	number := func(title string, width, drop int, text func(d *relay.TracedDatagram) string) grid.Column {
		return grid.Column{Title: title, Width: width, Drop: drop, Right: true, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Plain, text(&list[c.Row]))
		}}
	}
	return []grid.Column{
		number("read at s", 9, 0, func(d *relay.TracedDatagram) string { return units.Fixed(d.At.Seconds(), 3) }),
		number("dir", 4, 0, func(d *relay.TracedDatagram) string { return d.Way.String() }),
		number("number", 7, 2, func(d *relay.TracedDatagram) string { return fmt.Sprint(d.Seq) }),
		number("client", 6, 0, func(d *relay.TracedDatagram) string { return fmt.Sprint(d.Client.Number) }),
		number("bytes", 5, 1, func(d *relay.TracedDatagram) string { return fmt.Sprint(d.Size) }),
		number("delay ms", 8, 0, func(d *relay.TracedDatagram) string {
			if delay, ok := d.Delay(); ok {
				return units.Fixed(units.Milliseconds(delay), 1)
			}
			return ""
		}),
		{Title: "outcome", Width: grid.Rest, Min: 12, Text: func(c grid.Cell) []look.Span { return outcome(&list[c.Row]) }},
	}
}

// outcome describes the outcome of a datagram briefly.
func outcome(d *relay.TracedDatagram) []look.Span {
	_, hasLeft := d.Delay()
	switch {
	case hasLeft:
		return grid.Text(look.Dim, "sent on")
	case d.Lost():
		return grid.Text(look.Lost, d.Describe(0))
	case d.Verdict.Waiting:
		return grid.Text(look.Dim, "in the queue")
	}
	return grid.Text(look.Dim, "in flight")
}
