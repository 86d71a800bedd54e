package ui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment"
)

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// bindings are all keys of the dashboard, in the order of the help: first those
// that hold on every page, then those of single pages, which go before them. They
// hold while neither the command line nor an overlay is open.
func (m *Model) bindings() []room.Binding {
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
	speed := func(n int) func() room.Request {
		return func() room.Request {
			v := controls.StepSpeed(m.lab.Speed(), n)
			return room.Request{Command: &experiment.Command{Speed: &v}}
		}
	}
	mark := func() room.Request {
		m.marks++
		return room.Change(experiment.Change{Mark: "mark " + strconv.Itoa(m.marks)})
	}
	send := func(c experiment.Command) func() room.Request { return room.Quietly(func() { m.lab.Send(c) }) }
	all := []room.Binding{
		room.Bind("Controls", []string{"tab"}, "tab", "the next pane", room.Quietly(func() { m.page().Focus(1) })).InFooter("pane").SayIdle(),
		room.Bind("Controls", []string{"shift+tab"}, "shift+tab", "the pane before", room.Quietly(func() { m.page().Focus(-1) })).SayIdle(),
		room.Bind("Controls", []string{"up"}, "↑", "select the one above", arrow(0, -1)),
		room.Bind("Controls", []string{"down"}, "↓", "select the one below", arrow(0, 1)),
		room.Bind("Controls", []string{"left"}, "←", "less; in the packets: an older one", arrow(-1, 0)),
		room.Bind("Controls", []string{"right"}, "→", "more; in the packets: a newer one", arrow(1, 0)),
		room.Bind("Controls", []string{"[", "pgdown", "shift+left"}, "[ pgdn", "much less", arrow(-bigStep, 0)),
		room.Bind("Controls", []string{"]", "pgup", "shift+right"}, "] pgup", "much more", arrow(bigStep, 0)),
		room.Bind("Controls", []string{"enter"}, "enter", "type an exact value, or choose from a list", m.enter).SayIdle(),
		room.Bind("Controls", []string{"e"}, "e", "the encoders: choose, run beside, set params",
			list("encoder")).InFooter("encoder").Pin(),
		room.Bind("Controls", []string{"E"}, "E", "the next encoder at once", next),
		room.Bind("Controls", []string{"v"}, "v", "the encoders; v again runs one beside, on the same frames and losses", list("encoder")),
		room.Bind("Controls", []string{"p"}, "p", "choose a ready-made link", list("profile")).InFooter("profile"),
		room.Bind("Controls", []string{"d"}, "d", "which link the controls set: both, down, up",
			func() room.Request { return m.page().Aim() }).SayIdle(),
		room.Bind("Controls", []string{"u"}, "u", "take the last change back; again, the one before",
			send(experiment.Command{Undo: true})).InFooter("undo"),
		room.Bind("Time", []string{" "}, "space", "pause, and go on", send(experiment.Command{Toggle: true})).InFooter("pause").Pin(),
		room.Bind("Time", []string{"."}, ".", "one frame further; while looking back: a tenth on",
			room.Quietly(m.lab.Forward)).InFooter("step"),
		room.Bind("Time", []string{","}, ",", "look back a tenth of a second: time stands still",
			room.Quietly(func() { m.lab.Look(-session.Glance) })),
		room.Bind("Time", []string{"<"}, "< >", "a second back, as far as five minutes; a second on",
			room.Quietly(func() { m.lab.Look(-session.Stride) })).InFooter("look back"),
		room.Bind("Time", []string{">"}, "", "", room.Quietly(func() { m.lab.Look(session.Stride) })),
		room.Bind("Time", []string{"b"}, "b B", "look back to the mark before; on to the next",
			room.Quietly(func() { m.lab.LookMark(-1) })),
		room.Bind("Time", []string{"B"}, "", "", room.Quietly(func() { m.lab.LookMark(1) })),
		room.Bind("Time", []string{"home"}, "home end", "the oldest moment remembered; the present",
			room.Quietly(func() { m.lab.LookAt(0) })),
		room.Bind("Time", []string{"end"}, "", "", room.Quietly(m.lab.Present)),
		room.Bind("Time", []string{"+", "="}, "+", "faster", speed(1)),
		room.Bind("Time", []string{"-"}, "-", "slower", speed(-1)),
		room.Bind("Time", []string{"z"}, "z", "how much time the charts show", room.Quietly(func() { m.page().Zoom() })).SayIdle(),
		room.Bind("Session", []string{"s"}, "s", "save a report that anyone can replay",
			send(experiment.Command{Save: &m.opt.ReportsDir})).InFooter("save"),
		room.Bind("Session", []string{"x"}, "x",
			"explain: why the last packet failed, or was so large; opens one under the cursor", m.explain).InFooter("why"),
		room.Bind("Session", []string{"m"}, "m", "mark this moment; /mark TEXT gives it a name", mark),
		room.Bind("Session", []string{"t"}, "t", "the guided tour: what it is all about, in seven steps",
			room.Quietly(m.startTour)).InFooter("tour"),
		room.Bind("Session", []string{"/", ":"}, "/", "type a command; tab completes, ↑ recalls",
			room.Quietly(func() { m.line.Show("") })).InFooter("command").Pin(),
		room.Bind("Session", []string{"?"}, "?", "this list", m.help).InFooter("help").Pin(),
		room.Bind("Session", []string{"esc"}, "esc", "let go of what is selected", room.Quietly(m.release)),
		room.Bind("Session", []string{"ctrl+z"}, "ctrl+z", "suspend", func() room.Request { return room.Request{Program: tea.Suspend} }),
		room.Bind("Session", []string{"q"}, "q", "quit",
			func() room.Request { return room.Request{Program: m.quit()} }).InFooter("quit").Pin(),
		room.Bind("Session", []string{"ctrl+c"}, "ctrl+c", "quit, the run so far is saved",
			func() room.Request { return room.Request{Program: m.interrupt()} }),
	}
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

// keysHere are the keys that mean something on this page, its own first.
func (m *Model) keysHere() []room.Binding {
	var own, all []room.Binding
	for _, b := range m.keys {
		if b.Page == nil {
			all = append(all, b)
		} else if b.Page == m.page() {
			own = append(own, b)
		}
	}
	return append(own, all...)
}

// keysNow are the keys that the footer names. In the tour, and while looking
// back, the keys for that take the place of all that are not pinned.
func (m *Model) keysNow() []room.Binding {
	var list []room.Binding
	switch {
	case m.lab.Past.Away:
		list = pastKeys(m.keys)
	case m.tour != nil:
		list = m.tour.Keys()
	default:
		return m.keysHere()
	}
	for _, b := range m.keysHere() {
		if b.Pinned && b.Page == nil && b.Group == "Session" {
			list = append(list, b)
		}
	}
	return list
}

// pastKeys are the keys that the footer names while somebody looks back.
func pastKeys(all []room.Binding) []room.Binding {
	var list []room.Binding
	for _, k := range [][3]string{{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"},
		{"home", "home", "oldest"}, {"end", "end", "present"}, {" ", "space", "go on"}} {
		for _, b := range all {
			if b.Page == nil && b.Keys()[0] == k[0] {
				b = b.InFooter(k[2])
				b.SetHelp(k[1], k[2])
				b.Pinned = k[0] != "home" && k[0] != ","
				list = append(list, b)
			}
		}
	}
	return list
}

// typedKeys handles a key message. It may hold several runes when keys come fast
// or the line is slow: each is a key of its own. Pasted text is not taken for
// keys.
func (m *Model) typedKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.typedKey(msg)
	}
	if msg.Paste {
		if m.line.Open {
			m.line.Edit(msg)
		}
		return nil
	}
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		if cmd := m.typedKey(one); cmd != nil {
			return cmd // it leaves: what follows was not meant for us
		}
	}
	return nil
}

// typedKey gives one key to what has the keys: the command line, a box, the tour,
// or the page.
func (m *Model) typedKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.line.Open:
		return m.keyInLine(msg)
	case m.over != nil:
		return m.keyInOverlay(msg)
	case m.tour != nil && m.tour.Key(msg):
		return nil
	}
	return m.key(msg)
}

// key runs what a key is bound to.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	var everywhere *room.Binding
	for i := range m.keys {
		b := &m.keys[i]
		switch {
		case !key.Matches(msg, b.Binding):
		case b.Page == m.page():
			return m.press(b, msg)
		case b.Page == nil && everywhere == nil:
			everywhere = b
		}
	}
	if everywhere != nil {
		return m.press(everywhere, msg)
	}
	m.lab.UnknownKey()
	return nil
}

// keyInLine handles a key while the command line is open.
func (m *Model) keyInLine(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlC:
		return m.interrupt()
	case m.line.Key(msg, m.context()):
		return m.run()
	}
	return nil
}

// keyInOverlay handles a key while an overlay is open.
func (m *Model) keyInOverlay(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	return m.perform(m.over.Key(msg))
}

// press does what a key is for, and says so if there was nothing for it to do.
func (m *Model) press(b *room.Binding, msg tea.KeyMsg) tea.Cmd {
	if !b.SaysIdle {
		return m.perform(b.Do())
	}
	before, sent, note := m.pageText(), m.lab.Sent, m.lab.Note
	cmd := m.perform(b.Do())
	m.page().Observe(m.pageView(false))
	note.Stale = m.lab.Note.Stale
	if m.lab.Idle(sent) && m.over == nil && !m.line.Open && m.lab.Note == note && m.pageText() == before {
		m.lab.Show(msg.String()+": nothing to do here now; ? lists the keys", session.ToneDim)
	}
	return cmd
}

// pageText is what the page shows now.
func (m *Model) pageText() string {
	if m.w < minWidth || m.h < minHeight {
		return ""
	}
	return strings.Join(m.page().Lines(m.theme, m.w, m.h-2-len(m.tourPanel())), "\n")
}
