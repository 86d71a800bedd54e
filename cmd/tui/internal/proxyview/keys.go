package proxyview

import (
	"slices"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"
)

// bindings returns the keys that not every screen has, in the order of the help.
func (m *model) bindings() []room.Binding {
	return slices.Concat(m.controlKeys(), m.displayKeys())
}

// controlKeys returns the keys that select which links the controls set, and undo changes. The command profile
// without arguments opens the list of link profiles.
func (m *model) controlKeys() []room.Binding {
	send := func(c live.Command) func() room.Request {
		return func() room.Request { return room.Request{Command: &c} }
	}
	return []room.Binding{
		room.Bind("p", "choose a link profile", func() room.Request { return room.Request{Line: "profile"} }).InFooter("profile"),
		room.Bind("u", "undo the last change; again: one before", send(live.Command{Undo: true})).InFooter("undo"),
		room.Bind("ctrl+r", "redo the change that was undone", send(live.Command{Redo: true})),
	}
}

// displayKeys returns the keys that change what the screen shows.
func (m *model) displayKeys() []room.Binding {
	return []room.Binding{
		room.Bind("space", "stop, continue the display, not the traffic",
			room.WithoutRequest(m.toggleFrozen)).InFooter("stop/continue").Pin(),
		room.Bind("x", "outcome of the datagram, or the last lost",
			m.explainDatagram).InFooter("explain").Pin(),
		room.Bind("m", "mark this instant; /mark TEXT names it", func() room.Request { return room.Request{Line: "mark"} }),
		room.Pair("home", "end", "first, last", func(step int) room.Request { return m.page.Move(0, step*room.ListEnd) }),
	}
}
