package ui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// ink names what a cell is painted with, by what it means. styles says how each
// looks; nothing else in the dashboard knows a colour.
type ink uint8

// The inks.
const (
	inkPlain  ink = iota
	inkDim        // what explains: units, labels, axes
	inkFaint      // what only guides the eye
	inkBorder     // of a pane
	inkFocus      // border and title of the pane that has the keys
	inkTitle
	inkValue  // numbers
	inkKey    // a key to press
	inkChosen // the control under the cursor
	inkGauge
	inkPayload
	inkWire
	inkBudget
	inkRatio // bits per cube
	inkMark
	inkGood
	inkLost
	inkLate
	inkNoBase
	inkCorrupt
	inkCopy
	inkUnknown
	inkWarn
	inkBad
	inkAlarm // wrong data was decoded: nothing on the screen matters more
	inkLive
	inkPaused
	inkEnded
	inkCursor
	inkRest    // the first of the shades of cubes at rest, from the floor up
	inkTouched = inkRest + levels
	inkPlayer  = inkTouched + levels
	inkHeat    = inkPlayer + levels // the first of the steps of the error map
	inkSlot    = inkHeat + numHeats // the first of the inks for the account of bits
)

// slotInks is how many parts of the account of bits have a colour of their own;
// each comes as foreground and as ground.
const (
	slotInks = 10

	inkShadow = inkSlot + 2*slotInks // the first of the inks for shadows
	numInks   = inkShadow + shadowInks
)

// tone is one colour on dark and on light ground, as indices of the palette of
// 256: the first 16 belong to the person, the rest looks alike everywhere.
type tone struct{ dark, dark16, light, light16 string }

func (t tone) color() lipgloss.CompleteAdaptiveColor {
	return lipgloss.CompleteAdaptiveColor{
		Dark:  lipgloss.CompleteColor{TrueColor: t.dark, ANSI256: t.dark, ANSI: t.dark16},
		Light: lipgloss.CompleteColor{TrueColor: t.light, ANSI256: t.light, ANSI: t.light16},
	}
}

// tones are the foreground of every ink that has one.
func tones() map[ink]tone {
	return map[ink]tone{
		inkDim:     {"246", "7", "242", "8"},
		inkFaint:   {"239", "8", "250", "7"},
		inkBorder:  {"240", "8", "249", "7"},
		inkFocus:   {"80", "14", "30", "6"},
		inkTitle:   {"253", "15", "235", "0"},
		inkValue:   {"255", "15", "232", "0"},
		inkKey:     {"80", "14", "30", "6"},
		inkChosen:  {"80", "14", "30", "6"},
		inkGauge:   {"74", "12", "31", "4"},
		inkPayload: {"80", "14", "30", "6"},
		inkWire:    {"140", "13", "97", "5"},
		inkBudget:  {"179", "11", "136", "3"},
		inkRatio:   {"114", "10", "28", "2"},
		inkMark:    {"216", "11", "166", "3"},
		inkGood:    {"72", "2", "29", "2"},
		inkLost:    {"203", "9", "160", "1"},
		inkLate:    {"221", "11", "136", "3"},
		inkNoBase:  {"207", "13", "127", "5"},
		inkCorrupt: {"208", "3", "166", "3"},
		inkCopy:    {"75", "12", "26", "4"},
		inkUnknown: {"147", "15", "61", "0"},
		inkWarn:    {"221", "11", "136", "3"},
		inkBad:     {"203", "9", "160", "1"},
	}
}

// slotTones colour the account of bits; the same colours serve the stacked bar.
func slotTones() [slotInks]tone {
	return [slotInks]tone{
		{"110", "12", "67", "4"}, {"179", "11", "136", "3"}, {"80", "14", "30", "6"}, {"140", "13", "97", "5"},
		{"114", "10", "28", "2"}, {"203", "9", "160", "1"}, {"216", "3", "166", "3"}, {"75", "12", "26", "4"},
		{"211", "13", "162", "5"}, {"245", "7", "244", "8"},
	}
}

// worldTones colour the world from above: shades of what rests, of what interacts
// and of the player, from the floor up, then the steps of the error map. On dark
// ground what is high is bright, on light ground it is dark.
func worldTones() [3*levels + numHeats]tone {
	return [...]tone{
		{"243", "8", "248", "7"}, {"247", "7", "244", "8"}, {"251", "7", "240", "8"}, {"255", "15", "236", "0"},
		{"124", "1", "210", "9"}, {"160", "1", "196", "9"}, {"196", "9", "160", "1"}, {"203", "9", "88", "1"},
		{"27", "4", "39", "12"}, {"33", "12", "33", "4"}, {"75", "12", "26", "4"}, {"153", "12", "18", "4"},
		{"240", "8", "249", "7"}, {"72", "2", "29", "2"}, {"221", "11", "136", "3"}, {"208", "3", "166", "3"}, {"203", "9", "160", "1"},
	}
}

// styles returns the look of every ink.
func styles(r *lipgloss.Renderer) [numInks]lipgloss.Style {
	var s [numInks]lipgloss.Style
	for k := range s {
		s[k] = r.NewStyle()
	}
	for k, t := range tones() {
		s[k] = s[k].Foreground(t.color())
	}
	for _, k := range []ink{inkFocus, inkTitle, inkValue, inkKey, inkChosen, inkBad, inkLost, inkNoBase, inkCorrupt} {
		s[k] = s[k].Bold(true)
	}
	for i, t := range worldTones() {
		s[int(inkRest)+i] = s[int(inkRest)+i].Foreground(t.color())
	}
	for i, t := range slotTones() {
		s[inkSlot+ink(i)] = s[inkSlot+ink(i)].Foreground(t.color())
		s[barInk(i)] = s[barInk(i)].Foreground(t.color()).Reverse(true)
	}
	for i, t := range shadowTones() {
		s[shadowInk(i)] = s[shadowInk(i)].Foreground(t.color())
	}
	badge := func(k ink, t tone) { s[k] = s[k].Foreground(t.color()).Reverse(true).Bold(true) }
	badge(inkLive, tones()[inkGood])
	badge(inkPaused, tones()[inkWarn])
	badge(inkEnded, tones()[inkDim])
	alarm := tone{"160", "1", "160", "1"}
	s[inkAlarm] = s[inkAlarm].Background(alarm.color()).Foreground(lipgloss.Color("15")).Bold(true)
	s[inkCursor] = s[inkCursor].Reverse(true)
	return s
}

// slotInk is the ink of the i-th part of the account of bits, barInk the same
// colour as ground.
func slotInk(i int) ink { return inkSlot + ink(i%slotInks) }
func barInk(i int) ink  { return inkSlot + slotInks + ink(i%slotInks) }

// theme is styles made ready: what to write before a run of cells.
type theme struct {
	glyphs
	on    [numInks]string
	solid [numInks]bool // a space in this ink can be seen
	bare  [numInks]bool // has a colour and nothing else: the next colour replaces it
	color bool          // colours tell things apart
}

const inkOff = "\x1b[0m"

// newTheme asks the renderer how each ink looks on this terminal: its colours,
// its ground, and NO_COLOR.
func newTheme(r *lipgloss.Renderer, l scheme, ascii bool) *theme {
	th := &theme{glyphs: glyphSet(ascii)}
	for k, s := range l.paint(r) {
		th.on[k], _, _ = strings.Cut(s.Render("x"), "x")
		th.solid[k] = s.GetReverse() || k == int(inkAlarm)
		th.bare[k] = !th.solid[k] && !s.GetBold() && !s.GetUnderline()
		th.color = th.color || th.on[k] != "" && l != schemeMono
	}
	return th
}

// shift writes what changes the ink, and no more: every byte goes to the
// terminal many times a second.
func (th *theme) shift(b *strings.Builder, from, to ink) {
	if th.on[from] != "" && !(th.bare[from] && th.on[to] != "") {
		b.WriteString(inkOff)
	}
	b.WriteString(th.on[to])
}
