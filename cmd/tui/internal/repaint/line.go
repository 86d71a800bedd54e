package repaint

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cell is one column: a rune, and where in its line's styles its style lies.
type cell struct {
	r        rune
	from, to int32
}

// line is what a line of the screen holds. known is false for one with anything
// but runes of one column and sequences that set colours and the like.
type line struct {
	cells  []cell
	styles []byte // the sequences of all runs, one after the other
	known  bool
}

// style is what was written since all styles were off, for cell i.
func (l *line) style(i int) []byte { return l.styles[l.cells[i].from:l.cells[i].to] }

// same reports whether cell i looks alike in both lines.
func (l *line) same(o *line, i int) bool {
	return l.cells[i].r == o.cells[i].r && bytes.Equal(l.style(i), o.style(i))
}

// parse takes a line apart, reusing the memory of what it was.
func (l *line) parse(row []byte) {
	l.cells, l.styles, l.known = l.cells[:0], l.styles[:0], false
	var from, to int32 // the style in force
	for i := 0; i < len(row); {
		if row[i] == '\x1b' {
			n := sequence(row[i:])
			if n == 0 || row[i+n-1] != 'm' {
				return
			}
			from, to = l.restyle(from, to, row[i:i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRune(row[i:])
		if r < ' ' || r == 0x7f || r == utf8.RuneError || !single(r) {
			return
		}
		l.cells = append(l.cells, cell{r, from, to})
		i += n
	}
	l.known = true
}

// single reports whether a rune takes one column. Those that dashboards are made
// of are known to; the library that knows the others allocates.
func single(r rune) bool {
	switch {
	case r < 0x7f, r >= 0x2500 && r < 0x25a0, r >= 0x2800 && r < 0x2900:
		return true
	}
	return ansi.StringWidth(string(r)) == 1
}

// restyle notes a sequence that sets a style on top of that in [from, to), and
// returns where the style then in force lies.
func (l *line) restyle(from, to int32, seq []byte) (int32, int32) {
	at := int32(len(l.styles))
	switch {
	case resets(seq):
		return at, at
	case foreground(l.styles[from:to]) && foreground(seq):
		// The new colour takes the place of the old one.
	default:
		l.styles = append(l.styles, l.styles[from:to]...)
	}
	l.styles = append(l.styles, seq...)
	return at, int32(len(l.styles))
}

func resets(seq []byte) bool { return string(seq) == "\x1b[0m" || string(seq) == "\x1b[m" }

// foreground reports whether p is one sequence that sets the colour of the text
// and nothing else.
func foreground(p []byte) bool {
	if len(p) == 0 || sequence(p) != len(p) {
		return false
	}
	args := p[2 : len(p)-1]
	if rest, ok := bytes.CutPrefix(args, []byte("38;5;")); ok {
		return !bytes.ContainsRune(rest, ';')
	}
	if rest, ok := bytes.CutPrefix(args, []byte("38;2;")); ok {
		return bytes.Count(rest, []byte(";")) == 2
	}
	n, err := strconv.Atoi(string(args))
	return err == nil && (n >= 30 && n <= 37 || n >= 90 && n <= 97)
}

// sequence returns the length of the control sequence that p begins with, 0 if it
// begins with none that is whole.
func sequence(p []byte) int {
	if len(p) < 3 || p[0] != '\x1b' || p[1] != '[' {
		return 0
	}
	for i := 2; i < len(p); i++ {
		if c := p[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x3f {
			return 0
		}
	}
	return 0
}

// gap is how many unchanged cells are rather written again than jumped over.
const gap = 4

// appendDifference appends what turns the old line y of the screen into the new
// one, which has as many cells.
func appendDifference(b []byte, y int, old, now *line) []byte {
	n := len(now.cells)
	var style []byte // in force
	for i := 0; i < n; {
		if old.same(now, i) {
			i++
			continue
		}
		end, last := i+1, i
		for ; end < n && end-last <= gap; end++ {
			if !old.same(now, end) {
				last = end
			}
		}
		b = appendPlace(b, y, i)
		for ; i <= last; i++ {
			if want := now.style(i); !bytes.Equal(want, style) {
				b, style = appendStyle(b, style, want), want
			}
			b = utf8.AppendRune(b, now.cells[i].r)
		}
	}
	return appendStyle(b, style, nil)
}

// appendStyle appends what changes the style.
func appendStyle(b, from, to []byte) []byte {
	if len(from) > 0 && !(foreground(from) && foreground(to)) {
		b = append(b, "\x1b[0m"...)
	}
	return append(b, to...)
}
