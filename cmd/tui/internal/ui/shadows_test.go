package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"

	tea "github.com/charmbracelet/bubbletea"
)

// TestShadowsByKeys checks that shadows can be added and removed by typed commands and by v in
// the list of encoders, with one change each.
func TestShadowsByKeys(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "/shadow raw")
	press(m, "/shadow rotor; /shadow off raw")
	checkSent(t, lab.Got, "shadow raw on; shadow rotor on; shadow raw off")
	if got := controls.ShadowNames(m.lab.Config()); len(got) != 1 || got[0] != "rotor" {
		t.Errorf("shadows: %v", got)
	}
	lab.Got = nil
	press(m, "enter")             // the list of encoders; the cursor is on the active one
	press(m, "down v v up v esc") // the active encoder cannot be its own shadow
	checkSent(t, lab.Got, "shadow rotor off; shadow rotor on")
	lab.Got = nil
	press(m, "v / raw enter") // in the list that v opens, enter adds
	if spell(lab.Got) != "shadow raw on" || m.overlay != nil {
		t.Errorf("sent by enter: %s", spell(lab.Got))
	}
}

// TestShadowsAreDistinguishable checks that without colours the lines of shadows differ by their
// symbols, and every shadow has symbols in the chart.
func TestShadowsAreDistinguishable(t *testing.T) {
	for ascii, symbols := range map[bool]string{false: "○△□◇", true: "@~#*"} {
		m := screen(&labtest.Lab{Snap: labtest.FourShadows()}, 160, 48, Options{ASCII: ascii})
		chart := strings.Join(strings.Split(m.View(), "\n")[2:14], "")
		for _, symbol := range symbols {
			if strings.Count(chart, string(symbol)) < 3 {
				t.Errorf("ascii %v: hardly any %c in the chart", ascii, symbol)
			}
		}
	}
}

// TestShadowPrevious checks that /shadow previous runs the encoder of before the last change as a
// shadow, and that an error explains why if it cannot.
func TestShadowPrevious(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "/shadow previous")
	if text := m.View(); len(lab.Got) != 0 || !strings.Contains(text, "has not been changed yet") {
		t.Errorf("nothing was changed, and the command sent %s", spell(lab.Got))
	}
	press(m, "esc")
	lab.Snap.PreviousEncoder = &config.Encoder{Name: "rotor"}
	tick(m, 1)
	press(m, "/shadow previous")
	tick(m, 1)
	checkSent(t, lab.Got, "shadow rotor on")
	press(m, "/shadow previous")
	if text := m.View(); len(lab.Got) != 1 || !strings.Contains(text, "is a shadow already") {
		t.Errorf("twice: %s", spell(lab.Got))
	}
}

// TestNoShadowOfItself checks that the active encoder cannot be added as a shadow, by key or
// command, unless its parameters differ. A parameter that is set to its default is no difference.
func TestNoShadowOfItself(t *testing.T) {
	lab := labtest.NewLab()
	m := newDashboard(lab, Options{Renderer: labtest.PlainRenderer()})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 48})
	for _, keys := range []string{"v up enter", "/shadow relative-orientation",
		"/shadow relative-orientation orientation_small=5"} {
		press(m, keys)
		if text := m.View(); spell(lab.Got) != "" || !strings.Contains(text, "is the active encoder") {
			t.Errorf("%v sent %s\n%s", keys, spell(lab.Got), text)
		}
		press(m, "esc esc")
	}
	press(m, "/shadow relative-orientation orientation_small=3")
	checkSent(t, lab.Got, "shadow relative-orientation orientation_small=3 on")
}
