package look

import (
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"

	"github.com/charmbracelet/lipgloss"
)

// ShortOutcomeName returns the name of an outcome for narrow columns: the usual name, or a shorter one
// of at most 7 letters for the three outcomes whose names are long.
func ShortOutcomeName(o packetlog.Outcome) string {
	switch o {
	case packetlog.NoBaseline:
		return "no base"
	case packetlog.UnknownCodec:
		return "codec"
	case packetlog.Duplicate:
		return "copy"
	}
	return OutcomeName(o)
}

// glyphs are the symbols of a theme. They distinguish the same things as colours do. Canvas.Lines replaces them in
// an ASCII theme, see toASCII.
type glyphs struct {
	Border            lipgloss.Border
	Outcome           [packetlog.NumOutcomes]rune // by outcome
	GaugeOn, GaugeOff rune                        // the filled and the empty part of a gauge
	Chosen            string                      // the cursor of a list
	Play, Pause, Stop string                      // states of the run
	Back              string                      // marks the display of a past moment
	Times             string                      // multiplication, as in "x2"
	Dot               string                      // separates entries of a line
	PlusMinus         string
	Sweep             rune   // marks the position of the next packet
	Block             rune   // a coloured square in a legend
	focusTop          string // upper edge of the focused pane
	Up, Down          string
	Rising, Falling   string // mark the column by which a table is sorted: the smallest value is first, or last
	AtMost            string // "less than or equal"
}

// glyphSet returns the symbols. The runes of Outcome are in the order of the constants of packetlog.Outcome.
func glyphSet() glyphs {
	return glyphs{
		Border:  lipgloss.RoundedBorder(),
		Outcome: [packetlog.NumOutcomes]rune{'·', '●', '◐', 'D', '○', '✕', '!', '?', 'W', '~'},
		GaugeOn: '■', GaugeOff: '·', Chosen: "▸", Play: "▶", Back: "◀", Pause: "‖", Stop: "■",
		Times: "×", Dot: "·", PlusMinus: "±", Sweep: '▏', Block: '■', Up: "↑", Down: "↓",
		AtMost: "≤", focusTop: "━", Rising: "▴", Falling: "▾",
	}
}

// asciiKeys names the arrow keys in words.
var asciiKeys = strings.NewReplacer("←↑↓→", "arrows", "↑↓", "up down", "←→", "left right", "↑", "up", "↓", "down", "←", "left", "→", "right")

// KeyLabel returns the label of keys on the screen. In ASCII arrows would look like other keys, such as < and >.
func (th *Theme) KeyLabel(label string) string {
	if th.Ascii {
		return asciiKeys.Replace(label)
	}
	return label
}

// shades are the fills of a stacked bar without colour.
var shades = []rune("█▓▒░▚▞▤▥▦▧")

// Shade returns the character that fills part number part of the bit budget, from 0, in charts
// without colour. The first parts have symbols of the theme; further parts get letters.
func Shade(part int) rune {
	if part < len(shades) {
		return shades[part]
	}
	return rune('a' + (part-len(shades))%26)
}

// Swatch returns the legend symbol for part number part of the bit budget: a block, which the
// caller draws in the colour of the part, or its Shade in a theme without colour.
func (th *Theme) Swatch(part int) rune {
	if th.Color {
		return th.Block
	}
	return Shade(part)
}

// SlotMark returns the Swatch of a slot in its colour, and a blank.
func (th *Theme) SlotMark(slot int) Span { return SlotStyle(slot).Span(string(th.Swatch(slot)) + " ") }

// OutcomeSymbol returns the symbol of an outcome; that of an unknown one if it is invalid.
func (th *Theme) OutcomeSymbol(o packetlog.Outcome) string {
	return string(th.Outcome[min(o, packetlog.NumOutcomes-1)])
}

// OutcomeStyle returns the style of an outcome; Plain if the outcome is invalid.
func OutcomeStyle(o packetlog.Outcome) Style {
	// In the order of the constants of packetlog.Outcome.
	styles := [packetlog.NumOutcomes]Style{Faint, Good, Late, Copy, Lost, NoBase, Corrupt, unknown, Alarm, Faint}
	if o < packetlog.NumOutcomes {
		return styles[o]
	}
	return Plain
}

// OutcomeName returns the name of an outcome on the screen.
func OutcomeName(o packetlog.Outcome) string {
	words := [packetlog.NumOutcomes]string{"in flight", "ok", "stale", "duplicate", "lost", "no baseline", "corrupt",
		"unknown codec", "WRONG", "unknown"}
	if o < packetlog.NumOutcomes {
		return words[o]
	}
	return o.String()
}

// OutcomeText returns the name of a packet's outcome, the stage that dropped it, whether it was repaired, and how late it
// was.
func OutcomeText(r *packetlog.Record) string {
	text := OutcomeName(r.Outcome)
	if r.Outcome == packetlog.Lost {
		text += ": " + r.Cause.String()
	}
	if r.RepairedBy() != "" {
		text += ", repaired"
	}
	if r.Late > 0 {
		text += ", late " + units.Stepped(units.Milliseconds(r.Late), 1, 9.95) + " ms"
	}
	return text
}

// MarkStyle returns the style of a mark. Marks of user actions stand out, those of loop points do
// not.
func MarkStyle(k engine.MarkKind) Style {
	if k == engine.MarkLoop {
		return Dim
	}
	return Mark
}

// MarkSymbol returns the symbol of a kind of mark. Kinds beyond the known ones get the last symbol.
func MarkSymbol(k engine.MarkKind) rune {
	symbols := [...]rune{engine.MarkChange: '▲', engine.MarkLoop: '↻', engine.MarkNote: '◆', engine.MarkUndo: '↶'}
	return symbols[min(k, engine.MarkUndo)]
}

// LineSamples are samples of the three line types of charts, for legends: solid, dashed, dotted.
var LineSamples = [3]string{"──", "╌╌", "··"}

// Quadrants returns the block character that fills each quarter of a cell in which mask has a
// dot. The mask is a grid of four rows of two dots: bit 2*row+column, with row 0 at the top. Each
// quarter covers two rows of one column.
func Quadrants(mask uint8) rune {
	// By filled quarters; bit 0 is the upper left, then upper right, lower left, lower right.
	blocks := [16]rune{' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'}
	// Merge rows 0 and 1 into the upper quarters, rows 2 and 3 into the lower ones.
	quarters := mask&3 | mask>>2&3 | (mask>>4&3|mask>>6&3)<<2
	return blocks[quarters]
}
