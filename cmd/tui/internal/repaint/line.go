package repaint

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cell is one column: a rune, and its style as the range [from, to) of line.styles.
type cell struct {
	r        rune
	from, to int32
}

// blank is a space in a style whose only effect is a foreground colour. It looks the same in all such
// styles, so it is written in the current one.
var blank = cell{r: ' '}

// line is the content of a line of the screen. parsed is false if the line contains anything except
// runes of one column and SGR sequences.
type line struct {
	cells  []cell
	styles []byte // the SGR sequences of all runs, concatenated
	parsed bool
}

// style returns the sequences that set the style of cell i, from the reset state.
func (l *line) style(i int) []byte { return l.styles[l.cells[i].from:l.cells[i].to] }

// matchesStyle reports whether cell i can be written in the given style.
func (l *line) matchesStyle(i int, style []byte) bool {
	if l.cells[i] == blank {
		return isBare(style)
	}
	return bytes.Equal(l.style(i), style)
}

// equalCell reports whether cell i is equal in both lines.
func (l *line) equalCell(o *line, i int) bool {
	return l.cells[i].r == o.cells[i].r && bytes.Equal(l.style(i), o.style(i))
}

// parse sets l to the content of row, a line with SGR sequences (styles). It reuses the memory of l. If row
// contains anything that it cannot represent, it returns early and parsed stays false.
func (l *line) parse(row []byte) {
	l.cells, l.styles, l.parsed = l.cells[:0], l.styles[:0], false
	var from, to int32 // range of the current style
	invisible := true  // the current style is invisible in a space
	for i := 0; i < len(row); {
		if row[i] == '\x1b' {
			n := sequenceLength(row[i:])
			if n == 0 || row[i+n-1] != 'm' {
				return
			}
			from, to = l.appendCombined(from, to, row[i:i+n])
			invisible = isBare(l.styles[from:to])
			i += n
			continue
		}
		r, n := utf8.DecodeRune(row[i:])
		if r < ' ' || r == 0x7f || r == utf8.RuneError || !isSingleWidth(r) {
			return
		}
		if r == ' ' && invisible {
			l.cells = append(l.cells, blank)
		} else {
			l.cells = append(l.cells, cell{r, from, to})
		}
		i += n
	}
	l.parsed = true
}

// isSingleWidth reports whether a rune takes one column. The ranges that dashboards use (ASCII, box
// drawing, Braille) are decided here, because the library allocates.
func isSingleWidth(r rune) bool {
	switch {
	case r < 0x7f, r >= 0x2500 && r < 0x25a0, r >= 0x2800 && r < 0x2900:
		return true
	}
	return ansi.StringWidth(string(r)) == 1
}

// appendCombined appends to l.styles the style that results from sequence seq in the style of range
// [from, to), and returns the range of the new style.
func (l *line) appendCombined(from, to int32, seq []byte) (newFrom, newTo int32) {
	newFrom = int32(len(l.styles))
	switch {
	case isReset(seq):
		return newFrom, newFrom // empty
	case isForeground(l.styles[from:to]) && isForeground(seq):
		// The new colour replaces the old one.
	default:
		l.styles = append(l.styles, l.styles[from:to]...)
	}
	l.styles = append(l.styles, seq...)
	return newFrom, int32(len(l.styles))
}

// isReset reports whether seq resets all styles.
func isReset(seq []byte) bool { return string(seq) == "\x1b[0m" || string(seq) == "\x1b[m" }

// isForeground reports whether p is a single sequence that sets only the foreground colour.
func isForeground(p []byte) bool {
	if len(p) == 0 || sequenceLength(p) != len(p) {
		return false
	}
	args := p[2 : len(p)-1] // without ESC [ and the final byte
	if rest, ok := bytes.CutPrefix(args, []byte("38;5;")); ok {
		return !bytes.ContainsRune(rest, ';')
	}
	if rest, ok := bytes.CutPrefix(args, []byte("38;2;")); ok {
		return bytes.Count(rest, []byte(";")) == 2
	}
	// 30 to 37, 90 to 97
	return len(args) == 2 && (args[0] == '3' || args[0] == '9') && args[1] >= '0' && args[1] <= '7'
}

// sequenceLength returns the length of the control sequence (CSI) at the beginning of p, 0 if there is no
// complete one.
func sequenceLength(p []byte) int {
	if len(p) < 3 || p[0] != '\x1b' || p[1] != '[' {
		return 0
	}
	for i := 2; i < len(p); i++ {
		if c := p[i]; c >= 0x40 && c <= 0x7e { // the final byte
			return i + 1
		} else if c < 0x20 || c > 0x3f { // neither a parameter nor an intermediate byte
			return 0
		}
	}
	return 0
}

// appendStyle appends the sequences that change the terminal's style from current to next; both are given
// from the reset state. A reset is not needed if one foreground colour replaces another.
func appendStyle(b, current, next []byte) []byte {
	if len(current) > 0 && !(isForeground(current) && isForeground(next)) {
		b = append(b, "\x1b[0m"...)
	}
	return append(b, next...)
}
