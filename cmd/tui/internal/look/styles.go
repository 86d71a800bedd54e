package look

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Ink names what a cell is painted with, by what it means. styles says how each
// looks; nothing else in the dashboard knows a colour.
type Ink uint8

// The inks.
const (
	Plain  Ink = iota
	Dim        // what explains: units, labels, axes
	Faint      // what only guides the eye
	Border     // of a pane
	Focus      // border and title of the pane that has the keys
	Title
	Value  // numbers
	Key    // a key to press
	Chosen // the control under the cursor
	Gauge
	Payload
	Wire
	Budget
	Ratio // bits per cube
	Mark
	Good
	Lost
	Late
	NoBase
	Corrupt
	Copy
	unknown
	Warn
	Bad
	Alarm // wrong data was decoded: nothing on the screen matters more
	Live
	Paused
	Ended
	Cursor
	Rest    // the first of the shades of cubes at rest, from the floor up
	Touched = Rest + Levels
	Player  = Touched + Levels
	Heat    = Player + Levels // the first of the steps of the error map
	slot    = Heat + NumHeats // the first of the inks for the account of bits
)

// numSlotStyles is how many parts of the account of bits have a colour of their own;
// each comes as foreground and as ground.
const (
	numSlotStyles = 10

	shadow    = slot + 2*numSlotStyles // the first of the inks for shadows
	numStyles = shadow + numShadowStyles
)

// adaptiveColor is one colour on dark and on light ground, as indices of the palette of
// 256: the first 16 belong to the person, the rest looks alike everywhere.
type adaptiveColor struct{ dark, dark16, light, light16 string }

func (t adaptiveColor) color() lipgloss.CompleteAdaptiveColor {
	return lipgloss.CompleteAdaptiveColor{
		Dark:  lipgloss.CompleteColor{TrueColor: t.dark, ANSI256: t.dark, ANSI: t.dark16},
		Light: lipgloss.CompleteColor{TrueColor: t.light, ANSI256: t.light, ANSI: t.light16},
	}
}

// baseColors are the foreground of every ink that has one.
func baseColors() map[Ink]adaptiveColor {
	return map[Ink]adaptiveColor{
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
		Lost:    {"203", "9", "160", "1"},
		Late:    {"221", "11", "136", "3"},
		NoBase:  {"207", "13", "127", "5"},
		Corrupt: {"208", "3", "166", "3"},
		Copy:    {"75", "12", "26", "4"},
		unknown: {"147", "15", "61", "0"},
		Warn:    {"221", "11", "136", "3"},
		Bad:     {"203", "9", "160", "1"},
	}
}

// slotColors colour the account of bits; the same colours serve the stacked bar.
func slotColors() [numSlotStyles]adaptiveColor {
	return [numSlotStyles]adaptiveColor{
		{"110", "12", "67", "4"}, {"179", "11", "136", "3"}, {"80", "14", "30", "6"}, {"140", "13", "97", "5"},
		{"114", "10", "28", "2"}, {"203", "9", "160", "1"}, {"216", "3", "166", "3"}, {"75", "12", "26", "4"},
		{"211", "13", "162", "5"}, {"245", "7", "244", "8"},
	}
}

// worldColors colour the world from above: shades of what rests, of what interacts
// and of the player, from the floor up, then the steps of the error map. On dark
// ground what is high is bright, on light ground it is dark.
func worldColors() [3*Levels + NumHeats]adaptiveColor {
	return [...]adaptiveColor{
		{"243", "8", "248", "7"}, {"247", "7", "244", "8"}, {"251", "7", "240", "8"}, {"255", "15", "236", "0"},
		{"124", "1", "210", "9"}, {"160", "1", "196", "9"}, {"196", "9", "160", "1"}, {"203", "9", "88", "1"},
		{"27", "4", "39", "12"}, {"33", "12", "33", "4"}, {"75", "12", "26", "4"}, {"153", "12", "18", "4"},
		{"240", "8", "249", "7"}, {"72", "2", "29", "2"}, {"221", "11", "136", "3"}, {"208", "3", "166", "3"}, {"203", "9", "160", "1"},
	}
}

// defaultStyles returns the look of every ink.
func defaultStyles(r *lipgloss.Renderer) [numStyles]lipgloss.Style {
	var s [numStyles]lipgloss.Style
	for k := range s {
		s[k] = r.NewStyle()
	}
	for k, t := range baseColors() {
		s[k] = s[k].Foreground(t.color())
	}
	for _, k := range []Ink{Focus, Title, Value, Key, Chosen, Bad, Lost, NoBase, Corrupt} {
		s[k] = s[k].Bold(true)
	}
	for i, t := range worldColors() {
		s[int(Rest)+i] = s[int(Rest)+i].Foreground(t.color())
	}
	for i, t := range slotColors() {
		s[slot+Ink(i)] = s[slot+Ink(i)].Foreground(t.color())
		s[BarInk(i)] = s[BarInk(i)].Foreground(t.color()).Reverse(true)
	}
	for i, t := range shadowColors() {
		s[ShadowInk(i)] = s[ShadowInk(i)].Foreground(t.color())
	}
	badge := func(k Ink, t adaptiveColor) { s[k] = s[k].Foreground(t.color()).Reverse(true).Bold(true) }
	badge(Live, baseColors()[Good])
	badge(Paused, baseColors()[Warn])
	badge(Ended, baseColors()[Dim])
	alarm := adaptiveColor{"160", "1", "160", "1"}
	s[Alarm] = s[Alarm].Background(alarm.color()).Foreground(lipgloss.Color("15")).Bold(true)
	s[Cursor] = s[Cursor].Reverse(true)
	return s
}

// SlotInk is the ink of the i-th part of the account of bits, barInk the same
// colour as ground.
func SlotInk(i int) Ink { return slot + Ink(i%numSlotStyles) }

// BarInk is the colour of SlotInk as ground.
func BarInk(i int) Ink { return slot + numSlotStyles + Ink(i%numSlotStyles) }

// Theme is styles made ready: what to write before a run of cells.
type Theme struct {
	glyphs
	escapes      [numStyles]string
	visibleSpace [numStyles]bool // a space in this ink can be seen
	colorOnly    [numStyles]bool // has a colour and nothing else: the next colour replaces it
	Color        bool            // colours tell things apart

	charts chartStyle
}

// Off ends all colours.
const Off = "\x1b[0m"

// NewTheme asks the renderer how each ink looks on this terminal: its colours,
// its ground, and NO_COLOR.
func NewTheme(r *lipgloss.Renderer, l Scheme, ascii bool) *Theme {
	th := &Theme{glyphs: glyphSet(ascii)}
	for k, s := range l.styles(r) {
		th.escapes[k], _, _ = strings.Cut(s.Render("x"), "x")
		th.visibleSpace[k] = s.GetReverse() || k == int(Alarm)
		th.colorOnly[k] = !th.visibleSpace[k] && !s.GetBold() && !s.GetUnderline()
		th.Color = th.Color || th.escapes[k] != "" && l != schemeMono
	}
	return th
}

// switchStyle writes what changes the ink, and no more: every byte goes to the
// terminal many times a second.
func (th *Theme) switchStyle(b *strings.Builder, from, to Ink) {
	if th.escapes[from] != "" && !(th.colorOnly[from] && th.escapes[to] != "") {
		b.WriteString(Off)
	}
	b.WriteString(th.escapes[to])
}

// Levels are the shades of each kind of cube, from the floor up: the higher the
// brighter.
const Levels = 4

// NumHeats counts the steps.
const NumHeats = 5
