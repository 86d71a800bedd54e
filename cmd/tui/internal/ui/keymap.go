package ui

import (
	"slices"
	"strconv"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment"
)

// bindings are all keys of the dashboard, in the order of the help: first those
// that hold on every page, then those of single pages, which go before them. They
// hold while neither the command line nor an overlay is open.
func (m *dashboard) bindings() []room.Binding {
	return slices.Concat(controlKeys(m), timeKeys(m), sessionKeys(m))
}

// send is the action of a key that sends a command.
func send(m *dashboard, c experiment.Command) func() room.Request {
	return room.Quietly(func() { m.lab.Send(c) })
}

// controlKeys choose and set.
func controlKeys(m *dashboard) []room.Binding {
	bind := groupOf("Controls")
	list := func(word string) func() room.Request {
		return func() room.Request {
			over, _ := m.List(word)
			return room.Request{Over: over}
		}
	}
	next := func() (r room.Request) {
		if cmd, ok := m.cat.NextEncoder(m.lab.Config(), m.lab.Snap.Schema, 1); ok {
			r.Command = &cmd
		}
		return r
	}
	return slices.Concat(m.FocusKeys(), m.MoveKeys(), m.AdjustKeys("Controls"), []room.Binding{
		bind([]string{"e"}, "e", "the encoders: choose, run beside, set params",
			list("encoder")).InFooter("encoder").Pin(),
		bind([]string{"E"}, "E", "the next encoder at once", next),
		bind([]string{"v"}, "v", "the encoders; v again runs one beside, on the same frames and losses", list("encoder")),
		bind([]string{"A"}, "A", "keep the encoder as it was before its last change: both run on, on the same frames", keepBefore(m)),
		bind([]string{"p"}, "p", "choose a ready-made link", list("profile")).InFooter("profile"),
		m.AimKey("Controls"),
		bind([]string{"u"}, "u", "take the last change back; again, the one before",
			send(m, experiment.Command{Undo: true})).InFooter("undo"),
		bind([]string{"ctrl+r"}, "ctrl+r", "make the change again that was taken back", send(m, experiment.Command{Redo: true})),
	})
}

// keepBefore lets the encoder and params from before their last change run on as a shadow.
func keepBefore(m *dashboard) func() room.Request {
	return func() room.Request {
		before, cfg := m.lab.Snap.Before, m.lab.Config()
		switch {
		case room.OfFiles(m.lab.Snap.Schema):
			return room.Request{Say: "A is for snapshots: of files the next round shows what a change did", Bad: true}
		case before == nil:
			return room.Request{Say: "A keeps what the encoder was before a change, to run on beside; it has not been changed yet", Bad: true}
		case before.In(cfg.Shadows):
			return room.Request{Say: before.Text() + ", which was before, runs beside already: page 5 compares them", Bad: true}
		case before.Equal(cfg.Encoder):
			return room.Request{Say: before.Text() + " is what runs: nothing was before that to keep", Bad: true}
		}
		return room.Change(config.NewChange("shadow", []config.Encoder{before.Clone()}))
	}
}

// timeKeys move in virtual time, and say how fast it goes.
func timeKeys(m *dashboard) []room.Binding {
	bind := groupOf("Time")
	speed := func(n int) func() room.Request {
		return func() room.Request {
			v := controls.StepSpeed(m.lab.Speed(), n)
			return room.Request{Command: &experiment.Command{Speed: &v}}
		}
	}
	return append([]room.Binding{
		bind([]string{" "}, "space", "pause, and go on", send(m, experiment.Command{Toggle: true})).InFooter("pause").Pin(),
		bind([]string{"."}, ".", "one frame further; while looking back: a tenth on",
			room.Quietly(m.lab.Forward)).InFooter("step"),
		bind([]string{","}, ",", "look back a tenth of a second: time stands still",
			room.Quietly(func() { m.lab.Look(-session.Glance) })),
		bind([]string{"<"}, "< >", "a second back, as far as five minutes; a second on",
			room.Quietly(func() { m.lab.Look(-session.Stride) })).InFooter("look back"),
		bind([]string{">"}, "", "", room.Quietly(func() { m.lab.Look(session.Stride) })),
		bind([]string{"b"}, "b B", "look back to the mark before; on to the next",
			room.Quietly(func() { m.lab.LookMark(-1) })),
		bind([]string{"B"}, "", "", room.Quietly(func() { m.lab.LookMark(1) })),
		bind([]string{"home"}, "home end", "the oldest moment remembered; the present",
			room.Quietly(func() { m.lab.LookAt(0) })),
		bind([]string{"end"}, "", "", room.Quietly(m.lab.Present)),
		bind([]string{"+", "="}, "+", "faster", speed(1)),
		bind([]string{"-"}, "-", "slower", speed(-1)),
	}, m.ChartKeys("Time")...)
}

// sessionKeys are for the run as a whole, and for leaving.
func sessionKeys(m *dashboard) []room.Binding {
	bind := groupOf(programGroup)
	mark := func() room.Request {
		m.marks++
		return room.Change(config.NewChange("mark", "mark "+strconv.Itoa(m.marks)))
	}
	return append([]room.Binding{
		bind([]string{"s"}, "s", "save a report that anyone can replay",
			send(m, experiment.Command{Save: &m.opt.ReportsDir})).InFooter("save"),
		bind([]string{"x"}, "x",
			"explain: why the last packet failed, or was so large; opens one under the cursor", m.explain).InFooter("why"),
		bind([]string{"m"}, "m", "mark this moment; /mark TEXT gives it a name", mark),
		bind([]string{"t"}, "t", "the guided tour: what it is all about, in seven steps",
			room.Quietly(m.startTour)).InFooter("tour"),
	}, m.ProgramKeys(Leaving{Release: m.lab.Present, Esc: "let go of what is selected",
		Quit: "quit; asks first where a minute or more is in no report", Stop: "quit, the run so far is saved"})...)
}

// pastKeys are the keys that the footer names while somebody looks back.
func pastKeys(all []room.Binding, p room.Page) []room.Binding {
	var list []room.Binding
	for _, k := range [][3]string{{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"},
		{"home", "home", "oldest"}, {"end", "end", "present"}, {"esc", "esc", "present"}, {" ", "space", "go on"}} {
		for _, b := range all {
			if b.Page == nil && b.Keys()[0] == k[0] && !owns(p, k[0]) {
				b = b.InFooter(k[2])
				b.SetHelp(k[1], k[2])
				b.Pinned = k[0] != "home" && k[0] != ","
				if k[0] == "esc" && !owns(p, "end") {
					continue // one key for it is enough
				}
				list = append(list, b)
			}
		}
	}
	return list
}
