package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

// TestEncoderListKeys checks which commands the keys of the list send.
func TestEncoderListKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
		over bool
	}{
		{[]string{"e", "esc"}, "", false},
		{[]string{"e", "down", "enter"}, "encoder rotor", false},
		{[]string{"e", "down", "space"}, "encoder rotor", true}, // the list stays open
		{[]string{"e", "tab", "right"}, `params {"xy_small":7}`, true},
		{[]string{"e", "tab", "down", "left"}, `params {"xy_large":8}`, true},
		{[]string{"e", "tab", "8", "enter"}, `params {"xy_small":"8"}`, true},
		{[]string{"e", "tab", "enter", "backspace", "4", "enter"}, `params {"xy_small":"4"}`, true},
		{[]string{"e", "tab", "9", "9", "enter"}, "", true},
		{[]string{"e", "tab", "x", "enter"}, "", true},
		{[]string{"e", "tab", "9", "9", "enter", "esc", "right"}, `params {"xy_small":7}`, true},
		{[]string{"e", "up", "tab", "right", "esc", "esc"}, "", false}, // raw has no parameters
		{[]string{"e", "tab", "right", "esc", "esc"}, `params {"xy_small":7}`, false},
		{[]string{"e", "r", "o", "t", "enter"}, "encoder rotor", false},
		{[]string{"e", "z", "z", "tab", "space", "enter", "esc"}, "", false},
	} {
		for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 18}} {
			lab := labtest.NewLab()
			m := screen(lab, size[0], size[1], Options{})
			press(m, c.keys...)
			checkView(t, m)
			if got := spell(lab.Got); got != c.want || m.overlay != nil != c.over {
				t.Errorf("%v at %v sent %q, want %q; open %v", c.keys, size, got, c.want, m.overlay != nil)
			}
		}
	}
}

// TestEncoderListSetsInactiveEncoder checks that setting a parameter of an inactive encoder also
// activates the encoder, in one change.
func TestEncoderListSetsInactiveEncoder(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, line("encoder rotor")...)
	press(m, "e", "up", "tab", "down", "right")
	ch := lab.Got[len(lab.Got)-1].Change
	if v := ch.Params()["xy_large"]; ch.Encoder() != "relative-orientation" || v != int64(10) {
		t.Errorf("it sent %+v", ch)
	}
}

// TestEncoderListShowsErrors checks that the list shows the error for a wrong value.
func TestEncoderListShowsErrors(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	press(m, "e", "tab", "9", "9", "enter")
	if v := m.View(); !strings.Contains(v, "99_") || !strings.Contains(v, "xy_small") ||
		!strings.Contains(v, "encoder.params.xy_small: got 99") {
		t.Errorf("no error shown:\n%s", v)
	}
	press(m, "backspace", "backspace", "8", "enter")
	if v := m.View(); strings.Contains(v, "got 99") || strings.Contains(v, "8_") {
		t.Errorf("mended, it still complains:\n%s", v)
	}
}

// TestEncoderListHasWholeSummaries checks that a wide screen shows each summary of the list without an ellipsis.
func TestEncoderListHasWholeSummaries(t *testing.T) {
	m := screen(labtest.NewLab(), 220, 60, Options{})
	press(m, "e")
	view := m.View()
	for _, o := range m.cat.Encoders(m.lab.Snap.Schema) {
		if !strings.Contains(view, " "+o.Summary+" ") {
			t.Errorf("no whole summary of %s: %s", o.Name, o.Summary)
		}
	}
}
