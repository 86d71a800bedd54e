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
	schemeAuto  Scheme = iota // dark or light, by the terminal's background
	schemeDark                // for a dark background
	schemeLight               // for a light background
	schemeMono                // no colour: bold, reverse and underline
	numSchemes
)

// String returns the name of the scheme.
func (k Scheme) String() string {
	return [numSchemes]string{"auto", "dark", "light", "monochrome"}[k]
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
		"no colours, only bold, reverse and underline",
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
	if k == schemeMono {
		applyMonochrome(&s)
	}
	return s
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
