package look

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Scheme is a colour scheme of the dashboard, chosen by --theme.
type Scheme uint8

// The schemes.
const (
	schemeAuto     Scheme = iota // dark or light, by the terminal's background
	schemeDark                   // for a dark background
	schemeLight                  // for a light background
	schemeContrast               // text has a contrast of at least 7 : 1
	schemeMono                   // no colour: bold, reverse and underline
	numSchemes
)

// String returns the name of the scheme.
func (l Scheme) String() string {
	return [numSchemes]string{"auto", "dark", "light", "high-contrast", "monochrome"}[l]
}

// Themes returns the names of all schemes, which are the values of --theme.
func Themes() []string {
	names := make([]string, numSchemes)
	for l := range numSchemes {
		names[l] = l.String()
	}
	return names
}

// ThemeSummaries returns a description of each of the Themes.
func ThemeSummaries() []string {
	return []string{
		"dark or light, as the background of the terminal", "for a dark background", "for a light background",
		"high contrast, for bright rooms and projectors", "no colours, only bold, reverse and underline",
	}
}

// SchemeNamed returns the scheme with this name. An empty name means schemeAuto; false means that
// the name is unknown.
func SchemeNamed(name string) (Scheme, bool) {
	for l := range numSchemes {
		if l.String() == strings.ToLower(name) {
			return l, true
		}
	}
	return schemeAuto, name == ""
}

// renderer returns r or, for schemes with a fixed background, a renderer with that background.
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

// styles returns the styles of a scheme.
func (l Scheme) styles(r *lipgloss.Renderer) [numStyles]lipgloss.Style {
	s := defaultStyles(l.renderer(r))
	switch l {
	case schemeContrast:
		applyContrast(&s)
	case schemeMono:
		applyMonochrome(&s)
	}
	return s
}

// contrastColors returns the foregrounds of schemeContrast. A test requires a contrast against
// black or white of 7 : 1 for text, and of 4.5 : 1 for borders and guide lines.
func contrastColors() map[Ink]adaptiveColor {
	white, grey := adaptiveColor{"231", "15", "16", "0"}, adaptiveColor{"248", "7", "241", "8"}
	cyan, yellow := adaptiveColor{"51", "14", "18", "4"}, adaptiveColor{"228", "11", "52", "0"}
	green, pink := adaptiveColor{"120", "10", "22", "0"}, adaptiveColor{"217", "15", "88", "1"}
	violet, blue := adaptiveColor{"219", "13", "53", "5"}, adaptiveColor{"159", "14", "17", "4"}
	return map[Ink]adaptiveColor{
		Dim: {"254", "7", "236", "0"}, Faint: grey, Border: grey, Focus: cyan, Title: white, Value: white,
		Key: cyan, Chosen: yellow, Gauge: cyan, Payload: cyan, Wire: violet, Budget: yellow, Ratio: green,
		Mark: yellow, Good: green, Lost: pink, Late: yellow, NoBase: violet, Corrupt: yellow,
		Copy: blue, unknown: blue, Warn: yellow, Bad: pink,
		Live: green, Paused: yellow, Ended: white,
	}
}

// applyContrast replaces colours that have too little contrast with the background. The bit
// budget and the shadows share a list of colours. The list begins with the colour of the active
// encoder, Payload, so shadow i has colour i+1.
func applyContrast(s *[numStyles]lipgloss.Style) {
	colors := contrastColors()
	for k, t := range colors {
		s[k] = s[k].Foreground(t.color())
	}
	parts := []Ink{Payload, Budget, Wire, Ratio, Lost, Copy, Value, Dim, Good, NoBase}
	for i := range numSlotStyles {
		t := colors[parts[i]]
		s[SlotInk(i)] = s[SlotInk(i)].Foreground(t.color())
		s[BarInk(i)] = s[BarInk(i)].Foreground(t.color())
	}
	for i := range numShadowStyles {
		s[ShadowInk(i)] = s[ShadowInk(i)].Foreground(colors[parts[(i+1)%len(parts)]].color())
	}
	for i := range Levels {
		s[Rest+Ink(i)] = s[Rest+Ink(i)].Foreground(colors[Dim].color())
		s[Touched+Ink(i)] = s[Touched+Ink(i)].Foreground(colors[Lost].color())
		s[Player+Ink(i)] = s[Player+Ink(i)].Foreground(colors[Payload].color())
	}
}

// applyMonochrome replaces colours by bold, reverse and underline where no symbol or fill shows
// the difference.
func applyMonochrome(s *[numStyles]lipgloss.Style) {
	for k := range s {
		s[k] = s[k].UnsetForeground().UnsetBackground()
	}
	for i := range numSlotStyles {
		s[BarInk(i)] = s[BarInk(i)].UnsetReverse() // the bar has fills instead
	}
	s[Alarm] = s[Alarm].Reverse(true)
	for _, k := range []Ink{Lost, NoBase, Corrupt, Bad, Warn} {
		s[k] = s[k].Bold(true)
	}
	s[Bad] = s[Bad].Underline(true)
	s[Chosen] = s[Chosen].Reverse(true)
}
