package ui

import (
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment"

	tea "github.com/charmbracelet/bubbletea"
)

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// bindings are all keys of the dashboard, in the order of the help: first those
// that hold on every page, then those of single pages, which go before them. They
// hold while neither the command line nor an overlay is open.
func (m *Model) bindings() []room.Binding {
	all := slices.Concat(controlKeys(m), timeKeys(m), sessionKeys(m))
	for i, p := range m.pages {
		digit := strconv.Itoa(i + 1)
		all = append(all, room.Bind("Pages", []string{digit}, digit, p.Name(), room.Quietly(func() { m.turn(i) })))
	}
	for _, p := range m.pages {
		for _, b := range p.Bindings() {
			b.Page = p
			all = append(all, b)
		}
	}
	return all
}

// groupOf binds keys of one group of the help.
func groupOf(name string) func(keys []string, shown, help string, do func() room.Request) room.Binding {
	return func(keys []string, shown, help string, do func() room.Request) room.Binding {
		return room.Bind(name, keys, shown, help, do)
	}
}

// send is the action of a key that sends a command.
func send(m *Model, c experiment.Command) func() room.Request {
	return room.Quietly(func() { m.lab.Send(c) })
}

// controlKeys choose and set.
func controlKeys(m *Model) []room.Binding {
	bind := groupOf("Controls")
	arrow := func(dx, dy int) func() room.Request { return func() room.Request { return m.page().Move(dx, dy) } }
	list := func(word string) func() room.Request {
		return func() room.Request {
			r, _ := m.list(word)
			return r
		}
	}
	next := func() (r room.Request) {
		if cmd, ok := m.cat.NextEncoder(m.lab.Config(), m.lab.Snap.Schema, 1); ok {
			r.Command = &cmd
		}
		return r
	}
	return append(moveKeys(m), []room.Binding{
		bind([]string{"[", "shift+left"}, "[ ]", "much less, much more", arrow(-bigStep, 0)),
		bind([]string{"]", "shift+right"}, "", "", arrow(bigStep, 0)),
		bind([]string{"enter"}, "enter", "type an exact value, or choose from a list", m.enter).SayIdle(),
		bind([]string{"e"}, "e", "the encoders: choose, run beside, set params",
			list("encoder")).InFooter("encoder").Pin(),
		bind([]string{"E"}, "E", "the next encoder at once", next),
		bind([]string{"v"}, "v", "the encoders; v again runs one beside, on the same frames and losses", list("encoder")),
		bind([]string{"A"}, "A", "keep the encoder as it was before its last change: both run on, on the same frames", keepBefore(m)),
		bind([]string{"p"}, "p", "choose a ready-made link", list("profile")).InFooter("profile"),
		bind([]string{"d"}, "d", "which link the controls set: both, down, up",
			func() room.Request { return m.page().Aim() }).SayIdle(),
		bind([]string{"u"}, "u", "take the last change back; again, the one before",
			send(m, experiment.Command{Undo: true})).InFooter("undo"),
		bind([]string{"ctrl+r"}, "ctrl+r", "make the change again that was taken back", send(m, experiment.Command{Redo: true})),
	}...)
}

// moveKeys go to another pane and move what is chosen, by the arrows or the letters of vi.
func moveKeys(m *Model) []room.Binding {
	bind := groupOf("Moving")
	move := func(key, letter, shown, help string, dx, dy int) []room.Binding {
		return []room.Binding{
			bind([]string{key}, shown, help, func() room.Request { return m.page().Move(dx, dy) }),
			bind([]string{letter}, "", "", func() room.Request {
				if viTaken(m.page()) {
					return room.Request{Say: "the letters of vi mean other things here: use the arrows", Bad: true}
				}
				return m.page().Move(dx, dy)
			}),
		}
	}
	return slices.Concat([]room.Binding{
		bind([]string{"tab"}, "tab", "the next pane", room.Quietly(func() { m.page().Focus(1) })).InFooter("pane").SayIdle(),
		bind([]string{"shift+tab"}, "shift+tab", "the pane before", room.Quietly(func() { m.page().Focus(-1) })).SayIdle(),
	},
		move("up", "k", "↑ ↓", "the one above, the one below", 0, -1), move("down", "j", "", "", 0, 1),
		move("left", "h", "← →", "less, more; or the one before, the one after", -1, 0), move("right", "l", "", "", 1, 0),
		[]room.Binding{
			bind([]string{"pgup", "ctrl+u", "ctrl+b"}, "pgup", "ten up", func() room.Request { return m.page().Move(0, -room.Screenful) }),
			bind([]string{"pgdown", "ctrl+d", "ctrl+f"}, "pgdn", "ten down", func() room.Request { return m.page().Move(0, room.Screenful) }),
			bind([]string{"g"}, "g G", "the first of them, the last", func() room.Request { return m.page().Move(0, -room.Far) }),
			bind([]string{"G"}, "", "", func() room.Request { return m.page().Move(0, room.Far) }),
		})
}

// viTaken reports whether a page has other uses for the letters that stand for arrows.
func viTaken(p room.Page) bool {
	for _, b := range p.Bindings() {
		if slices.ContainsFunc(b.Keys(), isViArrow) {
			return true
		}
	}
	return false
}

func isViArrow(key string) bool { return len(key) == 1 && strings.Contains("hjkl", key) }

// keepBefore lets the encoder and params from before their last change run on as a shadow.
func keepBefore(m *Model) func() room.Request {
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
func timeKeys(m *Model) []room.Binding {
	bind := groupOf("Time")
	speed := func(n int) func() room.Request {
		return func() room.Request {
			v := controls.StepSpeed(m.lab.Speed(), n)
			return room.Request{Command: &experiment.Command{Speed: &v}}
		}
	}
	restyle := func() room.Request {
		m.theme = m.theme.NextCharts()
		m.lab.Theme = m.theme
		return room.Request{Say: "charts: " + m.theme.Charts().String()}
	}
	return []room.Binding{
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
		bind([]string{"z"}, "z Z i", "charts: fit the axis; how much time; dots or lines",
			room.Quietly(func() { m.page().Fit() })).SayIdle(),
		bind([]string{"Z"}, "", "", room.Quietly(func() { m.page().Zoom() })).SayIdle(),
		bind([]string{"i"}, "", "", restyle),
	}
}

// sessionKeys are for the run as a whole, and for leaving.
func sessionKeys(m *Model) []room.Binding {
	bind := groupOf("Session")
	mark := func() room.Request {
		m.marks++
		return room.Change(config.NewChange("mark", "mark "+strconv.Itoa(m.marks)))
	}
	return []room.Binding{
		bind([]string{"s"}, "s", "save a report that anyone can replay",
			send(m, experiment.Command{Save: &m.opt.ReportsDir})).InFooter("save"),
		bind([]string{"x"}, "x",
			"explain: why the last packet failed, or was so large; opens one under the cursor", m.explain).InFooter("why"),
		bind([]string{"m"}, "m", "mark this moment; /mark TEXT gives it a name", mark),
		bind([]string{"t"}, "t", "the guided tour: what it is all about, in seven steps",
			room.Quietly(m.startTour)).InFooter("tour"),
		bind([]string{"/", ":"}, "/", "type a command; tab completes, ↑ recalls",
			room.Quietly(func() { m.line.Show("") })).InFooter("command").Pin(),
		bind([]string{"?"}, "?", "this list", m.help).InFooter("help").Pin(),
		bind([]string{"esc"}, "esc", "let go of what is selected", room.Quietly(m.release)),
		bind([]string{"ctrl+l"}, "ctrl+l", "draw the screen anew", func() room.Request { return room.Request{Program: tea.ClearScreen} }),
		bind([]string{"ctrl+z"}, "ctrl+z", "suspend", func() room.Request { return room.Request{Program: tea.Suspend} }),
		bind([]string{"q"}, "q", "quit; asks first where a minute or more is in no report",
			func() room.Request { return room.Request{Program: m.quit(command.LeaveAsking)} }).InFooter("quit").Pin(),
		bind([]string{"ctrl+c"}, "ctrl+c", "quit, the run so far is saved",
			func() room.Request { return room.Request{Program: m.interrupt()} }),
	}
}
