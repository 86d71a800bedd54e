package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

// TestKeysWithoutEffect checks that a key without effect on a page shows a notice, and a key with
// an effect does not.
func TestKeysWithoutEffect(t *testing.T) {
	const notice = "no effect here"
	for _, c := range []struct {
		page, key string
		idle      bool
	}{
		{"1", "tab", false}, {"1", "d", false}, {"1", "Y", false}, {"1", "enter", false},
		{"2", "Y", true}, {"2", "z", false}, {"2", "Z", false}, {"2", "d", true}, {"2", "enter", true}, {"2", "tab", true},
		{"3", "Y", true}, {"3", "z", false}, {"3", "d", true}, {"5", "Y", false}, {"5", "z", false}, {"5", "d", true}, {"6", "Y", true}, {"6", "tab", false},
	} {
		for _, size := range [][2]int{{160, 48}, {80, 24}} {
			m := screen(labtest.NewEcho(), size[0], size[1], Options{})
			press(m, c.page)
			m.lab.Dismiss()
			if press(m, c.key); strings.Contains(m.View(), notice) != c.idle {
				t.Errorf("page %s, %s at %v: notice shown: %v", c.page, c.key, size, !c.idle)
			}
		}
	}
}

// TestCommandsWithoutANameOpenTheList checks that a command that needs a name opens the list of
// names if it has none.
func TestCommandsWithoutANameOpenTheList(t *testing.T) {
	for _, word := range []string{"encoder", "shadow", "profile"} {
		m := screen(labtest.NewEcho(), 160, 48, Options{})
		press(m, line(word)...)
		if m.overlay == nil || m.line.Open {
			t.Errorf("%s: over the page is %T, the line is open: %v", word, m.overlay, m.line.Open)
		}
	}
}
