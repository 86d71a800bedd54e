package ui

import (
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment/live"
)

// bindings returns the keys of the dashboard that not every screen has, in the order of the help. They apply while
// neither the command line nor an overlay is open. Keys of single pages take precedence.
func (m *dashboard) bindings() []room.Binding {
	return slices.Concat(m.bindSettings(), m.bindTime(), m.bindRun())
}

// showsCrowd reports whether the lab has many receivers. It then has no tour.
func (m *dashboard) showsCrowd() bool { return m.lab.Snap.Crowd != nil }

// bindSettings returns the keys that change settings, and the one that pauses.
func (m *dashboard) bindSettings() []room.Binding {
	list := func(command string) func() room.Request { // opens the list of values of a command
		return func() room.Request { return room.Request{Line: command} }
	}
	unable := func() bool { return room.NoShadows(m.lab.Snap) != "" }
	return []room.Binding{
		room.Bind("e", "list the encoders, their costs, parameters", list("encoder")).InFooter("encoder"),
		room.Bind("space", "pause or continue", m.sending(live.Command{Toggle: true})).InFooter("pause"),
		room.Bind("v", "add a shadow: an encoder on the same frames", list("shadow")).Unless(unable),
		room.Bind("p", "select a predefined link", list("profile")).InFooter("profile"),
		room.Bind("o", "open a recording, capture, log or report", list("open")).InFooter("open"),
		room.Bind("u", "undo the last change; again: one before", m.sending(live.Command{Undo: true})).InFooter("undo"),
		room.Bind("ctrl+r", "redo the change that was undone", m.sending(live.Command{Redo: true})),
	}
}

// bindTime returns the keys for virtual time and for the crosshair, which all charts share.
func (m *dashboard) bindTime() []room.Binding {
	move := func(do func(step int)) func(int) room.Request { // an action without a request
		return func(step int) room.Request {
			do(step)
			return room.Request{}
		}
	}
	speed := func(step int) room.Request {
		v := controls.StepSpeed(m.lab.Speed(), step)
		return room.Request{Command: &live.Command{Speed: &v}}
	}
	byFrame := func(step int) {
		if step < 0 {
			m.lab.MoveCursor(-session.SmallStep)
			return
		}
		m.lab.Forward()
	}
	toEnd := func(step int) room.Request {
		switch {
		case m.page().HasRows():
			return m.page().Move(0, step*room.ListEnd)
		case step < 0:
			m.lab.MoveCursorTo(0)
		default:
			m.lab.GoToPresent()
		}
		return room.Request{}
	}
	bySecond := func(step int) { m.lab.MoveCursor(time.Duration(step) * session.LargeStep) }
	return []room.Binding{
		room.Pair(",", ".", "back, on by 0.1 s; at the present: a frame",
			move(byFrame)).InFooter("step"),
		room.Pair("<", ">", "back, on by 1 s, to any moment of the run", move(bySecond)).InFooter("look back"),
		room.Pair("b", "B", "to the previous mark; to the next mark", move(m.lab.MoveCursorToMark)),
		room.Pair("home", "end", "first, last row; or to the start, present", toEnd),
		room.Pair("-", "+ =", "slower, faster", speed),
		room.Pair("(", ")", "crosshair in the charts; esc removes it", m.moveCrosshair),
	}
}

// bindRun returns the keys that save, explain and mark the run.
func (m *dashboard) bindRun() []room.Binding {
	mark := func() room.Request {
		m.marks++
		return room.Change(config.NewChange("mark", "mark "+strconv.Itoa(m.marks)))
	}
	return []room.Binding{
		room.Bind("s", "save a report; tui replay FOLDER repeats it",
			m.sending(live.Command{Save: &m.opt.ReportsDir})).InFooter("save"),
		room.Bind("x", "explain the last problem; or open the packet",
			m.explain).InFooter("why"),
		room.Bind("m", "mark this instant; /mark TEXT names it", mark),
	}
}

// sending returns the action of a key that sends a command to the lab.
func (m *dashboard) sending(c live.Command) func() room.Request {
	return room.WithoutRequest(func() { m.lab.Send(c) })
}

// pastKeys returns the keys that the footer lists while the time cursor is in the past: those of page p if it has a list,
// then the keys that move the cursor, with short descriptions. It selects them from all bindings, and
// leaves out keys that the page uses for something else.
func pastKeys(all []room.Binding, p *room.Page) []room.Binding {
	var list []room.Binding
	rows := p.HasRows()
	if rows {
		for _, arrow := range p.Arrows() {
			if arrow[0] != "esc" { // it returns to the present too
				list = append(list, room.OverlayKey(arrow[0], arrow[1], "").Pin())
			}
		}
		list = append(list, room.OverlayKey("esc", "back", "").Pin())
		list = append(list, slices.DeleteFunc(slices.Clone(p.Bindings()), isIdle)...)
	}
	for _, entry := range []struct{ key, label, description string }{
		{"<", "< >", "second"}, {",", ", .", "a tenth"}, {"b", "b B", "mark"}, {"home", "home", "start"},
		{"end", "end", "present"}, {"space", "space", "continue"},
	} {
		if isEnd := entry.key == "home" || entry.key == "end"; rows && isEnd {
			continue
		}
		b := room.FindBinding(all, room.KeyPress(entry.key)).Labelled(entry.label).InFooter(entry.description)
		b.Pinned = entry.key != "home" && entry.key != "," // these two are left out first on narrow screens
		list = append(list, b)
	}
	return list
}
