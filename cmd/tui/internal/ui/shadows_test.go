package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"

	tea "github.com/charmbracelet/bubbletea"
)

func TestGoldenShadows(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		opt  Options
	}{
		{"live-160x48-shadows", 160, 48, Options{}},
		{"live-160x48-shadows-ascii", 160, 48, Options{ASCII: true}},
		{"live-80x24-shadows", 80, 24, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			compareGolden(t, c.name, screen(&labtest.Lab{Snap: labtest.FourShadows()}, c.w, c.h, c.opt).View())
		})
	}
}

// Shadows join and leave by typed commands and by v in the list of encoders; each
// change goes out by itself.
func TestShadowsByKeys(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "/", "shadow raw", "enter")
	press(m, "/", "shadow rotor", "enter", "/", "shadow off raw", "enter")
	if got := spell(lab.Got); got != "shadow raw on; shadow rotor on; shadow raw off" {
		t.Errorf("sent: %s", got)
	}
	if got := controls.ShadowNames(m.lab.Config()); len(got) != 1 || got[0] != "rotor" {
		t.Errorf("wanted beside: %v", got)
	}
	lab.Got = nil
	press(m, "enter")                            // the list of encoders: its cursor is on the present one
	press(m, "down", "v", "v", "up", "v", "esc") // the present one does not run beside itself
	if got := spell(lab.Got); got != "shadow rotor off; shadow rotor on" {
		t.Errorf("sent by v: %s", got)
	}
	lab.Got = nil
	press(m, "enter", "r", "o", "v", "ctrl+v", "esc") // a letter that no name goes on with is not typed
	if spell(lab.Got) != "shadow rotor off; shadow rotor on" {
		t.Errorf("sent by typing: %s", spell(lab.Got))
	}
}

func TestShadowCommandsInError(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	for line, says := range map[string]string{
		"shadow off":           "expected: shadow [off] NAME",
		"shadow off raw":       "no shadow runs",
		"shadow quantised":     "did you mean quantized?",
		"shadow raw x":         "NAME=VALUE",
		"shadow raw x=1":       "no params",
		"shadow rotor =":       "NAME=VALUE",
		"shadow off \u202eraw": "no shadow runs",
	} {
		m.line.Show(line)
		press(m, "enter")
		if !m.line.Open || !strings.Contains(m.line.Err, says) {
			t.Errorf("%q: %q, want a word of %q", line, m.line.Err, says)
		}
		m.line.Open = false
	}
}

// Without colour the lines of shadows differ by their signs, and every shadow
// has some in the chart.
func TestShadowsAreToldApart(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		m := screen(&labtest.Lab{Snap: labtest.FourShadows()}, 160, 48, Options{ASCII: ascii})
		chart := strings.Split(m.View(), "\n")[2:14]
		for i := range 4 {
			if sign := string(look.ShadowSign(m.theme, i)); strings.Count(strings.Join(chart, ""), sign) < 3 {
				t.Errorf("ascii %v: hardly any %s in the chart", ascii, sign)
			}
		}
	}
}

// The charts go by what the encoder of now costs, once its swap has been looked at.
func TestWhatAnotherEncoderCostMayLieOffTheChart(t *testing.T) {
	lab := labtest.NewLab()
	lane := &lab.Snap.Lanes[0]
	for i := range lane.Samples {
		if lane.Samples[i].T <= 46*time.Second { // the swap of the made-up session
			lane.Samples[i].PayloadBits *= 60
			lane.Samples[i].WireBits *= 60
		}
	}
	m := screen(lab, 160, 48, Options{})
	if !strings.Contains(m.View(), "▲▲▲▲") || strings.Contains(m.View(), "k┤") {
		t.Errorf("an encoder of long ago sets the scale:\n%s", m.View())
	}
	lab.Snap.Marks[0].T = 81 * time.Second
	m = screen(lab, 160, 48, Options{})
	if !strings.Contains(m.View(), "k┤") {
		t.Errorf("a swap cannot be seen in full:\n%s", m.View())
	}
}

// A keeps what was before the last change of the encoder, as a shadow; if there is nothing
// to keep it says why.
func TestKeepBefore(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "A")
	if text := m.View(); len(lab.Got) != 0 || !strings.Contains(text, "has not been changed yet") {
		t.Errorf("nothing was changed, and A asks for %s", spell(lab.Got))
	}
	lab.Snap.Before = &config.Encoder{Name: "rotor"}
	m.Update(room.Tick{})
	press(m, "A")
	m.Update(room.Tick{})
	if got := spell(lab.Got); got != "shadow rotor on" {
		t.Errorf("A sent %s", got)
	}
	press(m, "A")
	if text := m.View(); len(lab.Got) != 1 || !strings.Contains(text, "runs beside already") {
		t.Errorf("twice: %s", spell(lab.Got))
	}
}

// The encoder that runs is no shadow of itself, by the list or by a command, unless its
// params differ: a param spelt out at its default is none.
func TestNoShadowOfItself(t *testing.T) {
	lab := labtest.NewLab()
	m := newDashboard(lab, Options{Renderer: labtest.PlainRenderer()})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 48})
	for _, keys := range [][]string{{"v", "v"}, {"/", "shadow relative-orientation", "enter"},
		{"/", "shadow relative-orientation orientation_small=5", "enter"}} {
		press(m, keys...)
		if text := m.View(); len(lab.Got) != 0 || !strings.Contains(text, "is the active encoder") {
			t.Errorf("%v sent %s\n%s", keys, spell(lab.Got), text)
		}
		press(m, "esc", "esc")
	}
	press(m, "/", "shadow relative-orientation orientation_small=3", "enter")
	if got := spell(lab.Got); got != "shadow relative-orientation orientation_small=3 on" {
		t.Errorf("other params: %s", got)
	}
}
