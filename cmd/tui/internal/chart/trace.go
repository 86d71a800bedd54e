package chart

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"
)

// Stroke is the shape of a line, which distinguishes lines without colours.
type Stroke uint8

// The strokes.
const (
	Solid Stroke = iota
	Dashed
	Dotted
)

// chars returns the characters with which asciigraph draws the stroke.
func (k Stroke) chars() asciigraph.CharSet {
	set := asciigraph.DefaultCharSet
	switch k {
	case Dashed:
		set.Horizontal, set.VerticalLine = "╌", "╎"
	case Dotted:
		set = asciigraph.CreateCharSet("·")
	}
	return set
}

// traceColumns is the number of columns that are plotted at once. Asciigraph's work is proportional to
// the rows between the lowest and the highest value, so a single spike is expensive only in its part.
const traceColumns = 32

// trace plots a line with asciigraph and calls draw for each of its characters, with y counted from the top.
// heights are in rows from the bottom, one per column; NaN is a gap. It does nothing with fewer than two rows.
func trace(heights []float64, rows int, chars asciigraph.CharSet, draw func(x, y int, r rune)) {
	n := len(heights)
	if n == 0 || rows < 2 {
		return
	}
	// asciigraph draws the step from value i to i+1 into column i, so the last column needs one more
	// value.
	data := make([]float64, n+1)
	for i, v := range heights {
		// The values are in rows, so that asciigraph neither scales nor rounds them: its bounds are
		// its height.
		data[i] = math.Round(v)
		if !isFinite(v) {
			data[i] = math.NaN()
		}
	}
	data[n] = data[n-1]
	for from := 0; from < n; from += traceColumns {
		tracePart(data[from:min(from+traceColumns, n)+1], rows, chars, func(x, y int, r rune) { draw(from+x, y, r) })
	}
}

// tracePart plots part of a line. data are the heights of the line, one per column, in whole rows from the
// bottom; NaN where the line is unknown. The last element is the height in the column after the part. If all
// heights are NaN, nothing is drawn.
func tracePart(data []float64, rows int, chars asciigraph.CharSet, draw func(x, y int, r rune)) {
	lo, hi, known := rows, -1, 0 // the rows of this part: the picture needs no others
	for _, v := range data {
		if isFinite(v) {
			lo, hi, known = min(lo, int(v)), max(hi, int(v)), known+1
		}
	}
	if hi < 0 {
		return
	}
	if lo == hi && known == len(data) { // level, the most common case: asciigraph draws one character
		level, _ := utf8.DecodeRuneInString(chars.Horizontal)
		for x := range len(data) - 1 {
			draw(x, rows-1-lo, level)
		}
		return
	}
	if lo == hi { // asciigraph needs two rows
		lo, hi = max(lo-1, 0), max(lo, 1)
	}
	picture := asciigraph.Plot(data,
		asciigraph.Height(hi-lo),
		asciigraph.LowerBound(float64(lo)),
		asciigraph.UpperBound(float64(hi)),
		asciigraph.Offset(1),
		asciigraph.YAxisValueFormatter(func(float64) string { return "" }),
		asciigraph.SeriesChars(chars))
	for y, line := range strings.Split(picture, "\n") {
		x := -1 // column -1 is asciigraph's axis
		for _, r := range line {
			if x >= 0 && r != ' ' {
				draw(x, rows-1-hi+y, r)
			}
			x++
		}
	}
}
