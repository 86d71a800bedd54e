package ui

import (
	"wirelab/experiment/engine"

	"github.com/charmbracelet/lipgloss"
)

// glyphs are the shapes that carry what colour carries, in Unicode or in ASCII.
type glyphs struct {
	ascii                     bool
	border                    lipgloss.Border
	outcome                   [engine.NumOutcomes]rune
	gaugeOn, gaugeOff         rune
	chosen, play, pause, stop string
	back                      string // looking back
	times, dot, plusMinus     string
	sweep                     rune // where the next packet will appear
	block                     rune
	strong                    string // upper edge of the pane that has the keys
	shades                    []rune // fills of a stacked bar, apart without colour
	change, undo, seam, note  rune   // kinds of mark
	up, down, sorted          string
	cross                     rune // a point of the ground
	atMost                    string
}

func glyphSet(ascii bool) glyphs {
	if ascii {
		return glyphs{
			ascii: true, border: lipgloss.ASCIIBorder(),
			outcome: [engine.NumOutcomes]rune{'.', 'o', 'l', 'D', '-', 'x', '!', '?', 't', 'W'},
			gaugeOn: '#', gaugeOff: '.', chosen: ">", play: ">", back: "<", pause: "=", stop: "#",
			times: "x", dot: "-", plusMinus: "+-", sweep: '|', block: '#',
			shades: []rune("#=:%+*O-~&"), change: '^', undo: '<', seam: '/', note: '*', up: "^", down: "v",
			cross: '\'', atMost: "<", strong: "=", sorted: ">",
		}
	}
	return glyphs{
		border:  lipgloss.RoundedBorder(),
		outcome: [engine.NumOutcomes]rune{'·', '●', '◐', 'D', '○', '✕', '!', '?', 'T', 'W'},
		gaugeOn: '■', gaugeOff: '·', chosen: "▸", play: "▶", back: "◀", pause: "‖", stop: "■",
		times: "×", dot: "·", plusMinus: "±", sweep: '▏', block: '■',
		shades: []rune("█▓▒░▚▞▤▥▦▧"), change: '▲', undo: '↶', seam: '↻', note: '◆', up: "↑", down: "↓",
		cross: '┼', atMost: "≤", strong: "━", sorted: "↓",
	}
}

// shade is what fills the bits of a slot where there is no colour: the same
// wherever it appears, a letter for those that only a schema names.
func (th *theme) shade(slot int) rune {
	if slot < len(th.shades) {
		return th.shades[slot]
	}
	return rune('a' + (slot-len(th.shades))%26)
}

// swatch is what ties the figures of a slot to its stretch of a bar or a chart.
func (th *theme) swatch(slot int) rune {
	if th.color {
		return th.block
	}
	return th.shade(slot)
}

// outcomeInk is the colour of an outcome.
func outcomeInk(o engine.Outcome) ink {
	inks := [engine.NumOutcomes]ink{inkFaint, inkGood, inkLate, inkCopy, inkLost, inkNoBase, inkCorrupt, inkUnknown, inkWarn, inkAlarm}
	if o < engine.NumOutcomes {
		return inks[o]
	}
	return inkPlain
}

// outcomeWord is what people call an outcome.
func outcomeWord(o engine.Outcome) string {
	words := [engine.NumOutcomes]string{"in flight", "ok", "late", "duplicate", "lost", "no baseline", "corrupt", "unknown codec", "tainted", "WRONG"}
	if o < engine.NumOutcomes {
		return words[o]
	}
	return o.String()
}
