package look

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"

	"github.com/charmbracelet/lipgloss"
)

// OutcomeShort is outcomeWord where room is scarce.
func OutcomeShort(o packetlog.Outcome) string {
	switch o {
	case packetlog.NoBaseline:
		return "no base"
	case packetlog.UnknownCodec:
		return "codec"
	case packetlog.Duplicate:
		return "copy"
	}
	return OutcomeWord(o)
}

// glyphs are the shapes that carry what colour carries, in Unicode or in ASCII.
type glyphs struct {
	Ascii                     bool
	Border                    lipgloss.Border
	Outcome                   [packetlog.NumOutcomes]rune
	GaugeOn, GaugeOff         rune
	Chosen, Play, Pause, Stop string
	Back                      string // looking back
	Times, Dot, PlusMinus     string
	Sweep                     rune // where the next packet will appear
	Block                     rune
	focusTop                  string                    // upper edge of the pane that has the keys
	shades                    []rune                    // fills of a stacked bar, apart without colour
	marks                     [engine.MarkUndo + 1]rune // by kind
	Up, Down, Sorted          string
	Cross                     rune // a point of the ground
	AtMost                    string
}

func glyphSet(ascii bool) glyphs {
	if ascii {
		return glyphs{
			Ascii: true, Border: lipgloss.ASCIIBorder(),
			Outcome: [packetlog.NumOutcomes]rune{'.', 'o', 's', 'D', '-', 'x', '!', '?', 't', 'W', '~'},
			GaugeOn: '#', GaugeOff: '.', Chosen: ">", Play: ">", Back: "<", Pause: "=", Stop: "#",
			Times: "x", Dot: "-", PlusMinus: "+-", Sweep: '|', Block: '#',
			shades: []rune("#=:%+*O-~&"), marks: [...]rune{engine.MarkChange: '^', engine.MarkSeam: '/', engine.MarkNote: '*', engine.MarkUndo: '<'}, Up: "^", Down: "v",
			Cross: '\'', AtMost: "<", focusTop: "=", Sorted: ">",
		}
	}
	return glyphs{
		Border:  lipgloss.RoundedBorder(),
		Outcome: [packetlog.NumOutcomes]rune{'·', '●', '◐', 'D', '○', '✕', '!', '?', 'T', 'W', '~'},
		GaugeOn: '■', GaugeOff: '·', Chosen: "▸", Play: "▶", Back: "◀", Pause: "‖", Stop: "■",
		Times: "×", Dot: "·", PlusMinus: "±", Sweep: '▏', Block: '■',
		shades: []rune("█▓▒░▚▞▤▥▦▧"), marks: [...]rune{engine.MarkChange: '▲', engine.MarkSeam: '↻', engine.MarkNote: '◆', engine.MarkUndo: '↶'}, Up: "↑", Down: "↓",
		Cross: '┼', AtMost: "≤", focusTop: "━", Sorted: "↓",
	}
}

// Shade is what fills the bits of a slot where there is no colour: the same
// wherever it appears, a letter for those that only a schema names.
func (th *Theme) Shade(slot int) rune {
	if slot < len(th.shades) {
		return th.shades[slot]
	}
	return rune('a' + (slot-len(th.shades))%26)
}

// Swatch is what ties the figures of a slot to its stretch of a bar or a chart.
func (th *Theme) Swatch(slot int) rune {
	if th.Color {
		return th.Block
	}
	return th.Shade(slot)
}

// OutcomeInk is the colour of an outcome.
func OutcomeInk(o packetlog.Outcome) Ink {
	inks := [packetlog.NumOutcomes]Ink{Faint, Good, Late, Copy, Lost, NoBase, Corrupt, unknown, Warn, Alarm, Faint}
	if o < packetlog.NumOutcomes {
		return inks[o]
	}
	return Plain
}

// OutcomeWord is what people call an outcome.
func OutcomeWord(o packetlog.Outcome) string {
	words := [packetlog.NumOutcomes]string{"in flight", "ok", "stale", "duplicate", "lost", "no baseline", "corrupt",
		"unknown codec", "tainted", "WRONG", "unknown"}
	if o < packetlog.NumOutcomes {
		return words[o]
	}
	return o.String()
}

// MarkInk is the colour of a mark: what a person did stands out.
func MarkInk(k engine.MarkKind) Ink {
	if k == engine.MarkSeam {
		return Dim
	}
	return Mark
}

// MarkSign is what stands before a mark of a kind.
func MarkSign(th *Theme, k engine.MarkKind) rune { return th.marks[min(k, engine.MarkUndo)] }

// Strokes are samples of the lines of a chart, for legends.
func Strokes(th *Theme) [3]string {
	if th.Charts() == chartsASCII {
		return [3]string{"--", "==", ".."}
	}
	return [3]string{"──", "╌╌", "··"}
}

// RuleStroke is a sample of a rule across a chart.
func RuleStroke(th *Theme) string {
	if th.Charts() == chartsASCII {
		return ".."
	}
	return "┈┈"
}

// Quadrants fills each quarter of the cell of which a dot is lit.
func Quadrants(mask uint8) rune {
	blocks := [16]rune{' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'}
	quarters := mask&3 | mask>>2&3 | (mask>>4&3|mask>>6&3)<<2
	return blocks[quarters]
}
