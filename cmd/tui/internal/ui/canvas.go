package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/chart"
)

// canvas is a grid of cells that panes draw on. Whatever is written beyond its
// edges is dropped, so a pane can be too small for what it shows but never
// break a line of the screen.
type canvas struct {
	w, h  int
	cells []cell
}

// cell is one column of one line. A rune two columns wide is followed by a cell
// with the rune 0.
type cell struct {
	r   rune
	ink ink
}

func newCanvas(w, h int) *canvas {
	c := &canvas{w: max(w, 0), h: max(h, 0)}
	c.cells = make([]cell, c.w*c.h)
	for i := range c.cells {
		c.cells[i] = cell{' ', inkPlain}
	}
	return c
}

// set writes one rune that is one column wide.
func (c *canvas) set(x, y int, k ink, r rune) {
	if x < 0 || x >= c.w || y < 0 || y >= c.h {
		return
	}
	at := y*c.w + x
	if c.cells[at].r == 0 { // the right half of a wide rune: its left half goes
		c.cells[at-1].r = ' '
	} else if x+1 < c.w && c.cells[at+1].r == 0 {
		c.cells[at+1].r = ' '
	}
	c.cells[at] = cell{r, k}
}

// text writes s from (x, y) and returns the column after it. Control characters
// and runes without a width, which people and files may bring, are left out.
func (c *canvas) text(x, y int, k ink, s string) int {
	return c.clip(x, y, c.w-x, k, s)
}

// clip is text in at most n columns; what is longer ends in an ellipsis.
func (c *canvas) clip(x, y, n int, k ink, s string) int {
	n = min(n, c.w-x)
	if n <= 0 {
		return x
	}
	if textWidth(s) > n {
		s = truncate(s, n-1) + "…"
	}
	for _, r := range s {
		switch runeWidth(r) {
		case 1:
			c.set(x, y, k, r)
			x++
		case 2:
			c.set(x, y, k, ' ')
			c.set(x+1, y, k, ' ')
			if x+1 < c.w && y >= 0 && y < c.h {
				c.cells[y*c.w+x], c.cells[y*c.w+x+1] = cell{r, k}, cell{0, k}
			}
			x += 2
		}
	}
	return x
}

// right writes s so that it ends before column x.
func (c *canvas) right(x, y int, k ink, s string) { c.text(x-textWidth(s), y, k, s) }

// fill writes r over n columns from (x, y).
func (c *canvas) fill(x, y, n int, k ink, r rune) {
	for i := range max(n, 0) {
		c.set(x+i, y, k, r)
	}
}

// blit copies a chart to (x, y); its inks are ours.
func (c *canvas) blit(x, y int, b *chart.Box) {
	for row := range b.H {
		for col, cell := range b.Row(row) {
			c.set(x+col, y+row, ink(cell.Ink), cell.Rune)
		}
	}
}

// paste copies another canvas to (x, y).
func (c *canvas) paste(x, y int, from *canvas) {
	for row := range min(from.h, c.h-y) {
		n := min(from.w, c.w-x)
		if n > 0 {
			copy(c.cells[(y+row)*c.w+x:][:n], from.cells[row*from.w:])
		}
	}
}

// lines returns the canvas as text, one string a line, painted by the theme:
// one escape sequence per run of cells of one ink.
func (c *canvas) lines(th *theme) []string {
	out := make([]string, c.h)
	var b strings.Builder
	for y := range out {
		b.Reset()
		b.Grow(2*c.w + 64)
		run := inkPlain
		for _, cl := range c.cells[y*c.w : (y+1)*c.w] {
			if cl.r == 0 {
				continue
			}
			k := cl.ink
			if cl.r == ' ' && !th.solid[k] && !th.solid[run] {
				k = run // a space looks the same in either ink
			}
			if k != run {
				th.shift(&b, run, k)
				run = k
			}
			if th.ascii && cl.r >= utf8.RuneSelf {
				b.WriteString(strings.Repeat(string(asciiFor(cl.r)), runeWidth(cl.r)))
				continue
			}
			b.WriteRune(cl.r)
		}
		th.shift(&b, run, inkPlain)
		out[y] = b.String()
	}
	return out
}

// asciiFor is the last resort where only ASCII may be shown: glyphs has its own
// signs for what is drawn, this is for text.
func asciiFor(r rune) rune {
	from, to := []rune("…µ±×·↑↓←→–—−\u00a0"), []rune(".u+x-^v<>--- ")
	if i := slices.Index(from, r); i >= 0 {
		return to[i]
	}
	return '?'
}

// textWidth returns how many columns text takes.
func textWidth(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf {
			return wideTextWidth(s)
		}
		n++
	}
	return n
}

func wideTextWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns the columns of a rune by itself: 0, 1 or 2. Sequences that
// join into one sign are not joined here, nor on every terminal.
func runeWidth(r rune) int {
	switch {
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return 0
	case r < 0x7f:
		return 1
	}
	return ansi.StringWidth(string(r))
}

// truncate returns the part of s that fits n columns.
func truncate(s string, n int) string {
	for i, r := range s {
		if n -= runeWidth(r); n < 0 {
			return s[:i]
		}
	}
	return s
}
