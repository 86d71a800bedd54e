package ui

import (
	"strconv"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// binding is a key and what it does. Help and footer are made from these.
type binding struct {
	key.Binding
	group string
	brief string // what the footer calls it; "" keeps it out
	do    func(*Model) tea.Cmd

	pinned bool // in the footer however small the screen
	page   page // the only one it holds on; nil: all of them
}

func bind(group string, keys []string, shown, help string, do func(*Model) tea.Cmd) binding {
	return binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help)), group: group, do: do}
}

func (b binding) inFooter(brief string) binding {
	b.brief = brief
	return b
}

// pin keeps a key in the footer of the smallest screen.
func (b binding) pin() binding {
	b.pinned = true
	return b
}

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// bindings are all keys of the dashboard, in the order of the help: first those
// that hold on every page, then those of single pages, which go before them. They
// hold while neither the command line nor an overlay is open.
func bindings(pages []page) []binding {
	list := []binding{
		bind("Controls", []string{"tab"}, "tab", "the next pane", act(func(m *Model) { m.page().focus(1) })).inFooter("pane"),
		bind("Controls", []string{"shift+tab"}, "shift+tab", "the pane before", act(func(m *Model) { m.page().focus(-1) })),
		bind("Controls", []string{"up"}, "↑", "select the one above", arrow(0, -1)),
		bind("Controls", []string{"down"}, "↓", "select the one below", arrow(0, 1)),
		bind("Controls", []string{"left"}, "←", "less; in the packets: an older one", arrow(-1, 0)),
		bind("Controls", []string{"right"}, "→", "more; in the packets: a newer one", arrow(1, 0)),
		bind("Controls", []string{"[", "pgdown", "shift+left"}, "[ pgdn", "much less", arrow(-bigStep, 0)),
		bind("Controls", []string{"]", "pgup", "shift+right"}, "] pgup", "much more", arrow(bigStep, 0)),
		bind("Controls", []string{"enter"}, "enter", "type an exact value, or choose from a list", act((*Model).enter)),
		bind("Controls", []string{"e"}, "e", "the encoders: choose, run beside, set params", act((*Model).openEncoders)).inFooter("encoder").pin(),
		bind("Controls", []string{"E"}, "E", "the next encoder at once", act(func(m *Model) { m.cycleEncoder(1) })),
		bind("Controls", []string{"p"}, "p", "choose a ready-made link", act((*Model).pickProfile)).inFooter("profile"),
		bind("Controls", []string{"d"}, "d", "which link the controls set: both, down, up", act(func(m *Model) { m.page().aim() })),
		bind("Controls", []string{"u"}, "u", "take the last change back; again, the one before", act(func(m *Model) { m.send(experiment.Command{Undo: true}) })).inFooter("undo"),
		bind("Time", []string{" "}, "space", "pause, and go on", act(func(m *Model) { m.send(experiment.Command{Toggle: true}) })).inFooter("pause").pin(),
		bind("Time", []string{"."}, ".", "one frame further; while looking back: a tenth on", act((*Model).forward)).inFooter("step"),
		bind("Time", []string{","}, ",", "look back a tenth of a second: time stands still", act(func(m *Model) { m.look(-glance) })),
		bind("Time", []string{"<"}, "< >", "a second back, as far as five minutes; a second on", act(func(m *Model) { m.look(-stride) })).inFooter("look back"),
		bind("Time", []string{">"}, "", "", act(func(m *Model) { m.look(stride) })),
		bind("Time", []string{"b"}, "b B", "look back to the mark before; on to the next", act(func(m *Model) { m.lookMark(-1) })),
		bind("Time", []string{"B"}, "", "", act(func(m *Model) { m.lookMark(1) })),
		bind("Time", []string{"home"}, "home end", "the oldest moment remembered; the present", act(func(m *Model) { m.lookAt(0) })),
		bind("Time", []string{"end"}, "", "", act((*Model).present)),
		bind("Time", []string{"+", "="}, "+", "faster", act(func(m *Model) { m.hurry(1) })),
		bind("Time", []string{"-"}, "-", "slower", act(func(m *Model) { m.hurry(-1) })),
		bind("Time", []string{"z"}, "z", "how much time the charts show", act(func(m *Model) { m.page().zoom() })),
		bind("Session", []string{"s"}, "s", "save a report that anyone can replay", act((*Model).save)).inFooter("save"),
		bind("Session", []string{"x"}, "x", "explain: why the last packet failed, or was so large; opens one under the cursor", act((*Model).explain)).inFooter("why"),
		bind("Session", []string{"m"}, "m", "mark this moment; /mark TEXT gives it a name", act((*Model).mark)),
		bind("Session", []string{"t"}, "t", "the guided tour: what it is all about, in seven steps", act((*Model).startTour)).inFooter("tour"),
		bind("Session", []string{"/", ":"}, "/", "type a command; tab completes, ↑ recalls", act(func(m *Model) { m.line.show("") })).inFooter("command").pin(),
		bind("Session", []string{"?"}, "?", "this list", act(func(m *Model) { m.help() })).inFooter("help").pin(),
		bind("Session", []string{"esc"}, "esc", "let go of what is selected", act((*Model).release)),
		bind("Session", []string{"ctrl+z"}, "ctrl+z", "suspend", func(*Model) tea.Cmd { return tea.Suspend }),
		bind("Session", []string{"q"}, "q", "quit", (*Model).quit).inFooter("quit").pin(),
		bind("Session", []string{"ctrl+c"}, "ctrl+c", "quit, the run so far is saved", (*Model).interrupt),
	}
	for i := range pages {
		digit := strconv.Itoa(pages[i].number())
		list = append(list, bind("Pages", []string{digit}, digit, pages[i].name(), act(func(m *Model) { m.turn(i) })))
	}
	for _, p := range pages {
		for _, b := range p.bindings() {
			b.page = p
			list = append(list, b)
		}
	}
	return list
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
	case m.past.away:
		list = m.pastKeys()
	case m.tour != nil:
		list = tourKeys()
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

// act makes an action that starts nothing in the background.
func act(do func(*Model)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		do(m)
		return nil
	}
}

func arrow(dx, dy int) func(*Model) tea.Cmd {
	return act(func(m *Model) { m.perform(m.page().move(dx, dy)) })
}

// The keys of the command line and of the overlays, on top of plain typing.
func lineKeys() (enter, leave, next, back, older, newer key.Binding) {
	of := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	return of("enter"), of("esc"), of("tab"), of("shift+tab"), of("up"), of("down")
}

// keyInLine handles a key while the command line is open.
func (m *Model) keyInLine(msg tea.KeyMsg) tea.Cmd {
	enter, leave, next, back, older, newer := lineKeys()
	d := m.desk()
	switch {
	case msg.Type == tea.KeyCtrlC:
		return m.interrupt()
	case key.Matches(msg, enter):
		return m.run()
	case key.Matches(msg, leave):
		m.line.open = false
	case key.Matches(msg, next):
		m.line.tab(d, 1)
	case key.Matches(msg, back):
		m.line.tab(d, -1)
	case key.Matches(msg, older):
		m.line.recall(1)
	case key.Matches(msg, newer):
		m.line.recall(-1)
	case msg.Type == tea.KeyBackspace && m.line.input.String() == "":
		m.line.open = false
	default:
		m.line.edit(msg)
	}
	return nil
}

// keyInOverlay handles a key while an overlay is open.
func (m *Model) keyInOverlay(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	switch o := m.over.(type) {
	case *helpBox:
		if n := overlayStep(msg); n != 0 {
			o.scroll(n)
		} else {
			m.over = nil
		}
	case *picker:
		if o.card == nil || !m.cardKey(o, msg) {
			m.keyInPicker(o, msg)
		}
	case *whyBox:
		m.keyInWhy(o, msg)
	}
	return nil
}

func (m *Model) keyInPicker(p *picker, msg tea.KeyMsg) {
	filter := []rune(p.filter)
	switch n := overlayStep(msg); {
	case n != 0:
		p.move(n)
	case msg.Type == tea.KeyEsc:
		m.over = nil
	case msg.Type == tea.KeyEnter:
		m.over = nil
		if name, ok := p.picked(); ok {
			m.take(p, name)
		}
	case msg.Type == tea.KeyBackspace && len(filter) > 0:
		p.narrow(string(filter[:len(filter)-1]))
	case p.beside != nil && len(filter) == 0 && string(msg.Runes) == "v":
		m.toggleShadow(p)
	case msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace:
		p.narrow(p.filter + string(msg.Runes))
	}
}

// overlayStep is how far a key moves in a list, 0 if it is none that moves.
func overlayStep(msg tea.KeyMsg) int {
	const screenful = 10
	switch msg.Type {
	case tea.KeyUp:
		return -1
	case tea.KeyDown:
		return 1
	case tea.KeyPgUp:
		return -screenful
	case tea.KeyPgDown:
		return screenful
	}
	return 0
}
