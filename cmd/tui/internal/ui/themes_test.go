package ui

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// luminance is WCAG 2.1's relative luminance of a colour of xterm's palette of
// 256, from its cube and its ramp of greys.
func luminance(index int) float64 {
	var rgb [3]float64
	switch steps := [6]float64{0, 95, 135, 175, 215, 255}; {
	case index >= 232:
		v := float64(8 + 10*(index-232))
		rgb = [3]float64{v, v, v}
	default:
		i := index - 16
		rgb = [3]float64{steps[i/36], steps[i/6%6], steps[i%6]}
	}
	for i, v := range rgb {
		if v /= 255; v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

func TestHighContrastIsHigh(t *testing.T) {
	for k, tone := range contrastTones() {
		least := 7.0
		if k == inkFaint || k == inkBorder {
			least = 4.5
		}
		for ground, name := range []string{tone.dark, tone.light} {
			index, err := strconv.Atoi(name)
			if err != nil || index < 16 {
				t.Fatalf("ink %d: %q is no colour that looks alike everywhere", k, name)
			}
			got := (luminance(index) + 0.05) / 0.05
			if ground == 1 {
				got = 1.05 / (luminance(index) + 0.05)
			}
			if got < least {
				t.Errorf("ink %d, %s on %s: %.1f : 1, want %.1f", k, name, [2]string{"black", "white"}[ground], got, least)
			}
		}
	}
	for k := range tones() {
		if _, ok := contrastTones()[k]; !ok {
			t.Errorf("ink %d has no tone of high contrast", k)
		}
	}
}

// inkAttributes are the numbers in the escape sequences of a screen.
func inkAttributes(view string) map[string]bool {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile("\x1b\\[([0-9;]*)m").FindAllStringSubmatch(view, -1) {
		for _, n := range strings.Split(m[1], ";") {
			seen[n] = true
		}
	}
	return seen
}

func TestMonochromeHasNoColours(t *testing.T) {
	for name, r := range map[string]*lipgloss.Renderer{"a terminal of many colours": colourRenderer(), "NO_COLOR": plainRenderer()} {
		m := screen(newFakeLab(), 160, 48, Options{Renderer: r, Theme: "monochrome"})
		seen := inkAttributes(m.View())
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

// The shapes are the same in every theme: what a theme adds is escape sequences.
func TestThemesDifferInPaintOnly(t *testing.T) {
	strip := regexp.MustCompile("\x1b\\[[0-9;]*m")
	views := map[string]string{}
	m := screen(newFakeLab(), 80, 24, Options{Renderer: colourRenderer()})
	for _, name := range Themes() {
		press(m, line("theme "+name)...)
		m.lab.dismiss()
		press(m)
		view := m.View()
		if name != "monochrome" { // the bar has fills where there is no colour
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
	for _, pair := range [][2]string{{"dark", "light"}, {"dark", "high-contrast"}, {"high-contrast", "monochrome"}} {
		if views[pair[0]] == views[pair[1]] {
			t.Errorf("%s looks like %s", pair[0], pair[1])
		}
	}
}

func TestThemeCommand(t *testing.T) {
	m := screen(newFakeLab(), 120, 40, Options{})
	press(m, line("theme hgh-contrast")...)
	if !strings.Contains(m.line.err, "did you mean high-contrast?") {
		t.Errorf("error %q", m.line.err)
	}
	press(m, "esc")
	press(m, line("theme")...)
	if press(m, "m", "o", "n", "o", "enter"); m.scheme.String() != "monochrome" {
		t.Errorf("picked %v", m.scheme)
	}
}

func TestGoldenThemes(t *testing.T) {
	for _, name := range Themes()[1:] {
		m := screen(newFakeLab(), 80, 24, Options{Renderer: colourRenderer(), Theme: name})
		golden(t, "theme-"+name+"-80x24", m.View())
	}
}
