package labtest

import (
	"strings"

	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"

	tea "github.com/charmbracelet/bubbletea"
)

// Draw returns the lines of a pane, drawn without colours.
func Draw(p room.Pane, v room.View, w, h int) []string {
	p.(room.Observer).Observe(v)
	const ascii = false
	c, th := look.NewCanvas(w, h), Theme(ascii)
	p.Draw(c, th, look.Unfocused)
	return c.Lines(th)
}

// NewView returns the view of a snapshot that redraws all panes.
func NewView(snap *engine.Snapshot) room.View {
	return room.View{Snap: snap, Cfg: snap.Config, Speed: snap.Speed, RedrawDue: true}
}

// Theme returns a theme without colours, with Unicode symbols or, if ascii is set, only ASCII characters.
func Theme(ascii bool) *look.Theme {
	scheme, _ := look.ParseScheme("") // the default
	return look.NewTheme(PlainRenderer(), scheme, ascii)
}

// Pane returns the pane of type T of a page.
func Pane[T room.Pane](p *room.Page) T {
	pane, ok := room.Find[T](p)
	if !ok {
		panic("the page has no such pane")
	}
	return pane
}

// Work runs the background work of a page immediately, and reports whether there was any.
func Work(p *room.Page) (any bool) {
	for read := p.Work(); read != nil; read = p.Work() {
		read()()
		any = true
	}
	if any {
		p.Redraw()
	}
	return any
}

// Stage shows a single page of a fake lab as the dashboard would. It passes keys to the page,
// sends the requests of the page to the lab, and runs its background work immediately.
type Stage struct {
	page    *room.Page
	w, h    int
	Session *session.Session
	th      *look.Theme
}

// NewStage returns a stage for a page on a screen of w columns and h rows.
func NewStage(p *room.Page, lab room.Lab, w, h int) *Stage {
	const ascii, redrawDue = false, true
	s := &Stage{page: p, w: w, h: h, th: Theme(ascii)}
	s.Session = session.New(lab, s.th, func() {})
	s.Tick(redrawDue)
	return s
}

// NewPaneStage returns the pane of type T of a page, and a stage for the page.
func NewPaneStage[T room.Pane](p *room.Page, lab room.Lab, w, h int) (T, *Stage) {
	s := NewStage(p, lab, w, h)
	return Pane[T](p), s
}

// Tick shows the newest snapshot; redrawDue also redraws panes that change all the time.
func (s *Stage) Tick(redrawDue bool) {
	s.Session.Poll()
	s.Session.Sync()
	s.page.Observe(room.View{Snap: s.Session.Shown(), Now: s.Session.Snap, Present: s.Session.Snap, Cfg: s.Session.Config(), Speed: s.Session.Speed(),
		RedrawDue: redrawDue, CanRedrawAll: true})
	Work(s.page)
}

// do sends the command of a request to the lab. It ignores other parts of the request.
func (s *Stage) do(r room.Request) {
	if r.Command == nil {
		return
	}
	if err := s.Session.Do(*r.Command); err == nil && r.Accepted != nil {
		r.Accepted(s.Session.Config())
	}
}

// Press passes keys to the page, with a tick after each.
func (s *Stage) Press(keys ...string) {
	const redrawDue = true
	for _, k := range keys {
		s.pressKey(k)
		s.Tick(redrawDue)
	}
}

// pressKey passes one key to the page: to its own binding or, like the shell, to the method for
// the key.
func (s *Stage) pressKey(k string) {
	if b := room.FindBinding(s.page.Bindings(), KeyMsg(k)); b != nil {
		s.do(b.Press(KeyMsg(k)))
		return
	}
	if move, ok := map[string]struct{ dx, dy int }{"up": {0, -1}, "down": {0, 1}, "left": {-1, 0}, "right": {1, 0}, "[": {-4, 0}}[k]; ok {
		s.do(s.page.Move(move.dx, move.dy))
		return
	}
	switch k {
	case "tab":
		s.page.Focus(1)
	case "enter":
		s.do(s.page.Enter())
	case "esc":
		s.do(s.page.Release())
	case "x":
		r, _ := s.page.Reasons()
		s.do(r)
	case "S":
		s.do(room.Act(s.page, room.Sorter.NextSort))
	case "c":
		s.do(room.Act(s.page, room.Switcher.NextFigure))
	case "r":
		s.do(room.Act(s.page, room.Referrer.NextReference))
	case "w":
		s.do(room.Act(s.page, room.Writer.WriteFile))
	default:
		panic("no key " + k)
	}
}

// Move moves the selection, with a tick after it.
func (s *Stage) Move(dx, dy int) {
	const redrawDue = true
	s.do(s.page.Move(dx, dy))
	s.Tick(redrawDue)
}

// KeyMsg returns the message of a key.
func KeyMsg(k string) tea.KeyMsg { return room.KeyPress(k) }

// View returns the lines of the page.
func (s *Stage) View() string { return strings.Join(s.page.Lines(s.th, s.w, s.h), "\n") }

// Click clicks the left mouse button at column x and row y of the page, with a tick after it.
func (s *Stage) Click(x, y int) {
	const redrawDue = true
	s.do(s.page.Click(x, y))
	s.Tick(redrawDue)
}
