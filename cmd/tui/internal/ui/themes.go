package ui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// scheme is how the dashboard is coloured.
type scheme uint8

// The looks.
const (
	schemeAuto     scheme = iota // after the terminal's ground
	schemeDark                   // for dark ground
	schemeLight                  // for light ground
	schemeContrast               // nothing that is read is less than 7 : 1
	schemeMono                   // no colour: bold, reverse and underline
	numSchemes
)

func (l scheme) String() string {
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
func themeSummaries() []string {
	return []string{
		"dark or light, as the terminal's ground is", "for dark ground", "for light ground",
		"for weak eyes, bright rooms and projectors", "no colour: bold, reverse and underline only",
	}
}

// schemeNamed finds a look; false if there is none of that name.
func schemeNamed(name string) (scheme, bool) {
	for l := range numSchemes {
		if l.String() == strings.ToLower(name) {
			return l, true
		}
	}
	return schemeAuto, name == ""
}

// renderer is the one that paints for a look: the terminal's own, unless the look
// knows better what ground there is.
func (l scheme) renderer(r *lipgloss.Renderer) *lipgloss.Renderer {
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
func (l scheme) paint(r *lipgloss.Renderer) [numInks]lipgloss.Style {
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
func contrastTones() map[ink]tone {
	white, grey := tone{"231", "15", "16", "0"}, tone{"248", "7", "241", "8"}
	cyan, yellow := tone{"51", "14", "18", "4"}, tone{"228", "11", "52", "0"}
	green, pink := tone{"120", "10", "22", "0"}, tone{"217", "15", "88", "1"}
	violet, blue := tone{"219", "13", "53", "5"}, tone{"159", "14", "17", "4"}
	return map[ink]tone{
		inkDim: {"254", "7", "236", "0"}, inkFaint: grey, inkBorder: grey, inkFocus: cyan, inkTitle: white, inkValue: white,
		inkKey: cyan, inkChosen: yellow, inkGauge: cyan, inkPayload: cyan, inkWire: violet, inkBudget: yellow, inkRatio: green,
		inkMark: yellow, inkGood: green, inkLost: pink, inkLate: yellow, inkNoBase: violet, inkCorrupt: yellow,
		inkCopy: blue, inkUnknown: blue, inkWarn: yellow, inkBad: pink,
		inkLive: green, inkPaused: yellow, inkEnded: white,
	}
}

// contrast replaces the colours that are hard to tell from the ground.
func contrast(s *[numInks]lipgloss.Style) {
	tones := contrastTones()
	for k, t := range tones {
		s[k] = s[k].Foreground(t.color())
	}
	parts := []ink{inkPayload, inkBudget, inkWire, inkRatio, inkLost, inkCopy, inkValue, inkDim, inkGood, inkNoBase}
	for i := range slotInks {
		t := tones[parts[i]]
		s[slotInk(i)] = s[slotInk(i)].Foreground(t.color())
		s[barInk(i)] = s[barInk(i)].Foreground(t.color())
	}
	for i := range shadowInks {
		s[shadowInk(i)] = s[shadowInk(i)].Foreground(tones[parts[(i+1)%len(parts)]].color())
	}
	for i := range levels {
		s[inkRest+ink(i)] = s[inkRest+ink(i)].Foreground(tones[inkDim].color())
		s[inkTouched+ink(i)] = s[inkTouched+ink(i)].Foreground(tones[inkLost].color())
		s[inkPlayer+ink(i)] = s[inkPlayer+ink(i)].Foreground(tones[inkPayload].color())
	}
}

// monochrome says by weight what colours say otherwise; what has a shape of its
// own needs no more.
func monochrome(s *[numInks]lipgloss.Style) {
	for k := range s {
		s[k] = s[k].UnsetForeground().UnsetBackground()
	}
	for i := range slotInks {
		s[barInk(i)] = s[barInk(i)].UnsetReverse() // the bar has fills instead
	}
	s[inkAlarm] = s[inkAlarm].Reverse(true)
	for _, k := range []ink{inkLost, inkNoBase, inkCorrupt, inkBad, inkWarn} {
		s[k] = s[k].Bold(true)
	}
	s[inkBad] = s[inkBad].Underline(true)
	s[inkChosen] = s[inkChosen].Reverse(true)
}
