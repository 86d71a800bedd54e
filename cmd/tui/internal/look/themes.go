package look

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Scheme is a choice of colours: what the user selects by name with --theme. A Theme is a scheme
// on a certain terminal.
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
func (k Scheme) String() string {
	return [numSchemes]string{"auto", "dark", "light", "high-contrast", "monochrome"}[k]
}

// SchemeNames returns the names of all schemes in their order. These names are the values of --theme.
func SchemeNames() []string {
	names := make([]string, numSchemes)
	for k := range numSchemes {
		names[k] = k.String()
	}
	return names
}

// SchemeSummaries returns a description of each scheme, in the order of SchemeNames.
func SchemeSummaries() []string {
	return []string{
		"dark or light, as the background of the terminal", "for a dark background", "for a light background",
		"high contrast, for bright rooms and projectors", "no colours, only bold, reverse and underline",
	}
}

// ParseScheme returns the scheme with this name, in upper or lower case. An empty name means
// schemeAuto; false means that the name is unknown.
func ParseScheme(name string) (Scheme, bool) {
	for k := range numSchemes {
		if k.String() == strings.ToLower(name) {
			return k, true
		}
	}
	return schemeAuto, name == ""
}

// renderer returns the renderer for a scheme: r, which adapts to the terminal's background, or
// for schemeDark, schemeLight and schemeMono a new one that does not.
func (k Scheme) renderer(r *lipgloss.Renderer) *lipgloss.Renderer {
	if k != schemeDark && k != schemeLight && k != schemeMono {
		return r
	}
	fixed := lipgloss.NewRenderer(io.Discard) // it only makes styles and writes nothing
	fixed.SetColorProfile(r.ColorProfile())
	fixed.SetHasDarkBackground(k == schemeDark)
	if k == schemeMono {
		// Bold and reverse are no colours, so they are written even if NO_COLOR is set.
		fixed.SetColorProfile(termenv.ANSI)
	}
	return fixed
}

// styles returns the Lip Gloss style for each style of this package in a scheme.
func (k Scheme) styles(r *lipgloss.Renderer) [numStyles]lipgloss.Style {
	s := defaultStyles(k.renderer(r))
	switch k {
	case schemeContrast:
		applyContrast(&s)
	case schemeMono:
		applyMonochrome(&s)
	}
	return s
}

// contrastColors returns the foregrounds of schemeContrast. A test requires a contrast against
// black or white of 7 : 1 for text, and of 4.5 : 1 for borders and guide lines.
func contrastColors() map[Style]adaptiveColor {
	// The columns are dark, dark16, light, light16: colour numbers on a dark and on a light background, each
	// from the terminal's 256 colours and from its 16.
	white, grey := adaptiveColor{"231", "15", "16", "0"}, adaptiveColor{"248", "7", "241", "8"}
	cyan, yellow := adaptiveColor{"51", "14", "18", "4"}, adaptiveColor{"228", "11", "52", "0"}
	green, pink := adaptiveColor{"120", "10", "22", "0"}, adaptiveColor{"217", "15", "88", "1"}
	violet, blue := adaptiveColor{"219", "13", "53", "5"}, adaptiveColor{"159", "14", "17", "4"}
	return map[Style]adaptiveColor{
		Dim: {"254", "7", "236", "0"}, Faint: grey, Border: grey, Focus: cyan, Title: white, Value: white,
		Key: cyan, Chosen: yellow, Gauge: cyan, Payload: cyan, Wire: violet, Budget: yellow, Ratio: green,
		Mark: yellow, Good: green, Lost: pink, Late: yellow, NoBase: violet, Corrupt: yellow,
		Copy: blue, unknown: blue, Warn: yellow, Bad: pink,
		Live: green, Paused: yellow, Ended: white,
	}
}

// applyContrast replaces the foregrounds of s by those of schemeContrast: single styles have the
// colours of contrastColors, and series of styles reuse these colours. All heights of a cube in
// the world view get the same colour; the error map keeps its colours.
func applyContrast(s *[numStyles]lipgloss.Style) {
	colors := contrastColors()
	for k, t := range colors {
		s[k] = s[k].Foreground(t.color())
	}
	// The colours of the parts of the bit budget, and of the encoders that are compared: the
	// active encoder has the first one, Payload, so shadow i has number i+1.
	series := []Style{Payload, Budget, Wire, Ratio, Lost, Copy, Value, Dim, Good, NoBase}
	for i := range numSlotStyles {
		t := colors[series[i]]
		s[SlotStyle(i)] = s[SlotStyle(i)].Foreground(t.color())
		s[BarStyle(i)] = s[BarStyle(i)].Foreground(t.color())
	}
	for i := range numShadowStyles {
		s[ShadowStyle(i)] = s[ShadowStyle(i)].Foreground(colors[series[(i+1)%len(series)]].color())
	}
	for i := range Levels {
		s[AtRest+Style(i)] = s[AtRest+Style(i)].Foreground(colors[Dim].color())
		s[Interacting+Style(i)] = s[Interacting+Style(i)].Foreground(colors[Lost].color())
		s[Player+Style(i)] = s[Player+Style(i)].Foreground(colors[Payload].color())
	}
}

// applyMonochrome removes all colours from s, and adds bold, reverse and underline to styles that
// no symbol or fill distinguishes.
func applyMonochrome(s *[numStyles]lipgloss.Style) {
	for k := range s {
		s[k] = s[k].UnsetForeground().UnsetBackground()
	}
	for i := range numSlotStyles {
		s[BarStyle(i)] = s[BarStyle(i)].UnsetReverse() // the bar has fills instead
	}
	s[Alarm] = s[Alarm].Reverse(true)
	for _, k := range []Style{Lost, NoBase, Corrupt, Bad, Warn} {
		s[k] = s[k].Bold(true)
	}
	s[Bad] = s[Bad].Underline(true)
	s[Chosen] = s[Chosen].Reverse(true)
}
