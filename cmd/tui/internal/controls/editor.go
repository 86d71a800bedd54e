package controls

import (
	"slices"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// maxLineRunes is the largest length of a typed line in runes.
const maxLineRunes = 400

// Editor is a single line of text with a cursor and the usual keys of a shell.
type Editor struct {
	Text []rune
	At   int // position of the cursor, 0..len(Text)
}

// String returns the text.
func (e *Editor) String() string { return string(e.Text) }

// Set replaces the text and moves the cursor to its end.
func (e *Editor) Set(s string) {
	e.Text = e.Text[:0]
	e.At = 0
	e.insert([]rune(s))
}

// insert inserts runes at the cursor, and moves it behind them. Line breaks and tabs of pasted text
// become blanks; other runes without width, and those beyond maxLineRunes, are dropped.
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

// cut removes the runes with index from..to-1 and moves the cursor to from.
func (e *Editor) cut(from, to int) {
	e.Text = slices.Delete(e.Text, from, to)
	e.At = from
}

// wordBefore returns the start of the word before the cursor. Blanks between the word and the
// cursor belong to it.
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

// Key handles one key: text, cursor movement and deletion, as in a shell. Other keys do nothing.
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
