package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/room"
)

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// groupOf binds keys of one group of the help.
func groupOf(name string) func(keys []string, shown, help string, do func() room.Request) room.Binding {
	return func(keys []string, shown, help string, do func() room.Request) room.Binding {
		return room.Bind(name, keys, shown, help, do)
	}
}

// FocusKeys give the keys to another pane.
func (s *Shell) FocusKeys() []room.Binding {
	focus := func(key, help string, step int) room.Binding {
		return room.Bind("Moving", []string{key}, key, help, func() room.Request {
			return room.Ask(s.page(), func(p room.Focuser) room.Request { p.Focus(step); return room.Request{} })
		}).SayIdle()
	}
	return []room.Binding{focus("tab", "the next pane", 1).InFooter("pane"), focus("shift+tab", "the pane before", -1)}
}

// MoveKeys move what is chosen, by the arrows or the letters of vi.
func (s *Shell) MoveKeys() []room.Binding {
	bind := groupOf("Moving")
	move := func(key, letter, shown, help string, dx, dy int) []room.Binding {
		return []room.Binding{
			bind([]string{key}, shown, help, s.move(dx, dy)),
			bind([]string{letter}, "", "", func() room.Request {
				if viTaken(s.page()) {
					return room.Request{Say: "the letters of vi mean other things here: use the arrows", Bad: true}
				}
				return s.move(dx, dy)()
			}),
		}
	}
	return slices.Concat(
		move("up", "k", "↑ ↓", "the one above, the one below", 0, -1), move("down", "j", "", "", 0, 1),
		move("left", "h", "← →", "less, more; or the one before, the one after", -1, 0), move("right", "l", "", "", 1, 0),
		[]room.Binding{
			bind([]string{"pgup", "ctrl+u", "ctrl+b"}, "pgup", "ten up", s.move(0, -room.Screenful)),
			bind([]string{"pgdown", "ctrl+d", "ctrl+f"}, "pgdn", "ten down", s.move(0, room.Screenful)),
			bind([]string{"g"}, "g G", "the first of them, the last", s.move(0, -room.Far)),
			bind([]string{"G"}, "", "", s.move(0, room.Far)),
		})
}

// AdjustKeys adjust in large steps, and open what is chosen.
func (s *Shell) AdjustKeys(group string) []room.Binding {
	bind := groupOf(group)
	return []room.Binding{
		bind([]string{"[", "shift+left"}, "[ ]", "much less, much more", s.move(-bigStep, 0)),
		bind([]string{"]", "shift+right"}, "", "", s.move(bigStep, 0)),
		bind([]string{"enter"}, "enter", "type an exact value, or choose from a list", func() room.Request {
			return room.Ask(s.page(), func(p room.Enterer) room.Request { return p.Enter() })
		}).SayIdle(),
	}
}

// AimKey chooses the link that the controls set.
func (s *Shell) AimKey(group string) room.Binding {
	return room.Bind(group, []string{"d"}, "d", "which link the controls set: both, down, up", func() room.Request {
		return room.Ask(s.page(), func(p room.Aimer) room.Request { return p.Aim() })
	}).SayIdle()
}

// ChartKeys change how charts are drawn.
func (s *Shell) ChartKeys(group string) []room.Binding {
	bind := groupOf(group)
	return []room.Binding{
		bind([]string{"z"}, "z Z i", "charts: fit the axis; how much time; dots or lines", func() room.Request {
			return room.Ask(s.page(), func(p room.Fitter) room.Request { p.Fit(); return room.Request{} })
		}).SayIdle(),
		bind([]string{"Z"}, "", "", func() room.Request {
			return room.Ask(s.page(), func(p room.Zoomer) room.Request { p.Zoom(); return room.Request{} })
		}).SayIdle(),
		bind([]string{"i"}, "", "", func() room.Request {
			s.theme = s.theme.NextCharts()
			return room.Request{Say: "charts: " + s.theme.Charts().String()}
		}),
	}
}

// Leaving describes the keys that let go and leave.
type Leaving struct {
	Release         func() // what esc does besides releasing what is selected on the page; may be nil
	Esc, Quit, Stop string // the help of esc, q and ctrl+c
}

// programGroup is the group of the help with the keys of every screen.
const programGroup = "Session"

// ProgramKeys are for the program as a whole, and for leaving.
func (s *Shell) ProgramKeys(x Leaving) []room.Binding {
	bind := groupOf(programGroup)
	return []room.Binding{
		bind([]string{"/", ":"}, "/", "type a command; tab completes, ↑ recalls",
			room.Quietly(func() { s.line.Show("") })).InFooter("command").Pin(),
		bind([]string{"?"}, "?", "this list", func() room.Request { return room.Request{Over: s.help()} }).InFooter("help").Pin(),
		bind([]string{"esc"}, "esc", x.Esc, func() room.Request {
			s.note.Dismiss()
			if x.Release != nil {
				x.Release()
			}
			r := room.Ask(s.page(), func(p room.Releaser) room.Request { p.Release(); return room.Request{} })
			s.screen.Refresh(false)
			return r
		}),
		bind([]string{"ctrl+l"}, "ctrl+l", "draw the screen anew", func() room.Request { return room.Request{Program: tea.ClearScreen} }),
		bind([]string{"ctrl+z"}, "ctrl+z", "suspend", func() room.Request { return room.Request{Program: tea.Suspend} }),
		bind([]string{"q"}, "q", x.Quit, func() room.Request {
			cmd, err := s.screen.Obey(command.Order{Leave: command.QuitAsking})
			if err != nil {
				return room.Request{Say: err.Error(), Bad: true}
			}
			return room.Request{Program: cmd}
		}).InFooter("quit").Pin(),
		bind([]string{"ctrl+c"}, "ctrl+c", x.Stop, func() room.Request { return room.Request{Program: s.interrupt()} }),
	}
}

// pageKeys are those that show pages, then those of single pages, which go before all others.
func (s *Shell) pageKeys() (all []room.Binding) {
	for i, p := range s.pages {
		if len(s.pages) == 1 {
			break
		}
		digit := strconv.Itoa(i + 1)
		all = append(all, room.Bind("Pages", []string{digit}, digit, p.Name(), room.Quietly(func() { s.openPage(i) })))
	}
	for _, p := range s.pages {
		for _, b := range room.BindingsOf(p) {
			b.Page = p
			all = append(all, b)
		}
	}
	return all
}

// move is the action of the arrow keys.
func (s *Shell) move(dx, dy int) func() room.Request {
	return func() room.Request {
		return room.Ask(s.page(), func(p room.Mover) room.Request { return p.Move(dx, dy) })
	}
}

// viTaken reports whether a page has other uses for the letters that stand for arrows.
func viTaken(p room.Page) bool {
	for _, b := range room.BindingsOf(p) {
		if slices.ContainsFunc(b.Keys(), isViArrow) {
			return true
		}
	}
	return false
}

func isViArrow(key string) bool { return len(key) == 1 && strings.Contains("hjkl", key) }

// owns reports whether a key means something of its own on a page.
func owns(p room.Page, key string) bool {
	return slices.ContainsFunc(room.BindingsOf(p), func(b room.Binding) bool { return slices.Contains(b.Keys(), key) })
}

// keysHere are the keys that mean something on this page, its own first.
func (s *Shell) keysHere() []room.Binding {
	var own, all []room.Binding
	for _, b := range s.keys {
		if b.Page == nil {
			all = append(all, b)
		} else if b.Page == s.page() {
			own = append(own, b)
		}
	}
	return append(own, all...)
}

// keysNow are the keys that the footer names. Those of a tour, or of the header, replace all
// that are not pinned; special reports whether they do.
func (s *Shell) keysNow(of []room.Binding) (list []room.Binding, special bool) {
	switch {
	case of != nil:
		list = of
	case s.tour != nil:
		list = s.tour.Keys()
	default:
		return slices.DeleteFunc(s.keysHere(), func(b room.Binding) bool { return b.Idle != nil && b.Idle() }), false
	}
	for _, b := range s.keysHere() {
		if b.Pinned && b.Page == nil && b.Group == programGroup {
			list = append(list, b)
		}
	}
	return list, true
}

// typedKeys handles a key message. It may hold several runes when keys come fast
// or the line is slow: each is a key of its own. Pasted text is not taken for
// keys.
func (s *Shell) typedKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return s.typedKey(msg)
	}
	if msg.Paste {
		if s.line.Open {
			s.line.Edit(msg)
		}
		return nil
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, s.typedKey(one))
		if s.left {
			break // what follows was not meant for us
		}
	}
	return tea.Batch(cmds...)
}

// typedKey gives one key to what has the keys: the command line, a box, the tour,
// or the page.
func (s *Shell) typedKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.line.Open:
		return s.keyInLine(msg)
	case s.over != nil:
		return s.keyInOverlay(msg)
	case s.tour != nil && s.tour.Key(msg):
		return nil
	}
	return s.key(msg)
}

// key runs what a key is bound to.
func (s *Shell) key(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyF1 {
		msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'?'}}
	}
	var everywhere *room.Binding
	for i := range s.keys {
		b := &s.keys[i]
		switch {
		case !key.Matches(msg, b.Binding):
		case b.Page == s.page():
			return s.press(b, msg)
		case b.Page == nil && everywhere == nil:
			everywhere = b
		}
	}
	if everywhere != nil {
		return s.press(everywhere, msg)
	}
	s.note.UnknownKey()
	return nil
}

// keyInLine handles a key while the command line is open.
func (s *Shell) keyInLine(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlC:
		return s.interrupt()
	case s.line.Key(msg, s.screen.Context()):
		return s.run()
	}
	return nil
}

// keyInOverlay handles a key while an overlay is open.
func (s *Shell) keyInOverlay(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return s.interrupt()
	}
	return s.perform(s.over.Key(msg))
}

// press does what a key is for, and shows a notice if there was nothing for it to do.
func (s *Shell) press(b *room.Binding, msg tea.KeyMsg) tea.Cmd {
	if !b.NoteIdle {
		return s.perform(b.Do())
	}
	before, note := s.pageText(), *s.note
	r := b.Do()
	cmd := s.perform(r)
	s.screen.Refresh(false)
	note.Stale = s.note.Stale
	idle := r.Command == nil && r.Line == "" && s.over == nil && !s.line.Open
	if idle && *s.note == note && s.pageText() == before {
		s.note.Show(msg.String()+": nothing to do here now; ? lists the keys", room.ToneDim)
	}
	return cmd
}

// pageText is what the page shows now.
func (s *Shell) pageText() string {
	if s.tooSmall() {
		return ""
	}
	header := s.screen.Header(s.w)
	return strings.Join(s.page().Lines(s.theme, s.w, s.h-2-len(header.Below)-len(s.tourPanel())), "\n")
}
