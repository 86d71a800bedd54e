package look

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Style is a text style, named by its meaning. Themes map styles to colours and attributes.
type Style uint8

// The styles.
const (
	Plain   Style = iota
	Dim           // units, labels, axes
	Faint         // guide lines
	Border        // of a pane
	Focus         // border and title of the focused pane
	Title         // of a pane
	Value         // numbers
	Key           // a key to press
	Chosen        // the control under the cursor
	Gauge         // a value between its bounds
	Payload       // rate of the payload; also the active encoder
	Wire          // rate including headers
	Budget        // the limit of the rate
	Ratio         // bits per cube
	Mark          // a mark on the time axis
	Good          // decoded packets
	Lost          // lost packets, which the link may be set to lose; red is kept for failures
	Late          // stale packets and late snapshots
	NoBase        // packets without a baseline
	Corrupt       // corrupt packets
	Copy          // duplicate packets
	unknown       // packets of an unknown codec
	Warn          // a warning
	Bad           // an error
	Alarm         // wrong data was decoded
	Live          // the state "running"
	Paused        // the state "paused"
	Ended         // the state "ended"
	Cursor        // the cursor in typed text

	AtRest                             // first of Levels shades of cubes at rest, from the floor up
	Interacting = AtRest + Levels      // first of Levels shades of interacting cubes
	Player      = Interacting + Levels // first of Levels shades of the player's cube
	Heat        = Player + Levels      // first of the NumHeats steps of maps of density
	slot        = Heat + NumHeats      // first of the styles of parts of the bit budget
)

// numSlotStyles is the number of parts of the bit budget with a colour of their own. Each part has
// two styles: with the colour as foreground, for legends, and as background, for bars.
const (
	numSlotStyles = 10

	shadow    = slot + 2*numSlotStyles   // first of the styles of shadows
	fill      = shadow + numShadowStyles // first of the styles of filled cells
	numStyles = fill + NumFills
)

// NumFills is the number of steps of filled cells, from small to large values.
const NumFills = 8

// FillStyle returns the style of a filled cell: level, from 0 to NumFills-1, is its background. Without colours the
// style is plain.
func FillStyle(level int) Style { return fill + Style(level) }

// fillColors returns background and text of filled cells: shades of blue whose lightness increases evenly.
func fillColors() [NumFills][2]adaptiveColor {
	white, black := adaptiveColor{"231", "15", "231", "15"}, adaptiveColor{"16", "0", "16", "0"}
	same := func(c256, c16 string) adaptiveColor { return adaptiveColor{c256, c16, c256, c16} } // on both backgrounds of the terminal
	return [NumFills][2]adaptiveColor{
		{same("17", "0"), white}, {same("24", "4"), white}, {same("25", "4"), white}, {same("31", "12"), black},
		{same("74", "12"), black}, {same("110", "12"), black}, {same("153", "14"), black}, {same("195", "15"), black},
	}
}

// adaptiveColor is a colour for dark and for light backgrounds, as indices into the palette of
// 256 colours and, for terminals with 16 colours, into the first 16. Users often redefine the
// first 16; the others look the same on all terminals.
type adaptiveColor struct{ dark, dark16, light, light16 string }

// color returns the colour as Lip Gloss expects it. The palette of 256 colours is used on
// terminals with more colours too.
func (t adaptiveColor) color() lipgloss.CompleteAdaptiveColor {
	return lipgloss.CompleteAdaptiveColor{
		Dark:  lipgloss.CompleteColor{TrueColor: t.dark, ANSI256: t.dark, ANSI: t.dark16},
		Light: lipgloss.CompleteColor{TrueColor: t.light, ANSI256: t.light, ANSI: t.light16},
	}
}

// baseColors returns the foreground colours of the styles with a name of their own. The other
// styles belong to series: see slotColors, shadowColors and worldColors.
func baseColors() map[Style]adaptiveColor {
	return map[Style]adaptiveColor{ // dark, dark16, light, light16
		Dim:     {"246", "7", "242", "8"},
		Faint:   {"239", "8", "250", "7"},
		Border:  {"240", "8", "249", "7"},
		Focus:   {"80", "14", "30", "6"},
		Title:   {"253", "15", "235", "0"},
		Value:   {"255", "15", "232", "0"},
		Key:     {"80", "14", "30", "6"},
		Chosen:  {"80", "14", "30", "6"},
		Gauge:   {"74", "12", "31", "4"},
		Payload: {"80", "14", "30", "6"},
		Wire:    {"140", "13", "97", "5"},
		Budget:  {"179", "11", "136", "3"},
		Ratio:   {"114", "10", "28", "2"},
		Mark:    {"216", "11", "166", "3"},
		Good:    {"72", "2", "29", "2"},
		Lost:    {"208", "3", "166", "3"},
		Late:    {"221", "11", "136", "3"},
		NoBase:  {"207", "13", "127", "5"},
		Corrupt: {"203", "9", "160", "1"},
		Copy:    {"75", "12", "26", "4"},
		unknown: {"147", "15", "61", "0"},
		Warn:    {"221", "11", "136", "3"},
		Bad:     {"203", "9", "160", "1"},
	}
}

// slotColors returns the colours of the parts of the bit budget in legends and stacked bars.
func slotColors() [numSlotStyles]adaptiveColor {
	return [numSlotStyles]adaptiveColor{ // dark, dark16, light, light16
		{"110", "12", "67", "4"}, {"179", "11", "136", "3"}, {"80", "14", "30", "6"}, {"140", "13", "97", "5"},
		{"114", "10", "28", "2"}, {"173", "3", "130", "3"}, {"216", "3", "166", "3"}, {"75", "12", "26", "4"},
		{"211", "13", "162", "5"}, {"245", "7", "244", "8"},
	}
}

// worldColors returns the colours of the world from above: Levels shades each of cubes at rest,
// of interacting cubes and of the player, from the floor up, then the steps of the error map. On
// a dark background higher cubes are brighter, on a light one darker.
func worldColors() [3*Levels + NumHeats]adaptiveColor {
	return [...]adaptiveColor{ // dark, dark16, light, light16
		// Cubes at rest: grey.
		{"243", "8", "248", "7"}, {"247", "7", "244", "8"}, {"251", "7", "240", "8"}, {"255", "15", "236", "0"},
		// Interacting cubes: orange.
		{"130", "3", "215", "11"}, {"166", "3", "208", "11"}, {"208", "11", "166", "3"}, {"215", "11", "130", "3"},
		// The player's cube: blue.
		{"27", "4", "39", "12"}, {"33", "12", "33", "4"}, {"75", "12", "26", "4"}, {"153", "12", "18", "4"},
		// Maps of density, such as errors and costs, from small to large values: blue.
		{"24", "8", "153", "7"}, {"31", "4", "74", "14"}, {"74", "12", "31", "12"}, {"117", "14", "25", "4"}, {"195", "15", "17", "0"},
	}
}

// defaultStyles returns the Lip Gloss style for each style of this package, which is the index. r
// determines which colours the terminal has.
func defaultStyles(r *lipgloss.Renderer) [numStyles]lipgloss.Style {
	var s [numStyles]lipgloss.Style
	for k := range s {
		s[k] = r.NewStyle()
	}
	for k, t := range baseColors() {
		s[k] = s[k].Foreground(t.color())
	}
	for _, k := range []Style{Focus, Title, Value, Key, Chosen, Bad, Lost, NoBase, Corrupt} {
		s[k] = s[k].Bold(true)
	}
	for i, t := range worldColors() {
		s[int(AtRest)+i] = s[int(AtRest)+i].Foreground(t.color())
	}
	for i, t := range slotColors() {
		s[slot+Style(i)] = s[slot+Style(i)].Foreground(t.color())
		s[BarStyle(i)] = s[BarStyle(i)].Foreground(t.color()).Reverse(true)
	}
	for i, t := range shadowColors() {
		s[ShadowStyle(i)] = s[ShadowStyle(i)].Foreground(t.color())
	}
	for i, t := range fillColors() {
		s[FillStyle(i)] = s[FillStyle(i)].Background(t[0].color()).Foreground(t[1].color())
	}
	// The state of the run is shown reversed: its colour is the background of the text.
	badge := func(k Style, t adaptiveColor) { s[k] = s[k].Foreground(t.color()).Reverse(true).Bold(true) }
	badge(Live, baseColors()[Good])
	badge(Paused, baseColors()[Warn])
	badge(Ended, baseColors()[Dim])
	alarm := adaptiveColor{"160", "1", "160", "1"}
	s[Alarm] = s[Alarm].Background(alarm.color()).Foreground(lipgloss.Color("15")).Bold(true)
	s[Cursor] = s[Cursor].Reverse(true)
	return s
}

// SlotStyle returns the style of part i of the bit budget in legends. Colours repeat after
// numSlotStyles parts.
func SlotStyle(i int) Style { return slot + Style(i%numSlotStyles) }

// BarStyle returns the style of part i of the bit budget in a stacked bar: its colour is the
// background.
func BarStyle(i int) Style { return slot + numSlotStyles + Style(i%numSlotStyles) }

// Theme contains the symbols and, for each style, the escape sequences of a terminal.
type Theme struct {
	glyphs
	escapes      [numStyles]string // written before text in a style; "" for none
	backgrounds  [numStyles]string // written in addition for a background in the colour of a style; "" for none
	visibleSpace [numStyles]bool   // the style shows on a space, as a background or underline does
	colorOnly    [numStyles]bool   // only sets a foreground colour, which the next style may replace without a reset
	Color        bool              // the theme distinguishes things by colour
	Ascii        bool              // Canvas.Lines replaces all other characters by ASCII characters
}

// Off is the escape sequence that resets all attributes.
const Off = "\x1b[0m"

// NewTheme returns the theme for a colour scheme on the terminal of the renderer, which
// determines the number of colours, whether the background is dark, and whether NO_COLOR forbids
// colours. ascii replaces all other characters.
func NewTheme(r *lipgloss.Renderer, scheme Scheme, ascii bool) *Theme {
	th := &Theme{glyphs: glyphSet(), Ascii: ascii}
	for k, s := range scheme.styles(r) {
		th.escapes[k], _, _ = strings.Cut(s.Render("x"), "x") // what is written before the text "x"
		th.visibleSpace[k] = s.GetReverse() || s.GetBackground() != lipgloss.NoColor{}
		asBackground := s.UnsetForeground().UnsetBold().UnsetUnderline().UnsetReverse().Background(s.GetForeground())
		th.backgrounds[k], _, _ = strings.Cut(asBackground.Render("x"), "x")
		th.colorOnly[k] = !th.visibleSpace[k] && !s.GetBold() && !s.GetUnderline()
		th.Color = th.Color || th.escapes[k] != "" && scheme != schemeMono
	}
	return th
}

// switchStyle writes the shortest sequence that changes the style: it omits the reset if the old
// style sets only a colour, which the new style replaces. The screen is written many times per
// second, so every byte counts.
func (th *Theme) switchStyle(b *strings.Builder, from, to Style) {
	if th.escapes[from] != "" && !(th.colorOnly[from] && th.escapes[to] != "") {
		b.WriteString(Off)
	}
	b.WriteString(th.escapes[to])
}

// Levels is the number of shades of each kind of cube, by height.
const Levels = 4

// NumHeats is the number of steps of maps of density.
const NumHeats = 5
