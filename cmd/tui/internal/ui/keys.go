package ui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// bindings are all keys of the dashboard, in the order of the help: first those
// that hold on every page, then those of single pages, which go before them. They
// hold while neither the command line nor an overlay is open.
func (m *Model) bindings() []binding {
	arrow := func(dx, dy int) func() request { return func() request { return m.page().move(dx, dy) } }
	list := func(word string) func() request {
		return func() request {
			r, _ := m.list(word)
			return r
		}
	}
	next := func() (r request) {
		if cmd, ok := m.cat.nextEncoder(m.lab.config(), m.lab.snap.Schema, 1); ok {
			r.command = &cmd
		}
		return r
	}
	speed := func(n int) func() request {
		return func() request {
			v := stepSpeed(m.lab.speed(), n)
			return request{command: &experiment.Command{Speed: &v}}
		}
	}
	mark := func() request {
		m.marks++
		return change(experiment.Change{Mark: "mark " + strconv.Itoa(m.marks)})
	}
	send := func(c experiment.Command) func() request { return quietly(func() { m.lab.send(c) }) }
	all := []binding{
		bind("Controls", []string{"tab"}, "tab", "the next pane", quietly(func() { m.page().focus(1) })).inFooter("pane").tell(),
		bind("Controls", []string{"shift+tab"}, "shift+tab", "the pane before", quietly(func() { m.page().focus(-1) })).tell(),
		bind("Controls", []string{"up"}, "↑", "select the one above", arrow(0, -1)),
		bind("Controls", []string{"down"}, "↓", "select the one below", arrow(0, 1)),
		bind("Controls", []string{"left"}, "←", "less; in the packets: an older one", arrow(-1, 0)),
		bind("Controls", []string{"right"}, "→", "more; in the packets: a newer one", arrow(1, 0)),
		bind("Controls", []string{"[", "pgdown", "shift+left"}, "[ pgdn", "much less", arrow(-bigStep, 0)),
		bind("Controls", []string{"]", "pgup", "shift+right"}, "] pgup", "much more", arrow(bigStep, 0)),
		bind("Controls", []string{"enter"}, "enter", "type an exact value, or choose from a list", m.enter).tell(),
		bind("Controls", []string{"e"}, "e", "the encoders: choose, run beside, set params", list("encoder")).inFooter("encoder").pin(),
		bind("Controls", []string{"E"}, "E", "the next encoder at once", next),
		bind("Controls", []string{"v"}, "v", "the encoders; v again runs one beside, on the same frames and losses", list("encoder")),
		bind("Controls", []string{"p"}, "p", "choose a ready-made link", list("profile")).inFooter("profile"),
		bind("Controls", []string{"d"}, "d", "which link the controls set: both, down, up", func() request { return m.page().aim() }).tell(),
		bind("Controls", []string{"u"}, "u", "take the last change back; again, the one before", send(experiment.Command{Undo: true})).inFooter("undo"),
		bind("Time", []string{" "}, "space", "pause, and go on", send(experiment.Command{Toggle: true})).inFooter("pause").pin(),
		bind("Time", []string{"."}, ".", "one frame further; while looking back: a tenth on", quietly(m.lab.forward)).inFooter("step"),
		bind("Time", []string{","}, ",", "look back a tenth of a second: time stands still", quietly(func() { m.lab.look(-glance) })),
		bind("Time", []string{"<"}, "< >", "a second back, as far as five minutes; a second on", quietly(func() { m.lab.look(-stride) })).inFooter("look back"),
		bind("Time", []string{">"}, "", "", quietly(func() { m.lab.look(stride) })),
		bind("Time", []string{"b"}, "b B", "look back to the mark before; on to the next", quietly(func() { m.lab.lookMark(-1) })),
		bind("Time", []string{"B"}, "", "", quietly(func() { m.lab.lookMark(1) })),
		bind("Time", []string{"home"}, "home end", "the oldest moment remembered; the present", quietly(func() { m.lab.lookAt(0) })),
		bind("Time", []string{"end"}, "", "", quietly(m.lab.present)),
		bind("Time", []string{"+", "="}, "+", "faster", speed(1)),
		bind("Time", []string{"-"}, "-", "slower", speed(-1)),
		bind("Time", []string{"z"}, "z", "how much time the charts show", quietly(func() { m.page().zoom() })).tell(),
		bind("Session", []string{"s"}, "s", "save a report that anyone can replay", send(experiment.Command{Save: &m.opt.ReportsDir})).inFooter("save"),
		bind("Session", []string{"x"}, "x", "explain: why the last packet failed, or was so large; opens one under the cursor", m.explain).inFooter("why"),
		bind("Session", []string{"m"}, "m", "mark this moment; /mark TEXT gives it a name", mark),
		bind("Session", []string{"t"}, "t", "the guided tour: what it is all about, in seven steps", quietly(m.startTour)).inFooter("tour"),
		bind("Session", []string{"/", ":"}, "/", "type a command; tab completes, ↑ recalls", quietly(func() { m.line.show("") })).inFooter("command").pin(),
		bind("Session", []string{"?"}, "?", "this list", m.help).inFooter("help").pin(),
		bind("Session", []string{"esc"}, "esc", "let go of what is selected", quietly(m.release)),
		bind("Session", []string{"ctrl+z"}, "ctrl+z", "suspend", func() request { return request{program: tea.Suspend} }),
		bind("Session", []string{"q"}, "q", "quit", func() request { return request{program: m.quit()} }).inFooter("quit").pin(),
		bind("Session", []string{"ctrl+c"}, "ctrl+c", "quit, the run so far is saved", func() request { return request{program: m.interrupt()} }),
	}
	for i, p := range m.pages {
		digit := strconv.Itoa(i + 1)
		all = append(all, bind("Pages", []string{digit}, digit, p.name(), quietly(func() { m.turn(i) })))
	}
	for _, p := range m.pages {
		for _, b := range p.bindings() {
			b.page = p
			all = append(all, b)
		}
	}
	return all
}

// keysHere are the keys that mean something on this page, its own first.
func (m *Model) keysHere() []binding {
	var own, all []binding
	for _, b := range m.keys {
		if b.page == nil {
			all = append(all, b)
		} else if b.page == m.page() {
			own = append(own, b)
		}
	}
	return append(own, all...)
}

// keysNow are the keys that the footer may name: in the tour, and while
// looking back, those for that stand for all that are not pinned.
func (m *Model) keysNow() []binding {
	var list []binding
	switch {
	case m.lab.past.away:
		list = pastKeys(m.keys)
	case m.tour != nil:
		list = m.tour.keys()
	default:
		return m.keysHere()
	}
	for _, b := range m.keysHere() {
		if b.pinned && b.page == nil && b.group == "Session" {
			list = append(list, b)
		}
	}
	return list
}

// pastKeys are the keys that the footer names while somebody looks back.
func pastKeys(all []binding) []binding {
	var list []binding
	for _, k := range [][3]string{{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"}, {"home", "home", "oldest"}, {"end", "end", "present"}, {" ", "space", "go on"}} {
		for _, b := range all {
			if b.page == nil && b.Keys()[0] == k[0] {
				b = b.inFooter(k[2])
				b.SetHelp(k[1], k[2])
				b.pinned = k[0] != "home" && k[0] != ","
				list = append(list, b)
			}
		}
	}
	return list
}

// typedKeys handles a key message, in which a fast hand or a slow line may have
// put several runes: each is a key of its own, and may open what takes the next.
// Pasted text is no keys.
func (m *Model) typedKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.typedKey(msg)
	}
	if msg.Paste {
		if m.line.open {
			m.line.edit(msg)
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

// typedKey gives one key to whoever has the keys.
func (m *Model) typedKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.line.open:
		return m.keyInLine(msg)
	case m.over != nil:
		return m.keyInOverlay(msg)
	case m.tour != nil && m.tour.key(msg):
		return nil
	}
	return m.key(msg)
}

// key runs what a key is bound to.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	var everywhere *binding
	for i := range m.keys {
		b := &m.keys[i]
		switch {
		case !key.Matches(msg, b.Binding):
		case b.page == m.page():
			return m.press(b, msg)
		case b.page == nil && everywhere == nil:
			everywhere = b
		}
	}
	if everywhere != nil {
		return m.press(everywhere, msg)
	}
	m.lab.stray()
	return nil
}

// keyInLine handles a key while the command line is open.
func (m *Model) keyInLine(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlC:
		return m.interrupt()
	case m.line.key(msg, m.desk()):
		return m.run()
	}
	return nil
}

// keyInOverlay handles a key while an overlay is open.
func (m *Model) keyInOverlay(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	return m.perform(m.over.key(msg))
}

// press does what a key is for, and says so if there was nothing for it to do.
func (m *Model) press(b *binding, msg tea.KeyMsg) tea.Cmd {
	if !b.tells {
		return m.perform(b.do())
	}
	before, sent, note := m.looks(), m.lab.sent, m.lab.note
	cmd := m.perform(b.do())
	m.page().observe(m.sight(false))
	note.stale = m.lab.note.stale
	if m.lab.idle(sent) && m.over == nil && !m.line.open && m.lab.note == note && m.looks() == before {
		m.lab.show(msg.String()+": nothing to do here now; ? lists the keys", toneDim)
	}
	return cmd
}

// looks is what the page shows now.
func (m *Model) looks() string {
	if m.w < minWidth || m.h < minHeight {
		return ""
	}
	return strings.Join(m.page().view(m.theme, m.w, m.h-2-len(m.tourPanel())), "\n")
}
