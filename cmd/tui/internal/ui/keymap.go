package ui

import (
	"slices"
	"strconv"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment/live"
)

// bindings returns the keys of all pages of the dashboard, in the order of the help. They apply
// while neither the command line nor an overlay is open. Keys of single pages take precedence.
func (m *dashboard) bindings() []room.Binding {
	return slices.Concat(controlKeys(m), timeKeys(m), crosshairKeys(m), sessionKeys(m))
}

// showsCrowd reports whether the lab has many receivers. It then has no tour.
func (m *dashboard) showsCrowd() bool { return m.lab.Snap.Crowd != nil }

// sendCommand returns the action of a key that sends a command to the lab.
func sendCommand(m *dashboard, c live.Command) func() room.Request {
	return room.WithoutRequest(func() { m.lab.Send(c) })
}

// controlKeys returns the keys that select and change settings.
func controlKeys(m *dashboard) []room.Binding {
	bind := bindGroup("Controls")                      // bind(keys, label, help, action) makes a binding
	list := func(command string) func() room.Request { // opens the list of values of a command
		return func() room.Request {
			overlay, _ := m.List(command)
			return room.Request{Overlay: overlay}
		}
	}
	return slices.Concat(m.PaneKeys(), []room.Binding{
		bind([]string{"e"}, "e", "list the encoders: select, run as a shadow, set params",
			list("encoder")).InFooter("encoder").Pin(),
		bind([]string{"v"}, "v", "list the encoders; in the list, v runs the selected encoder as a shadow, on the same frames and losses", list("encoder")),
		bind([]string{"p"}, "p", "select a predefined link", list("profile")).InFooter("profile"),
		m.DirectionKey(),
		bind([]string{"u"}, "u", "undo the last change; again: the change before it",
			sendCommand(m, live.Command{Undo: true})).InFooter("undo"),
		bind([]string{"ctrl+r"}, "ctrl+r", "redo the change that was undone", sendCommand(m, live.Command{Redo: true})),
	})
}

// timeKeys returns the keys for virtual time. A binding with an empty label and help is listed together
// with the one before it.
func timeKeys(m *dashboard) []room.Binding {
	bind := bindGroup("Time")                      // bind(keys, label, help, action) makes a binding
	speed := func(steps int) func() room.Request { // makes virtual time faster by steps, or slower if negative
		return func() room.Request {
			v := controls.StepSpeed(m.lab.Speed(), steps)
			return room.Request{Command: &live.Command{Speed: &v}}
		}
	}
	return append([]room.Binding{
		bind([]string{" "}, "space", "pause or continue", sendCommand(m, live.Command{Toggle: true})).InFooter("pause").Pin(),
		bind([]string{"."}, ".", "advance by one frame; in the past: forward by 0.1 s",
			room.WithoutRequest(m.lab.Forward)).InFooter("step"),
		bind([]string{","}, ",", "back by 0.1 s, while the run goes on",
			room.WithoutRequest(func() { m.lab.MoveCursor(-session.SmallStep) })),
		bind([]string{"<"}, "< >", "back by 1 s, to any moment of the run; forward by 1 s",
			room.WithoutRequest(func() { m.lab.MoveCursor(-session.LargeStep) })).InFooter("look back"),
		bind([]string{">"}, "", "", room.WithoutRequest(func() { m.lab.MoveCursor(session.LargeStep) })),
		bind([]string{"b"}, "b B", "to the previous mark; to the next mark",
			room.WithoutRequest(func() { m.lab.MoveCursorToMark(-1) })),
		bind([]string{"B"}, "", "", room.WithoutRequest(func() { m.lab.MoveCursorToMark(1) })),
		bind([]string{"home"}, "home end", "to the start; to the present",
			room.WithoutRequest(func() { m.lab.MoveCursorTo(0) })),
		bind([]string{"end"}, "", "", room.WithoutRequest(m.lab.GoToPresent)),
		bind([]string{"+", "="}, "+", "faster", speed(1)),
		bind([]string{"-"}, "-", "slower", speed(-1)),
	}, m.ChartKeys("Time")...)
}

// sessionKeys returns the keys for the run and for quitting.
func sessionKeys(m *dashboard) []room.Binding {
	bind := bindGroup(programGroup) // bind(keys, label, help, action) makes a binding
	mark := func() room.Request {
		m.marks++
		return room.Change(config.NewChange("mark", "mark "+strconv.Itoa(m.marks)))
	}
	release := func() {
		m.lab.ReturnToPresent()
		m.crosshair = 0
	}
	return append([]room.Binding{
		bind([]string{"s"}, "s", "save a report; tui replay FOLDER repeats the run",
			sendCommand(m, live.Command{Save: &m.opt.ReportsDir})).InFooter("save"),
		bind([]string{"x"}, "x",
			"explain why the last packet failed or was large, or open the packet under the cursor", m.explain).InFooter("why"),
		bind([]string{"m"}, "m", "mark this instant in the charts; /mark TEXT names it", mark),
	}, m.ProgramKeys(Leaving{Release: release, Esc: "clear the selection and the crosshair",
		Quit: "quit; asks first if a minute or more is unsaved", Stop: "save the run and quit"})...)
}

// pastKeys returns the keys that the footer lists while the time cursor is in the past: the keys that
// move the cursor, with short descriptions. It selects them from all bindings, and leaves out keys
// that page p uses for something else.
func pastKeys(all []room.Binding, p *room.Page) []room.Binding {
	var list []room.Binding
	for _, entry := range []struct{ key, label, description string }{
		{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"}, {"home", "home", "start"},
		{"end", "end", "present"}, {"esc", "esc", "present"}, {" ", "space", "continue"},
	} {
		for _, b := range all {
			if entry.key == "esc" && !hasBinding(p, "end") {
				continue // esc is not listed beside "end", which does the same
			}
			if b.Keys()[0] == entry.key && !hasBinding(p, entry.key) {
				b = b.InFooter(entry.description)
				b.SetHelp(entry.label, entry.description)
				b.Pinned = entry.key != "home" && entry.key != "," // these two are left out first on narrow screens
				list = append(list, b)
			}
		}
	}
	return list
}
