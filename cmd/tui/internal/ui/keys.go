package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/room"
)

// bigStep is the number of steps by which one press of [ or ] changes a value.
const bigStep = 4

// bindGroup returns a function that makes bindings of one group of the help: keys are the names of
// the keys as Bubble Tea has them, label is the text for them in the footer, help describes their
// action do. A binding with empty texts is listed together with the binding before it, see
// helpKeys.
func bindGroup(name string) func(keys []string, label, help string, do func() room.Request) room.Binding {
	return func(keys []string, label, help string, do func() room.Request) room.Binding {
		return room.Bind(name, keys, label, help, do)
	}
}

// PaneKeys returns the keys that act on the panes of the open page, on every screen.
func (s *Shell) PaneKeys() []room.Binding {
	return slices.Concat(s.focusKeys(), s.moveKeys(), s.adjustKeys(), []room.Binding{
		paneKey(s, "S", "sort", "sort by the next column; /sort FIELD asc reverses", room.Sorter.NextSort),
		paneKey(s, "c", "view", "next figure or view", room.Switcher.NextFigure),
		paneKey(s, "r", "reference", "select what the others are compared with", room.Referrer.NextReference),
		paneKey(s, "w", "write", "write what is listed to a file", room.Writer.WriteFile),
	})
}

// paneKey returns the binding of a key that acts on the first pane of the open page that implements T.
func paneKey[T any](s *Shell, keyName, brief, help string, act func(T) room.Request) room.Binding {
	lacking := func() bool {
		_, ok := room.Find[T](s.page())
		return !ok
	}
	return room.Bind("Moving", []string{keyName}, keyName, help, func() room.Request {
		if lacking() {
			return room.Request{}
		}
		return room.Act(s.page(), act)
	}).InFooter(brief).Unless(lacking).NotifyIdle("no pane of this page has this")
}

// focusKeys returns the keys that move the focus between panes. A notice appears if they have no
// effect on the open page.
func (s *Shell) focusKeys() []room.Binding {
	focus := func(keyName, help string, step int) room.Binding {
		return room.Bind("Moving", []string{keyName}, keyName, help, func() room.Request {
			s.page().Focus(step)
			return room.Request{Redraw: true}
		}).NotifyIdle("only one pane of this page has a cursor; after z, tab shows the others").
			Unless(func() bool { return !s.page().HasOtherPane() })
	}
	return []room.Binding{focus("tab", "next pane", 1).InFooter("pane"), focus("shift+tab", "previous pane", -1)}
}

// moveKeys returns the keys that move the selection: arrows and the letters of vi.
func (s *Shell) moveKeys() []room.Binding {
	bind := bindGroup("Moving") // bind(keys, label, help, action) makes a binding
	// arrow returns the bindings of an arrow key and of the letter that does the same in vi. Opposite
	// arrows share the label and the help of the first.
	arrow := func(keyName, letter, label, help string, dx, dy int) []room.Binding {
		return []room.Binding{
			bind([]string{keyName}, label, help, s.move(dx, dy)),
			bind([]string{letter}, "", "", func() room.Request {
				if usesViArrows(s.page()) {
					return room.Request{Notice: "h j k l have other meanings on this page; use the arrows", IsError: true}
				}
				return s.move(dx, dy)()
			}),
		}
	}
	return slices.Concat(
		arrow("up", "k", "↑ ↓", "selection up, down", 0, -1), arrow("down", "j", "", "", 0, 1),
		arrow("left", "h", "← →", "decrease, increase; or previous, next", -1, 0), arrow("right", "l", "", "", 1, 0),
		[]room.Binding{
			bind([]string{"pgup", "ctrl+u", "ctrl+b"}, "pgup", "up by ten", s.move(0, -room.PageStep)),
			bind([]string{"pgdown", "ctrl+d", "ctrl+f"}, "pgdn", "down by ten", s.move(0, room.PageStep)),
			bind([]string{"g"}, "g G", "first, last", s.move(0, -room.ListEnd)),
			bind([]string{"G"}, "", "", s.move(0, room.ListEnd)),
		})
}

// adjustKeys returns the keys that change a value in large steps or by typing. A notice appears if enter has no effect on the open page.
func (s *Shell) adjustKeys() []room.Binding {
	bind := bindGroup("Controls")
	return []room.Binding{
		bind([]string{"[", "shift+left"}, "[ ]", "decrease, increase in large steps", s.move(-bigStep, 0)),
		bind([]string{"]", "shift+right"}, "", "", s.move(bigStep, 0)),
		bind([]string{"enter"}, "enter", "type a value, or choose it from a list", func() room.Request { return s.page().Enter() }).NotifyIdle("nothing on this page can be opened"),
	}
}

// DirectionKey returns the key that selects which links the controls set. A notice appears if the key has no effect on the open page.
func (s *Shell) DirectionKey() room.Binding {
	return room.Bind("Controls", []string{"d"}, "d", "select the link to set: both, down, up", func() room.Request { return s.page().Aim() }).NotifyIdle("this page has no controls of links; page 1 has them")
}

// ChartKeys returns the keys that change how charts and panes are drawn: time range, one pane alone. group is their section of the help. A notice appears if one has no effect on the open
// page.
func (s *Shell) ChartKeys(group string) []room.Binding {
	bind := bindGroup(group)
	return []room.Binding{
		bind([]string{"z"}, "z", "one pane fills the page; again: all panes", func() room.Request {
			s.page().Maximise()
			return room.Request{Redraw: true}
		}).NotifyIdle("the screen shows one pane at a time already; tab is the next"),
		bind([]string{"Z"}, "Z", "time range of the charts", room.WithoutRequest(func() { s.page().Zoom() })).NotifyIdle("this page has no charts over time"),
	}
}

// Leaving describes the keys esc, q and ctrl+c, which clear the selection or quit.
type Leaving struct {
	Release         func() // called by esc, in addition to clearing the selection of the page; may be nil
	Esc, Quit, Stop string // the help of esc, q and ctrl+c
}

// programGroup is the group of the help for keys that all screens have.
const programGroup = "Session"

// ProgramKeys returns the bindings of the keys that all screens have: command line, help, redraw, suspend,
// and esc, q and ctrl+c, whose help leaving contains.
func (s *Shell) ProgramKeys(leaving Leaving) []room.Binding {
	bind := bindGroup(programGroup)
	return []room.Binding{
		bind([]string{"/", ":"}, "/", "type a command or a part of it; the list shows what matches, ↑ chooses",
			room.WithoutRequest(func() { s.line.Show("") })).InFooter("command").Pin(),
		bind([]string{"?"}, "?", "show this list", func() room.Request { return room.Request{Overlay: s.help()} }).InFooter("help").Pin(),
		bind([]string{"esc"}, "esc", leaving.Esc, func() room.Request {
			s.notice.Dismiss()
			if leaving.Release != nil {
				leaving.Release()
			}
			r := s.page().Release()
			s.screen.Refresh(!allPanes)
			return r
		}),
		bind([]string{"y"}, "y", "copy the selection, or else the screen, to the clipboard", func() room.Request { return s.copySelection() }),
		bind([]string{"q"}, "q", leaving.Quit, func() room.Request {
			cmd, err := s.screen.Execute(command.Order{Quit: command.QuitAsking})
			if err != nil {
				return room.Request{Notice: err.Error(), IsError: true}
			}
			return room.Request{Program: cmd}
		}).InFooter("quit").Pin(),
		bind([]string{"ctrl+c"}, "ctrl+c", leaving.Stop, func() room.Request { return room.Request{Program: s.interrupt()} }),
	}
}

// commonKeys returns the keys of all pages: those of the screen, then the digits that open pages.
func (s *Shell) commonKeys() []room.Binding {
	list := slices.Clip(s.keys)
	for i, p := range s.pages {
		if digit := strconv.Itoa(i + 1); len(s.pages) > 1 {
			list = append(list, room.Bind("Pages", []string{digit}, digit, p.Name, room.WithoutRequest(func() { s.openPage(i) })))
		}
	}
	return list
}

// move returns the action of an arrow key: it moves the page's selection by dy rows, and changes
// the selected value by dx steps.
func (s *Shell) move(dx, dy int) func() room.Request {
	return func() room.Request { return s.page().Move(dx, dy) }
}

// usesViArrows reports whether a page gives the letters h, j, k and l another meaning.
func usesViArrows(p *room.Page) bool {
	for _, b := range p.Bindings() {
		if slices.ContainsFunc(b.Keys(), isViArrow) {
			return true
		}
	}
	return false
}

// isViArrow reports whether a key is one of the letters that vi uses as arrow keys.
func isViArrow(name string) bool { return len(name) == 1 && strings.Contains("hjkl", name) }

// hasBinding reports whether a page has its own binding for a key.
func hasBinding(p *room.Page, keyName string) bool {
	return slices.ContainsFunc(p.Bindings(), func(b room.Binding) bool { return slices.Contains(b.Keys(), keyName) })
}

// activeKeys returns the bindings that apply on the open page, its own first.
func (s *Shell) activeKeys() []room.Binding { return append(s.page().Bindings(), s.commonKeys()...) }

// footerKeys returns the keys that the footer lists: those of the command line or the overlay that is open, or
// else normally those that have an effect on the open page. If replacement is not nil, or while a tour is open, it returns instead replacement, or the
// keys of the tour, followed by the pinned keys of the program, and special is true.
func (s *Shell) footerKeys(replacement []room.Binding) (list []room.Binding, special bool) {
	modal := s.modalKeys()
	switch {
	case modal != nil:
		if _, isHelp := s.overlay.(*helpBox); !isHelp {
			modal = append(modal, room.OverlayKey("F1", "help", "").Pin())
		}
		return modal, true
	case replacement != nil:
		list = replacement
	case s.tour != nil:
		list = s.tour.Keys()
	default:
		return slices.DeleteFunc(s.activeKeys(), func(b room.Binding) bool { return b.Idle != nil && b.Idle() }), false
	}
	for _, b := range s.keys {
		if b.Pinned && b.Group == programGroup {
			list = append(list, b)
		}
	}
	return list, true
}

// handleKeys handles a key message. A message contains several runes when the user types fast or
// the connection is slow; each rune is then a key. Pasted text is not treated as keys.
func (s *Shell) handleKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return s.handleKey(msg)
	}
	if msg.Paste {
		if s.line.Open {
			s.line.Edit(msg)
		}
		return nil
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		single := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			single.Type = tea.KeySpace
		}
		cmds = append(cmds, s.handleKey(single))
		if s.quitting {
			break // the keys after the one that quits are dropped
		}
	}
	return tea.Batch(cmds...)
}

// handleKey passes one key to the first of these that is open: the command line, the overlay, the
// tour, the page. The tour ignores keys that it does not use. Ctrl-L and Ctrl-Z act everywhere and are not listed.
func (s *Shell) handleKey(msg tea.KeyMsg) tea.Cmd {
	_, isHelp := s.overlay.(*helpBox)
	switch {
	case msg.Type == tea.KeyCtrlL:
		return tea.ClearScreen
	case msg.Type == tea.KeyCtrlZ:
		return tea.Suspend
	case !isHelp && (s.overlay != nil || s.line.Open) && s.requestsHelp(msg):
		s.overlay = s.help()
		return nil
	case s.line.Open:
		return s.handleLineKey(msg)
	case s.overlay != nil:
		return s.handleOverlayKey(msg)
	case s.tour != nil && s.tour.Key(msg):
		return nil
	}
	return s.runBinding(msg)
}

// requestsHelp reports whether a key opens the help while the command line or an overlay is open: F1 always, and "?"
// unless it is part of a typed line.
func (s *Shell) requestsHelp(msg tea.KeyMsg) bool {
	return msg.Type == tea.KeyF1 || msg.String() == "?" && (!s.line.Open || s.line.Text() == "")
}

// runBinding runs the first action that is bound to a key on the open page. Without one, a notice reports an unknown key.
func (s *Shell) runBinding(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyF1 { // the usual key for help
		msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'?'}}
	}
	for _, b := range s.activeKeys() {
		if key.Matches(msg, b.Binding) {
			return s.runKey(&b, msg)
		}
	}
	s.notice.UnknownKey()
	return nil
}

// handleLineKey handles a key while the command line is open.
func (s *Shell) handleLineKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlC:
		return s.interrupt()
	case s.line.Key(msg, s.screen.Context()):
		return s.executeTyped()
	}
	return nil
}

// handleOverlayKey handles a key while an overlay is open.
func (s *Shell) handleOverlayKey(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return s.interrupt()
	}
	return s.perform(s.overlay.Key(msg))
}

// runKey runs the action of a binding; msg is the key that was pressed. If the binding has an IdleText and its
// action changes nothing that the user can see, a notice reports why the key has no effect.
func (s *Shell) runKey(b *room.Binding, msg tea.KeyMsg) tea.Cmd {
	if b.IdleText == "" {
		return s.perform(b.Action())
	}
	textBefore, noticeBefore := s.pageText(), *s.notice
	r := b.Action()
	cmd := s.perform(r)
	s.screen.Refresh(!allPanes)
	noticeBefore.Changed = s.notice.Changed // only whether the notice must be drawn again: not compared
	idle := r.Command == nil && r.Line == "" && s.overlay == nil && !s.line.Open
	if idle && *s.notice == noticeBefore && s.pageText() == textBefore {
		s.notice.Show(fmt.Sprintf("%s: %s", msg, b.IdleText), room.ToneDim)
	}
	return cmd
}

// pageText returns the current content of the page, without header, footer and overlays.
func (s *Shell) pageText() string {
	if s.tooSmall() {
		return ""
	}
	header := s.screen.Header(s.w)
	const edges = 2 // rows of the first line of the header and of the footer
	return strings.Join(s.page().Lines(s.theme, s.w, s.h-edges-len(header.Below)-len(s.tourPanel())), "\n")
}
