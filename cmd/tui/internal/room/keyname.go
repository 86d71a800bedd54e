package room

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// keyLabels lists the keys whose label in help and footer is not their name: the name that Bubble Tea has,
// and the label.
var keyLabels = [][2]string{{"shift+up", "S-↑"}, {"shift+down", "S-↓"}, {"shift+left", "S-←"}, {"shift+right", "S-→"}, {"shift+tab", "S-tab"},
	{"up", "↑"}, {"down", "↓"}, {"left", "←"}, {"right", "→"}, {"pgdown", "pgdn"}, {"delete", "del"}, {"f1", "F1"}}

// KeyLabel returns the label of a key: "↑" for "up", "^c" for "ctrl+c", or the name itself.
func KeyLabel(name string) string {
	for _, x := range keyLabels {
		if name == x[0] {
			return x[1]
		}
	}
	return strings.Replace(name, "ctrl+", "^", 1)
}

// namedKeys are the keys that type no character, by their names in Bubble Tea.
var namedKeys = func() map[string]tea.KeyType {
	keys := map[string]tea.KeyType{}
	for k := tea.KeyType(-100); k <= 127; k++ { // contains all keys of Bubble Tea
		if name := KeyName(tea.KeyMsg{Type: k}); name != "" && k != tea.KeyRunes {
			keys[name] = k
		}
	}
	return keys
}()

// KeyName returns the name of a key: that of Bubble Tea, or "space".
func KeyName(msg tea.KeyMsg) string {
	if name := msg.String(); name != " " {
		return name
	}
	return "space"
}

// KeyPress returns the message of a key, given by its name in Bubble Tea or by its label, see KeyLabel. Any
// other text is typed text.
func KeyPress(key string) tea.KeyMsg {
	for _, x := range keyLabels {
		if key == x[1] {
			key = x[0]
		}
	}
	if len(key) > 1 {
		key = strings.Replace(key, "^", "ctrl+", 1)
	}
	if k, ok := namedKeys[key]; ok {
		if k == tea.KeySpace {
			return tea.KeyMsg{Type: k, Runes: []rune{' '}}
		}
		return tea.KeyMsg{Type: k}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
}
