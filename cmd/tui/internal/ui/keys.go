package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/openfile"
	"wirelab/cmd/tui/internal/room"
)

// bigStep is the number of steps by which one press of [ or ] changes a value.
const bigStep = 4

// Leaving describes the keys esc, q and ctrl+c, which clear the selection or quit.
type Leaving struct {
	Release         func() // called by esc, in addition to clearing the selection of the page; may be nil
	Esc, Quit, Stop string // the help of esc, q and ctrl+c
	Brief           string // the text of q in the footer; "" means "quit"
}

// Bind sets the keys of the screen: keys, and those that every screen has. They apply on all pages.
func (s *Shell) Bind(keys []room.Binding, leaving Leaving) {
	s.programKeys = s.bindProgram(leaving)
	s.keys = slices.Concat(s.bindPanes(), keys, s.programKeys)
}

// bindPanes returns the keys that act on the panes of the open page.
func (s *Shell) bindPanes() []room.Binding {
	move := func(dx, dy int) func(int) room.Request { // moves the selection by rows, or changes a value by steps
		return func(step int) room.Request { return s.page().Move(step*dx, step*dy) }
	}
	unmoved := func() bool { // no pane of the page has something to move
		_, ok := room.FindActive[room.Mover](s.page())
		return !ok
	}
	onlyPane := func() bool { return !s.page().HasOtherPane() }
	focus := room.Pair("shift+tab", "tab", "next pane; shift+tab: the previous one", func(step int) room.Request {
		s.page().Focus(step)
		return room.Request{Redraw: true}
	})
	alone := func() room.Request {
		s.page().Maximise()
		return room.Request{Redraw: true}
	}
	zoom := func(room.Timed) room.Request {
		s.page().Zoom()
		return room.Request{}
	}
	return []room.Binding{
		focus.Labelled("tab").InFooter("pane").Unless(onlyPane).NotifyIdle("only one pane of this page has a cursor; after z, tab shows the others"),
		room.Pair("up k", "down j", "selection up, down", move(0, 1)).Unless(unmoved),
		room.Pair("left h", "right l", "decrease, increase; or previous, next", move(1, 0)).Unless(unmoved),
		room.Pair("[ shift+left", "] shift+right", "move or change by four steps", move(bigStep, 0)).Unless(unmoved),
		room.Pair("pgup ctrl+u ctrl+b", "pgdown ctrl+d ctrl+f", "up, down by ten", move(0, room.PageStep)).Unless(unmoved),
		room.Pair("g", "G", "first, last", move(0, room.ListEnd)).Unless(unmoved),
		paneKey(s, "enter", "type a value, or choose it from a list", "nothing on this page can be opened", room.Enterer.Enter),
		paneKey(s, "d", "select the link to set: both, down, up", "this page has no controls of links; /down and /up set them", room.Aimer.Aim),
		paneKey(s, "S", "next column to sort by; /sort FIELD asc", "this page has nothing to sort", room.Sorter.NextSort).InFooter("sort").Pin(),
		paneKey(s, "c", "next figure or view", "this page has one view", room.Switcher.NextFigure).InFooter("view").Pin(),
		paneKey(s, "r", "select what the others are compared with", "this page compares nothing",
			room.Referrer.NextReference).InFooter("reference"),
		paneKey(s, "w", "write what is listed to a file", "this page has no list to write", room.Writer.WriteFile).InFooter("write"),
		room.Bind("z", "one pane fills the page; again: all panes", alone).NotifyIdle("the screen shows one pane already"),
		paneKey(s, "Z", "time range of the charts", "the screen shows no charts over time", zoom),
	}
}

// paneKey returns the binding of a key that acts on the first pane of the open page that implements T. If none
// does, footer and help omit the key, and a notice with the text lacking appears.
func paneKey[T any](s *Shell, keyName, help, lacking string, act func(T) room.Request) room.Binding {
	press := func() room.Request {
		_, isActive := room.FindActive[T](s.page())
		pane, exists := room.Find[T](s.page())
		if x, canBeAbsent := any(pane).(room.Absent); !isActive && exists && !(canBeAbsent && x.Absent()) {
			return room.Request{Notice: keyName + ": pane " + any(pane).(room.Pane).Name() + " has this key; tab shows it"}
		}
		return room.Act(s.page(), act)
	}
	return room.Bind(keyName, help, press).NotifyIdle(lacking).Unless(func() bool {
		pane, ok := room.FindActive[T](s.page())
		x, canBeAbsent := any(pane).(room.Absent)
		return !ok || canBeAbsent && x.Absent()
	})
}

// bindProgram returns the keys for the program: command line, help, clipboard, and those of leaving.
func (s *Shell) bindProgram(leaving Leaving) []room.Binding {
	release := func() room.Request {
		s.notice.Dismiss()
		if leaving.Release != nil {
			leaving.Release()
		}
		r := s.page().Release()
		s.screen.Refresh(!allPanes)
		return r
	}
	quit := func() room.Request {
		cmd, err := s.screen.Execute(command.Order{Quit: command.QuitAsking})
		if err != nil {
			return room.Refusal(err.Error())
		}
		return room.Request{Program: cmd}
	}
	return []room.Binding{
		room.Bind("esc", leaving.Esc, release),
		room.Bind("y", "copy the selection, or else the screen", s.copySelection),
		room.Bind("/ :", "list all commands; type to find one",
			room.WithoutRequest(func() { s.line.Show("") })).InFooter("command").Pin(),
		room.Bind("? f1", "show the keys", func() room.Request { return room.Request{Overlay: s.help()} }).InFooter("help").Pin(),
		room.Bind("q", leaving.Quit, quit).InFooter(cmp.Or(leaving.Brief, "quit")).Pin(),
		room.Bind("ctrl+c", leaving.Stop, func() room.Request { return room.Request{Program: s.interrupt()} }),
	}
}

// digitKeys returns the keys that open pages or, if there is only one page, focus its panes. The help lists them in one
// row. The footer lists those of pages if the header has no room for the names of all pages.
func (s *Shell) digitKeys() (list []room.Binding) {
	things, open := "pages", s.openPage
	var names []string
	for _, p := range s.pages {
		names = append(names, p.Name)
	}
	isOnlyPage := len(s.pages) == 1
	if isOnlyPage {
		page := s.pages[0]
		things, names = "panes", nil
		for _, slot := range page.Slots {
			names = append(names, slot.Pane.Name())
		}
		open = func(i int) { page.FocusOn(page.Slots[i]) }
	}
	for i := range names {
		list = append(list, room.Bind(strconv.Itoa(i+1), "", room.WithoutRequest(func() { open(i) })))
	}
	list[0].Label, list[0].Help = "1-"+strconv.Itoa(len(names)), things+": "+strings.Join(names, " ")
	if !isOnlyPage && !s.namesAllPages() {
		list[0] = list[0].InFooter("page")
	}
	return list
}

// hasBinding reports whether a page has its own binding for a key.
func hasBinding(p *room.Page, keyName string) bool {
	return room.FindBinding(p.Bindings(), room.KeyPress(keyName)) != nil
}

// activeKeys returns the bindings that apply on the open page, its own first.
func (s *Shell) activeKeys() []room.Binding {
	return slices.Concat(s.page().Bindings(), s.commonKeys())
}

// commonKeys returns the bindings of all pages.
func (s *Shell) commonKeys() []room.Binding {
	const afterTab = 1
	return slices.Insert(slices.Clone(s.keys), afterTab, s.digitKeys()...)
}

// footerKeys returns the keys that the footer lists: those of the command line or the overlay that is open, or
// else normally those that have an effect on the open page. If replacement is not nil, or while a tour is open, it returns instead replacement, or the
// keys of the tour, followed by the pinned keys of the program, and special is true.
func (s *Shell) footerKeys(replacement []room.Binding) (list []room.Binding, special bool) {
	modal := s.modalKeys()
	switch {
	case modal != nil:
		if !s.showsHelp() {
			modal = append(modal, room.OverlayKey("F1", "help", "").Pin())
		}
		return modal, true
	case replacement != nil:
		list = replacement
	case s.tour != nil:
		list = s.tour.Keys()
	default:
		return slices.DeleteFunc(s.activeKeys(), isIdle), false
	}
	for _, b := range s.programKeys {
		if b.Pinned {
			list = append(list, b)
		}
	}
	return list, true
}

// isIdle reports whether a key has nothing to do.
func isIdle(b room.Binding) bool { return b.Idle != nil && b.Idle() }

// handleKeys handles a key message. A message contains several runes when the user types fast or
// the connection is slow; each rune is then a key. Pasted text is not treated as keys.
func (s *Shell) handleKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return s.handleKey(msg)
	}
	if msg.Paste {
		return s.paste(msg)
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

// paste adds pasted text to the command line. If the text is the path of a file, as of one that is
// dropped on the terminal, the command that opens the file is put into the line: enter opens it, esc does not.
func (s *Shell) paste(msg tea.KeyMsg) tea.Cmd {
	canOpen := func() bool {
		_, asks := s.overlay.(*question)
		return !asks && s.screen.Context().Paths != nil
	}
	switch {
	case s.line.Open:
		s.line.Edit(msg)
	case canOpen():
		return func() tea.Msg { // the file system may be slow
			path, exists := openfile.ParsePath(string(msg.Runes))
			return workDone(func() tea.Cmd {
				if exists && canOpen() && !s.line.Open {
					s.overlay = nil
					s.line.Show("open " + path)
				}
				return nil
			})
		}
	}
	return nil
}

// handleKey passes one key to the first of these that is open: the command line, the overlay, the
// tour, the page. The tour ignores keys that it does not use. Ctrl-L and Ctrl-Z act everywhere and are not listed.
func (s *Shell) handleKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlL:
		return tea.ClearScreen
	case msg.Type == tea.KeyCtrlZ:
		return tea.Suspend
	case !s.showsHelp() && (s.overlay != nil || s.line.Open) && s.requestsHelp(msg):
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
	if b := room.FindBinding(s.activeKeys(), msg); b != nil {
		return s.runKey(b, msg)
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

// runKey runs the action of a binding for one of its keys. If the binding has an IdleText and its
// action changes nothing that the user can see, a notice reports why the key has no effect.
func (s *Shell) runKey(b *room.Binding, msg tea.KeyMsg) tea.Cmd {
	if b.IdleText == "" {
		return s.perform(b.Press(msg))
	}
	textBefore, noticeBefore := s.pageText(), *s.notice
	r := b.Press(msg)
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
