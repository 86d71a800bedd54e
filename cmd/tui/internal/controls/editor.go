package controls

import (
	"slices"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// maxLineRunes bounds a typed line.
const maxLineRunes = 400

// Editor is one line of text with a cursor, and the keys that every shell has.
type Editor struct {
	Text []rune
	At   int // place of the cursor, 0..len(text)
}

// String is the text.
func (e *Editor) String() string { return string(e.Text) }

// Set replaces the text and puts the cursor behind it.
func (e *Editor) Set(s string) {
	e.Text = e.Text[:0]
	e.At = 0
	e.insert([]rune(s))
}

// insert puts what can be shown at the cursor; line breaks and tabs of a pasted
// text become blanks.
func (e *Editor) insert(runes []rune) {
	for _, r := range runes {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if len(e.Text) < maxLineRunes && look.RuneWidth(r) > 0 {
			e.Text = slices.Insert(e.Text, e.At, r)
			e.At++
		}
	}
}

// cut removes the text from..to and leaves the cursor there.
func (e *Editor) cut(from, to int) {
	e.Text = slices.Delete(e.Text, from, to)
	e.At = from
}

// wordBefore returns where the word before the cursor begins.
func (e *Editor) wordBefore() int {
	i := e.At
	for i > 0 && e.Text[i-1] == ' ' {
		i--
	}
	for i > 0 && e.Text[i-1] != ' ' {
		i--
	}
	return i
}

// Key handles one key.
func (e *Editor) Key(msg tea.KeyMsg) {
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		e.insert(msg.Runes)
	case tea.KeyLeft, tea.KeyCtrlB:
		e.At = max(e.At-1, 0)
	case tea.KeyRight, tea.KeyCtrlF:
		e.At = min(e.At+1, len(e.Text))
	case tea.KeyHome, tea.KeyCtrlA:
		e.At = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		e.At = len(e.Text)
	case tea.KeyBackspace:
		e.cut(max(e.At-1, 0), e.At)
	case tea.KeyDelete, tea.KeyCtrlD:
		e.cut(e.At, min(e.At+1, len(e.Text)))
	case tea.KeyCtrlW:
		e.cut(e.wordBefore(), e.At)
	case tea.KeyCtrlU:
		e.cut(0, e.At)
	case tea.KeyCtrlK:
		e.cut(e.At, len(e.Text))
	}
}
