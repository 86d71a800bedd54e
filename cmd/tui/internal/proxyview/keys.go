package proxyview

import (
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment"
)

// bindings are all keys, in the order of the help.
func (m *model) bindings() []room.Binding {
	return slices.Concat(m.FocusKeys(), m.MoveKeys(), m.AdjustKeys("Controls"), m.controlKeys(), m.displayKeys(),
		m.ProgramKeys(ui.Leaving{Esc: "let go of what is selected", Quit: "end the proxy, and print the totals", Stop: "the same, as an interruption"}),
		m.paneKeys())
}

// controlKeys choose what the controls set, and take changes back.
func (m *model) controlKeys() []room.Binding {
	bind := func(key, help string, do func() room.Request) room.Binding {
		return room.Bind("Controls", []string{key}, key, help, do)
	}
	send := func(c experiment.Command) func() room.Request {
		return func() room.Request { return room.Request{Command: &c} }
	}
	return []room.Binding{
		bind("p", "choose a ready-made link", func() room.Request { return room.Request{Line: "profile"} }).InFooter("profile"),
		m.AimKey("Controls").InFooter("direction"),
		bind("c", "whose links they set: those of all, or of the next client", func() room.Request {
			if err := m.aim(m.nextClient()); err != nil {
				return room.Request{Say: err.Error(), Bad: true}
			}
			return room.Request{}
		}).InFooter("client"),
		bind("u", "take the last change back; again, the one before", send(experiment.Command{Undo: true})).InFooter("undo"),
		bind("ctrl+r", "make the change again that was taken back", send(experiment.Command{Redo: true})),
	}
}

// displayKeys are about what is shown.
func (m *model) displayKeys() []room.Binding {
	bind := func(key, shown, help string, do func() room.Request) room.Binding {
		return room.Bind("Display", []string{key}, shown, help, do)
	}
	return append([]room.Binding{
		bind(" ", "space", "stop the display, and let it go on; the traffic goes on in any case",
			room.Quietly(m.toggle)).InFooter("stop display").Pin(),
		bind("x", "x", "what the seed did to a datagram, stage by stage: the one under the cursor, or the last that was lost",
			m.explain).InFooter("explain"),
		bind("m", "m", "mark this moment in the charts; /mark TEXT gives it a name", func() room.Request { return room.Request{Line: "mark"} }),
	}, m.ChartKeys("Display")...)
}

// paneKeys give the keys to a pane.
func (m *model) paneKeys() (list []room.Binding) {
	for i, s := range m.page.Slots {
		digit := strconv.Itoa(i + 1)
		list = append(list, room.Bind("Panes", []string{digit}, digit, s.Pane.(*pane).name, room.Quietly(func() { m.page.At = i })))
	}
	return list
}

// turns lists the clients from the first on.
func (m *model) turns() (list []int) {
	for _, c := range m.shown().snap.Clients {
		list = append(list, c.Turn)
	}
	slices.Sort(list)
	return list
}

// nextClient is the turn of the client after the one that the controls set; 0 after the last.
func (m *model) nextClient() int {
	list := m.turns()
	at, found := slices.BinarySearch(list, m.client.Turn)
	if found {
		at++
	}
	if at >= len(list) {
		return 0
	}
	return list[at]
}
