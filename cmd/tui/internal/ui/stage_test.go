package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// picture draws a pane by itself, without colour.
func picture(p pane, v sight, w, h int) []string {
	p.observe(v)
	c, th := newCanvas(w, h), plainTheme(false)
	p.draw(c, th, false)
	return c.lines(th)
}

// sightOf is what a pane sees of a snapshot when it is time to redraw everything.
func sightOf(snap *experiment.Snapshot) sight {
	return sight{snap: snap, cfg: snap.Config, speed: snap.Speed, slow: true}
}

// plainTheme paints nothing.
func plainTheme(ascii bool) *theme {
	l, _ := schemeNamed("")
	return newTheme(plainRenderer(), l, ascii)
}

// stage shows one page of a made-up lab, as the dashboard would: keys go to the
// page, what it asks of the lab is done, and what it has to do in the background is
// done at once.
type stage struct {
	page page
	w, h int
	s    *session
	th   *theme
}

// newStage puts a page on a screen of a size.
func newStage(p page, lab Lab, w, h int) *stage {
	s := &stage{page: p, w: w, h: h, th: plainTheme(false)}
	s.s = newSession(lab, s.th, func() {})
	s.tick(true)
	return s
}

// tick takes the newest snapshot; slow: it is time to redraw everything.
func (s *stage) tick(slow bool) {
	s.s.poll()
	s.s.settle()
	s.page.observe(sight{snap: s.s.shown(), now: s.s.snap, cfg: s.s.config(), speed: s.s.speed(), slow: slow, spare: true})
	if p, ok := s.page.(worker); ok {
		for read := p.work(); read != nil; read = p.work() {
			read()()
		}
	}
}

// do carries out what the page asks of the lab.
func (s *stage) do(r request) {
	if r.command == nil {
		return
	}
	if err := s.s.do(*r.command); err == nil && r.accepted != nil {
		r.accepted(s.s.config())
	}
}

// press gives keys to the page, each followed by a tick.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		s.key(k)
		s.tick(true)
	}
}

func (s *stage) key(k string) {
	for _, b := range s.page.bindings() {
		if msg := keyMsg(k); key.Matches(msg, b.Binding) {
			s.do(b.do())
			return
		}
	}
	switch k {
	case "up":
		s.do(s.page.move(0, -1))
	case "down":
		s.do(s.page.move(0, 1))
	case "left":
		s.do(s.page.move(-1, 0))
	case "right":
		s.do(s.page.move(1, 0))
	case "[":
		s.do(s.page.move(-4, 0))
	case "tab":
		s.page.focus(1)
	case "enter":
		s.do(s.page.enter())
	case "esc":
		s.page.release()
	default:
		panic("no key " + k)
	}
}

// keyMsg is the message that a key makes.
func keyMsg(k string) tea.KeyMsg {
	if msg, ok := namedKeys[k]; ok {
		return msg
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// view is what the page shows.
func (s *stage) view() string { return strings.Join(s.page.view(s.th, s.w, s.h), "\n") }

// click is a click of the left button, with a tick after it.
func (s *stage) click(x, y int) {
	s.do(s.page.click(x, y))
	s.tick(true)
}

// namedKeys are the keys that are not what they type.
var namedKeys = map[string]tea.KeyMsg{
	"tab": {Type: tea.KeyTab}, "shift+tab": {Type: tea.KeyShiftTab}, "enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc},
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"space": {Type: tea.KeySpace, Runes: []rune{' '}}, "backspace": {Type: tea.KeyBackspace}, "ctrl+c": {Type: tea.KeyCtrlC},
	"shift+left": {Type: tea.KeyShiftLeft}, "shift+up": {Type: tea.KeyShiftUp},
	"pgdown": {Type: tea.KeyPgDown}, "insert": {Type: tea.KeyInsert}, "end": {Type: tea.KeyEnd}, "home": {Type: tea.KeyHome}, "ctrl+u": {Type: tea.KeyCtrlU}, "ctrl+w": {Type: tea.KeyCtrlW},
}
