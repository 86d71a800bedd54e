package look

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Scheme is how the dashboard is coloured.
type Scheme uint8

// The looks.
const (
	schemeAuto     Scheme = iota // after the terminal's ground
	schemeDark                   // for dark ground
	schemeLight                  // for light ground
	schemeContrast               // nothing that is read is less than 7 : 1
	schemeMono                   // no colour: bold, reverse and underline
	numSchemes
)

// String is the name of the scheme.
func (l Scheme) String() string {
	return [numSchemes]string{"auto", "dark", "light", "high-contrast", "monochrome"}[l]
}

// Themes names the looks that Options.Theme may have.
func Themes() []string {
	names := make([]string, numSchemes)
	for l := range numSchemes {
		names[l] = l.String()
	}
	return names
}

// ThemeSummaries says what each of the Themes is for.
func ThemeSummaries() []string {
	return []string{
		"dark or light, as the terminal's ground is", "for dark ground", "for light ground",
		"for weak eyes, bright rooms and projectors", "no colour: bold, reverse and underline only",
	}
}

// SchemeNamed finds a look; false if there is none of that name.
func SchemeNamed(name string) (Scheme, bool) {
	for l := range numSchemes {
		if l.String() == strings.ToLower(name) {
			return l, true
		}
	}
	return schemeAuto, name == ""
}

// renderer is the one that paints for a look: the terminal's own, unless the look
// knows better what ground there is.
func (l Scheme) renderer(r *lipgloss.Renderer) *lipgloss.Renderer {
	if l != schemeDark && l != schemeLight && l != schemeMono {
		return r
	}
	own := lipgloss.NewRenderer(io.Discard)
	own.SetColorProfile(r.ColorProfile())
	own.SetHasDarkBackground(l == schemeDark)
	if l == schemeMono {
		own.SetColorProfile(termenv.ANSI) // bold and reverse are no colours: NO_COLOR allows them
	}
	return own
}

// paint makes the styles of a look.
func (l Scheme) paint(r *lipgloss.Renderer) [numInks]lipgloss.Style {
	s := styles(l.renderer(r))
	switch l {
	case schemeContrast:
		contrast(&s)
	case schemeMono:
		monochrome(&s)
	}
	return s
}

// contrastTones are the foregrounds of the look for weak eyes. A test holds what
// is read to 7 : 1 against black or white, and what only guides to 4.5 : 1.
func contrastTones() map[Ink]tone {
	white, grey := tone{"231", "15", "16", "0"}, tone{"248", "7", "241", "8"}
	cyan, yellow := tone{"51", "14", "18", "4"}, tone{"228", "11", "52", "0"}
	green, pink := tone{"120", "10", "22", "0"}, tone{"217", "15", "88", "1"}
	violet, blue := tone{"219", "13", "53", "5"}, tone{"159", "14", "17", "4"}
	return map[Ink]tone{
		Dim: {"254", "7", "236", "0"}, Faint: grey, Border: grey, Focus: cyan, Title: white, Value: white,
		Key: cyan, Chosen: yellow, Gauge: cyan, Payload: cyan, Wire: violet, Budget: yellow, Ratio: green,
		Mark: yellow, Good: green, Lost: pink, Late: yellow, NoBase: violet, Corrupt: yellow,
		Copy: blue, unknown: blue, Warn: yellow, Bad: pink,
		Live: green, Paused: yellow, Ended: white,
	}
}

// contrast replaces the colours that are hard to tell from the ground.
func contrast(s *[numInks]lipgloss.Style) {
	tones := contrastTones()
	for k, t := range tones {
		s[k] = s[k].Foreground(t.color())
	}
	parts := []Ink{Payload, Budget, Wire, Ratio, Lost, Copy, Value, Dim, Good, NoBase}
	for i := range slotInks {
		t := tones[parts[i]]
		s[SlotInk(i)] = s[SlotInk(i)].Foreground(t.color())
		s[BarInk(i)] = s[BarInk(i)].Foreground(t.color())
	}
	for i := range shadowInks {
		s[ShadowInk(i)] = s[ShadowInk(i)].Foreground(tones[parts[(i+1)%len(parts)]].color())
	}
	for i := range Levels {
		s[Rest+Ink(i)] = s[Rest+Ink(i)].Foreground(tones[Dim].color())
		s[Touched+Ink(i)] = s[Touched+Ink(i)].Foreground(tones[Lost].color())
		s[Player+Ink(i)] = s[Player+Ink(i)].Foreground(tones[Payload].color())
	}
}

// monochrome says by weight what colours say otherwise; what has a shape of its
// own needs no more.
func monochrome(s *[numInks]lipgloss.Style) {
	for k := range s {
		s[k] = s[k].UnsetForeground().UnsetBackground()
	}
	for i := range slotInks {
		s[BarInk(i)] = s[BarInk(i)].UnsetReverse() // the bar has fills instead
	}
	s[Alarm] = s[Alarm].Reverse(true)
	for _, k := range []Ink{Lost, NoBase, Corrupt, Bad, Warn} {
		s[k] = s[k].Bold(true)
	}
	s[Bad] = s[Bad].Underline(true)
	s[Chosen] = s[Chosen].Reverse(true)
}
