package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// TestKeysWithoutEffect checks that a key without effect on a page shows why, and a key with an effect shows no
// such notice.
func TestKeysWithoutEffect(t *testing.T) {
	reasons := []string{"no charts over time", "no controls of links", "no field is selected", "only one pane",
		"no packet is selected", "no earlier failure", "there are no shadows", "on page 1; select a saved report", "this is the present", "has its largest value"}
	for _, c := range []struct {
		keys   string
		reason string // "" for none
	}{
		{"1 tab", ""}, {"1 d", ""}, {"1 enter", ""}, {"1 >", "this is the present"}, {"1 end", "this is the present"},
		{"1 down down ] ] ] ]", "has its largest value"},
		{"2 Z", ""}, {"2 d", "no controls of links"}, {"2 enter", "no field is selected"}, {"2 tab", "only one pane"},
		{"2 down enter", ""},
		{"3 Z", "no charts over time"}, {"3 d", "no controls of links"}, {"3 enter", ""},
		{"5 d", "no controls of links"}, {"5 enter", "there are no shadows"},
	} {
		for _, size := range [][2]int{{160, 48}, {80, 24}} {
			m := screen(labtest.NewEcho(), size[0], size[1])
			keys := strings.Fields(c.keys)
			press(m, keys[:len(keys)-1]...)
			m.lab.Dismiss()
			press(m, keys[len(keys)-1])
			for _, reason := range reasons {
				if shown := strings.Contains(m.View(), reason); shown != (reason == c.reason) {
					t.Errorf("keys %s at %v: %q is shown: %v\n%s", c.keys, size, reason, shown, lastRow(m))
				}
			}
		}
	}
}

// TestCommandsWithoutANameOpenTheList checks that a command that needs a name opens the list of
// names if it has none.
func TestCommandsWithoutANameOpenTheList(t *testing.T) {
	for _, word := range []string{"encoder", "shadow", "profile"} {
		m := large(labtest.NewEcho())
		press(m, "/"+word)
		if m.overlay == nil || m.line.Open {
			t.Errorf("%s: over the page is %T, the line is open: %v", word, m.overlay, m.line.Open)
		}
	}
	for reason, lab := range map[string]room.Lab{"a crowd has one encoder": newCrowdLab(40), "no shadows over a network": newRemote()} {
		m := large(lab)
		press(m, "v")
		if checkShown(t, m, reason); m.overlay != nil {
			t.Errorf("v opens %T", m.overlay)
		}
	}
}
