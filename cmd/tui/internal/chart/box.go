package chart

import "strings"

// Style is the style of a cell. The package gives it no meaning: the caller sets styles in a Spec and
// paints the resulting cells.
type Style uint8

// cell is one character of a box, always one column wide.
type cell struct {
	Rune  rune
	Style Style
	Under Style // its colour is the background of the cell; 0 means the background of the terminal
}

// Box is a picture of W x H cells, row by row from the top.
type Box struct {
	W, H  int
	Cells []cell
}

// newBox returns a box of w x h spaces in style blank. Negative sizes count as 0.
func newBox(w, h int, blank Style) *Box {
	b := &Box{W: max(w, 0), H: max(h, 0)}
	b.Cells = make([]cell, b.W*b.H)
	for i := range b.Cells {
		b.Cells[i] = cell{Rune: ' ', Style: blank}
	}
	return b
}

func (b *Box) Row(y int) []cell { return b.Cells[y*b.W : (y+1)*b.W] }

// String returns the picture without its styles, H lines of W characters.
func (b *Box) String() string {
	var s strings.Builder
	for y := range b.H {
		if y > 0 {
			s.WriteByte('\n')
		}
		for _, c := range b.Row(y) {
			s.WriteRune(c.Rune)
		}
	}
	return s.String()
}

// set sets a cell; cells outside the box are dropped.
func (b *Box) set(x, y int, r rune, style Style) {
	if x >= 0 && x < b.W && y >= 0 && y < b.H {
		b.Cells[y*b.W+x] = cell{Rune: r, Style: style}
	}
}

// text writes s from (x, y) and returns the column after it.
func (b *Box) text(x, y int, s string, style Style) int {
	for _, r := range s {
		b.set(x, y, r, style)
		x++
	}
	return x
}
