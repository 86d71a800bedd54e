package proxyview

import (
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/live"
)

// bindings returns all keys, in the order of the help.
func (m *model) bindings() []room.Binding {
	return slices.Concat(m.controlKeys(), m.PaneKeys(), m.displayKeys(),
		m.ProgramKeys(ui.Leaving{Esc: "clear the selection", Quit: "end the proxy and print the totals; asks first while clients are active", Stop: "end the proxy; the program reports an interruption"}),
		m.paneKeys())
}

// controlKeys returns the keys that select which links the controls set, and undo changes. The command profile
// without arguments opens the list of link profiles.
func (m *model) controlKeys() []room.Binding {
	bind := func(key, help string, do func() room.Request) room.Binding {
		return room.Bind("Controls", []string{key}, key, help, do)
	}
	send := func(c live.Command) func() room.Request {
		return func() room.Request { return room.Request{Command: &c} }
	}
	return []room.Binding{
		bind("p", "choose a link profile", func() room.Request { return room.Request{Line: "profile"} }).InFooter("profile"),
		m.DirectionKey().InFooter("direction"),
		bind("c", "set the links of all clients, or of the next client", func() room.Request {
			if err := m.setTarget(m.nextClient()); err != nil {
				return room.Request{Notice: err.Error(), IsError: true}
			}
			return room.Request{}
		}).InFooter("client"),
		bind("u", "undo the last change; press again to undo more", send(live.Command{Undo: true})).InFooter("undo"),
		bind("ctrl+r", "redo the change that was undone", send(live.Command{Redo: true})),
	}
}

// displayKeys returns the keys that change what the screen shows.
func (m *model) displayKeys() []room.Binding {
	bind := func(key, shown, help string, do func() room.Request) room.Binding {
		return room.Bind("Display", []string{key}, shown, help, do)
	}
	return append([]room.Binding{
		bind(" ", "space", "stop or continue the display; the traffic always continues",
			room.WithoutRequest(m.toggleFrozen)).InFooter("stop display").Pin(),
		bind("x", "x", "outcome of a datagram, stage by stage: the selected one, or the last one lost",
			m.explainDatagram).InFooter("explain"),
		bind("m", "m", "mark this instant in the charts; /mark TEXT names it", func() room.Request { return room.Request{Line: "mark"} }),
	}, m.ChartKeys("Display")...)
}

// paneKeys returns a binding for each pane: a digit, from 1, that focuses it.
func (m *model) paneKeys() (list []room.Binding) {
	for i, s := range m.page.Slots {
		digit := strconv.Itoa(i + 1)
		list = append(list, room.Bind("Panes", []string{digit}, digit, s.Pane.Name(), room.WithoutRequest(func() { m.page.FocusOn(s) })))
	}
	return list
}

// clientTurns returns the turns of the displayed clients, in ascending order. The turn of a client is its number in
// the order of joining, from 1.
func (m *model) clientTurns() (list []int) {
	for _, c := range m.displayed().snap.Clients {
		list = append(list, c.Number)
	}
	slices.Sort(list)
	return list
}

// nextClient returns the turn of the client after m.target, the one whose links the controls set. After the last
// client it returns 0, which means all clients. See clientTurns.
func (m *model) nextClient() int {
	turns := m.clientTurns()
	next, found := slices.BinarySearch(turns, m.target.Number)
	if found {
		next++
	}
	if next >= len(turns) {
		return 0
	}
	return turns[next]
}
