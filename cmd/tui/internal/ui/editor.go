package ui

import (
	"slices"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// maxLine bounds a typed line.
const maxLine = 400

// editor is one line of text with a cursor, and the keys that every shell has.
type editor struct {
	text []rune
	at   int // place of the cursor, 0..len(text)
}

func (e *editor) String() string { return string(e.text) }

// set replaces the text and puts the cursor behind it.
func (e *editor) set(s string) {
	e.text = e.text[:0]
	e.at = 0
	e.insert([]rune(s))
}

// insert puts what can be shown at the cursor; line breaks and tabs of a pasted
// text become blanks.
func (e *editor) insert(runes []rune) {
	for _, r := range runes {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if len(e.text) < maxLine && runeWidth(r) > 0 {
			e.text = slices.Insert(e.text, e.at, r)
			e.at++
		}
	}
}

// cut removes the text from..to and leaves the cursor there.
func (e *editor) cut(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

// wordBefore returns where the word before the cursor begins.
func (e *editor) wordBefore() int {
	i := e.at
	for i > 0 && e.text[i-1] == ' ' {
		i--
	}
	for i > 0 && e.text[i-1] != ' ' {
		i--
	}
	return i
}

// key handles one key.
func (e *editor) key(msg tea.KeyMsg) {
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		e.insert(msg.Runes)
	case tea.KeyLeft, tea.KeyCtrlB:
		e.at = max(e.at-1, 0)
	case tea.KeyRight, tea.KeyCtrlF:
		e.at = min(e.at+1, len(e.text))
	case tea.KeyHome, tea.KeyCtrlA:
		e.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		e.at = len(e.text)
	case tea.KeyBackspace:
		e.cut(max(e.at-1, 0), e.at)
	case tea.KeyDelete, tea.KeyCtrlD:
		e.cut(e.at, min(e.at+1, len(e.text)))
	case tea.KeyCtrlW:
		e.cut(e.wordBefore(), e.at)
	case tea.KeyCtrlU:
		e.cut(0, e.at)
	case tea.KeyCtrlK:
		e.cut(e.at, len(e.text))
	}
}
