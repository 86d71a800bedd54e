package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// named are the keys that are not what they type.
var named = map[string]tea.KeyMsg{
	"tab": {Type: tea.KeyTab}, "shift+tab": {Type: tea.KeyShiftTab}, "enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc},
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"space": {Type: tea.KeySpace, Runes: []rune{' '}}, "backspace": {Type: tea.KeyBackspace}, "ctrl+c": {Type: tea.KeyCtrlC},
	"pgdown": {Type: tea.KeyPgDown}, "home": {Type: tea.KeyHome}, "ctrl+u": {Type: tea.KeyCtrlU}, "ctrl+w": {Type: tea.KeyCtrlW},
}

// press sends keys and then a tick, as a person and the clock would.
func press(m *Model, keys ...string) {
	for _, k := range keys {
		msg, ok := named[k]
		if !ok {
			msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		}
		m.Update(msg)
	}
	m.Update(tickMsg{})
}
