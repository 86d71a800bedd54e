package look

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/chart"
)

// Canvas is a grid of cells that panes draw on. Text beyond its edges is dropped, so that a pane
// that is too small for its content cannot break a line of the screen.
type Canvas struct {
	W, H  int
	cells []cell
}

// cell is one column of one line. A rune that is two columns wide is followed by a cell with the
// rune 0.
type cell struct {
	r     rune
	style Style
	under Style // its foreground colour is the background of the cell; Plain means none
}

// NewCanvas returns an empty canvas of w columns and h rows.
func NewCanvas(w, h int) *Canvas {
	c := &Canvas{W: max(w, 0), H: max(h, 0)}
	c.cells = make([]cell, c.W*c.H)
	for i := range c.cells {
		c.cells[i] = cell{r: ' ', style: Plain}
	}
	return c
}

// Set writes a rune that is one column wide. Positions outside of the canvas are ignored.
func (c *Canvas) Set(x, y int, style Style, r rune) {
	if x < 0 || x >= c.W || y < 0 || y >= c.H {
		return
	}
	i := y*c.W + x
	if c.cells[i].r == 0 { // overwrites the right half of a wide rune: clear the left half
		c.cells[i-1].r = ' '
	} else if x+1 < c.W && c.cells[i+1].r == 0 { // overwrites the left half: clear the right half
		c.cells[i+1].r = ' '
	}
	c.cells[i] = cell{r: r, style: style}
}

// Text writes s from (x, y) and returns the column after it. Control characters and runes without
// width are skipped; they may come from files or user input.
func (c *Canvas) Text(x, y int, style Style, s string) int {
	return c.Clip(x, y, c.W-x, style, s)
}

// Clip writes s at (x, y) in at most maxWidth columns and returns the column after it. Longer text ends in an
// ellipsis.
func (c *Canvas) Clip(x, y, maxWidth int, style Style, s string) int {
	maxWidth = min(maxWidth, c.W-x)
	if maxWidth <= 0 {
		return x
	}
	for _, r := range Shorten(s, maxWidth) {
		switch RuneWidth(r) {
		case 1:
			c.Set(x, y, style, r)
			x++
		case 2:
			c.Set(x, y, style, ' ') // clears halves of wide runes under the new one
			c.Set(x+1, y, style, ' ')
			if x+1 < c.W && y >= 0 && y < c.H {
				c.cells[y*c.W+x], c.cells[y*c.W+x+1] = cell{r: r, style: style}, cell{style: style}
			}
			x += 2
		}
	}
	return x
}

// TextRight writes s so that it ends before column x.
func (c *Canvas) TextRight(x, y int, style Style, s string) { c.Text(x-TextWidth(s), y, style, s) }

// Fill writes r over n columns from (x, y).
func (c *Canvas) Fill(x, y, n int, style Style, r rune) {
	for i := range max(n, 0) {
		c.Set(x+i, y, style, r)
	}
}

// Blit copies a drawn chart to (x, y). A chart.Style has the number of a Style of this package.
func (c *Canvas) Blit(x, y int, drawn *chart.Box) {
	for row := range drawn.H {
		for col, cell := range drawn.Row(row) {
			c.Set(x+col, y+row, Style(cell.Style), cell.Rune)
			if at := (y+row)*c.W + x + col; cell.Under != 0 && x+col < c.W && y+row < c.H {
				c.cells[at].under = Style(cell.Under)
			}
		}
	}
}

// Paste copies another canvas to (x, y), which must lie inside of c. What does not fit is cut off.
func (c *Canvas) Paste(x, y int, from *Canvas) {
	for row := range min(from.H, c.H-y) {
		n := min(from.W, c.W-x)
		if n > 0 {
			copy(c.cells[(y+row)*c.W+x:][:n], from.cells[row*from.W:])
		}
	}
}

// Centre writes text, wrapped, into the middle of the canvas. edge rows stay free at the top, and
// twice as many columns at each side, because a cell is about twice as high as wide.
func (c *Canvas) Centre(edge int, style Style, text string) {
	lines := Wrap(text, max(c.W-2-4*edge, 1))
	for i, line := range lines {
		c.Text(max((c.W-TextWidth(line))/2, 2*edge), max((c.H-len(lines))/2, edge)+i, style, line)
	}
}

// Wrap writes text from (x, y) on in lines of at most w columns, and returns the row below them.
func (c *Canvas) Wrap(x, y, w int, style Style, text string) (below int) {
	for _, line := range Wrap(text, w) {
		c.Clip(x, y, w, style, line)
		y++
	}
	return y
}

// Split divides the canvas from left to right into n parts of equal width, and calls draw to fill
// part i, from 0.
func (c *Canvas) Split(n int, draw func(i int, part *Canvas)) {
	x := 0
	for i := range n {
		end := c.W * (i + 1) / n
		part := NewCanvas(end-x, c.H)
		draw(i, part)
		c.Paste(x, 0, part)
		x = end
	}
}

// MoreBelow writes "rest more" into the lower edge of a pane: its list has that many further rows below
// the visible ones. It writes nothing if rest is 0.
func (c *Canvas) MoreBelow(th *Theme, rest int) {
	if rest > 0 {
		c.TextRight(c.W-2, c.H-1, Dim, fmt.Sprintf(" %d more %s ", rest, th.Down))
	}
}

// Lines returns the rows of the canvas as text with the escape sequences of the theme, one
// sequence for each run of cells with the same style.
func (c *Canvas) Lines(th *Theme) []string {
	out := make([]string, c.H)
	var b strings.Builder
	for y := range out {
		b.Reset()
		b.Grow(2*c.W + 64)
		current, under := Plain, Plain
		for _, cl := range c.cells[y*c.W : (y+1)*c.W] {
			if cl.r == 0 { // covered by the wide rune before it
				continue
			}
			style := cl.style
			if cl.r == ' ' && cl.under == under && !th.visibleSpace[style] && !th.visibleSpace[current] {
				style = current // the space looks the same in both styles
			}
			switch {
			case cl.under != under: // a background cannot be replaced by "no background" without a reset
				b.WriteString(Off)
				b.WriteString(th.escapes[style])
				b.WriteString(th.backgrounds[cl.under])
				current, under = style, cl.under
			case style != current:
				th.switchStyle(&b, current, style)
				b.WriteString(th.backgrounds[under])
				current = style
			}
			if th.Ascii && cl.r >= utf8.RuneSelf { // one ASCII character for each column of the rune
				b.WriteString(strings.Repeat(string(toASCII(cl.r)), RuneWidth(cl.r)))
				continue
			}
			b.WriteRune(cl.r)
		}
		if under != Plain {
			b.WriteString(Off)
			current = Plain
		}
		th.switchStyle(&b, current, Plain)
		out[y] = b.String()
	}
	return out
}

// asciiForms lists the characters that have an ASCII form, below their forms. Symbols of one set, such as the outcomes
// of packets, have different forms.
var asciiForms = [...][2]string{
	{"…µ±×≤≈–—−\u00a0", ".u~x<~--- "},
	{"↑↓←→↖↗↘↙↻↶▸▶▾▴◀▲", "^v<>\\/\\//<>>*^<^"},
	{"·∙●◐○◉✕■□△◇▽☆◎◆‖", "..os@Ox##~*VO&*="},
	{"─━╌┈╴╶│┊╎▏", "-==.--|::|"},
	{"▁▂▃▄▅▆▇█░▒▓▚▞▤▥▦▧▐▌⠂", "_.-=+*X#.:X+/*O~&[],"},
}

// asciiRunes is the table of asciiForms.
var asciiRunes = func() map[rune]rune {
	table := map[rune]rune{}
	for _, forms := range asciiForms {
		ascii := []rune(forms[1])
		for i, r := range []rune(forms[0]) {
			table[r] = ascii[i]
		}
	}
	return table
}()

// toASCII returns the ASCII character that is shown for a rune; '?' if none is similar.
func toASCII(r rune) rune {
	switch ascii, ok := asciiRunes[r]; {
	case ok:
		return ascii
	case r >= 0x2500 && r < 0x2580: // other lines: corners and crossings
		return '+'
	case r >= 0x2580 && r < 0x25a0: // other blocks
		return 'o'
	case r > 0x2800 && r < 0x2900: // Braille patterns with dots
		return ':'
	case r == 0x2800:
		return ' '
	}
	return '?'
}

// TextWidth returns the width of s in columns. Printable ASCII is one column per byte, so most
// texts need no decoding.
func TextWidth(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf {
			return unicodeTextWidth(s)
		}
		n++
	}
	return n
}

// unicodeTextWidth is TextWidth for text with characters outside of printable ASCII.
func unicodeTextWidth(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth returns the width of a single rune in columns: 0, 1 or 2. It does not join sequences
// of runes, such as emoji with modifiers, because terminals differ in that.
func RuneWidth(r rune) int {
	switch {
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return 0
	case r < 0x7f, r >= 0x2500 && r < 0x25a0, r >= 0x2800 && r < 0x2900: // lines, blocks and Braille are frequent
		return 1
	}
	return ansi.StringWidth(string(r))
}

// Truncate returns the longest prefix of s that fits in n columns.
func Truncate(s string, n int) string {
	for i, r := range s {
		n -= RuneWidth(r)
		if n < 0 {
			return s[:i]
		}
	}
	return s
}
