package ui

import (
	"github.com/charmbracelet/lipgloss"

	"wirelab/experiment"
)

// glyphs are the shapes that carry what colour carries, in Unicode or in ASCII.
type glyphs struct {
	ascii                     bool
	border                    lipgloss.Border
	outcome                   [experiment.NumOutcomes]rune
	gaugeOn, gaugeOff         rune
	chosen, play, pause, stop string
	back                      string // looking back
	times, dot, plusMinus     string
	sweep                     rune // where the next packet will appear
	block                     rune
	shades                    []rune // fills of a stacked bar, apart without colour
	change, undo, seam, note  rune   // kinds of mark
	up, down                  string
	cross                     rune // a point of the ground
	atMost                    string
}

func glyphSet(ascii bool) glyphs {
	if ascii {
		return glyphs{
			ascii: true, border: lipgloss.ASCIIBorder(),
			outcome: [experiment.NumOutcomes]rune{'.', 'o', 'l', 'D', '-', 'x', '!', '?', 't', 'W'},
			gaugeOn: '#', gaugeOff: '.', chosen: ">", play: ">", back: "<", pause: "=", stop: "#",
			times: "x", dot: "-", plusMinus: "+-", sweep: '|', block: '#',
			shades: []rune("#=:%+*o-"), change: '^', undo: '<', seam: '/', note: '*', up: "^", down: "v",
			cross: '\'', atMost: "<",
		}
	}
	return glyphs{
		border:  lipgloss.RoundedBorder(),
		outcome: [experiment.NumOutcomes]rune{'·', '●', '◐', 'D', '○', '✕', '!', '?', 'T', 'W'},
		gaugeOn: '■', gaugeOff: '·', chosen: "▸", play: "▶", back: "◀", pause: "‖", stop: "■",
		times: "×", dot: "·", plusMinus: "±", sweep: '▏', block: '■',
		shades: []rune("█▓▒░▚▞▤▥"), change: '▲', undo: '↶', seam: '↻', note: '◆', up: "↑", down: "↓",
		cross: '┼', atMost: "≤",
	}
}

// outcomeInk is the colour of an outcome.
func outcomeInk(o experiment.Outcome) ink {
	inks := [experiment.NumOutcomes]ink{inkFaint, inkGood, inkLate, inkCopy, inkLost, inkNoBase, inkCorrupt, inkUnknown, inkWarn, inkAlarm}
	if o < experiment.NumOutcomes {
		return inks[o]
	}
	return inkPlain
}

// outcomeWord is what people call an outcome.
func outcomeWord(o experiment.Outcome) string {
	words := [experiment.NumOutcomes]string{"in flight", "ok", "late", "duplicate", "lost", "no baseline", "corrupt", "unknown codec", "tainted", "WRONG"}
	if o < experiment.NumOutcomes {
		return words[o]
	}
	return o.String()
}
