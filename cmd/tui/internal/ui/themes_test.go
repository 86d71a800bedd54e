package ui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
)

// attributes returns the numbers in the escape sequences of a screen.
func Attributes(view string) map[string]bool {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile("\x1b\\[([0-9;]*)m").FindAllStringSubmatch(view, -1) {
		for _, n := range strings.Split(m[1], ";") {
			seen[n] = true
		}
	}
	return seen
}

func TestMonochromeHasNoColours(t *testing.T) {
	for name, r := range map[string]*lipgloss.Renderer{"a terminal of many colours": labtest.ColourRenderer(),
		"NO_COLOR": labtest.PlainRenderer()} {
		m := screen(labtest.NewLab(), 160, 48, Options{Renderer: r, Theme: "monochrome"})
		seen := Attributes(m.View())
		for n := range seen {
			if n != "0" && n != "1" && n != "4" && n != "7" {
				t.Errorf("%s: attribute %s is neither bold, underline nor reverse", name, n)
			}
		}
		if !seen["1"] || !seen["7"] {
			t.Errorf("%s: nothing is bold or reverse", name)
		}
	}
}

// TestThemesDifferInColoursOnly checks that themes change only escape sequences, not characters.
func TestThemesDifferInColoursOnly(t *testing.T) {
	strip := regexp.MustCompile("\x1b\\[[0-9;]*m")
	views := map[string]string{}
	m := screen(labtest.NewLab(), 80, 24, Options{Renderer: labtest.ColourRenderer()})
	for _, name := range look.SchemeNames() {
		press(m, "/theme "+name)
		m.lab.Dismiss()
		press(m)
		view := m.View()
		if name != "monochrome" { // without colours bars have fill characters
			if plain := strip.ReplaceAllString(view, ""); views["plain"] == "" {
				views["plain"] = plain
			} else if plain != views["plain"] {
				t.Errorf("%s draws other shapes", name)
			}
		}
		views[name] = view
	}
	if views["auto"] != views["dark"] {
		t.Error("auto is not dark on dark ground")
	}
	for _, pair := range [][2]string{{"dark", "light"}, {"light", "monochrome"}} {
		if views[pair[0]] == views[pair[1]] {
			t.Errorf("%s looks like %s", pair[0], pair[1])
		}
	}
}

func TestThemeCommand(t *testing.T) {
	m := screen(labtest.NewLab(), 120, 40)
	press(m, "/theme monochrone")
	if !strings.Contains(m.line.Err, "did you mean monochrome?") {
		t.Errorf("error %q", m.line.Err)
	}
	press(m, "esc")
	press(m, "/theme")
	if press(m, "/ mono enter"); m.scheme.String() != "monochrome" {
		t.Errorf("picked %v", m.scheme)
	}
}
