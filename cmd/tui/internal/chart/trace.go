package chart

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"
)

// Stroke tells lines apart by shape, for screens and eyes without colour.
type Stroke uint8

// The strokes.
const (
	Solid Stroke = iota
	Dashed
	Dotted
)

func (k Stroke) chars(ascii bool) asciigraph.CharSet {
	set := asciigraph.DefaultCharSet
	switch {
	case ascii && k == Solid:
		set = asciigraph.CharSet{Horizontal: "-", VerticalLine: "|", ArcDownRight: ".", ArcDownLeft: ".",
			ArcUpRight: "`", ArcUpLeft: "'", EndCap: "-", StartCap: "-"}
	case ascii && k == Dashed:
		set = asciigraph.CreateCharSet("=")
		set.VerticalLine = ":"
	case ascii:
		set = asciigraph.CreateCharSet(".")
		set.VerticalLine = ":"
	case k == Dashed:
		set.Horizontal, set.VerticalLine = "╌", "╎"
	case k == Dotted:
		set = asciigraph.CreateCharSet("·")
	}
	return set
}

// traceAtOnce is how many columns of a line are plotted at once. Asciigraph fills every
// cell between the lowest and the highest value: in pieces a single spike costs little.
const traceAtOnce = 32

// trace plots heights, in rows from the bottom, one a column, over the given rows and
// hands every character of the line to put. It needs at least two rows.
func trace(heights []float64, rows int, chars asciigraph.CharSet, put func(x, y int, r rune)) {
	n := len(heights)
	if n == 0 || rows < 2 {
		return
	}
	// asciigraph draws the step from value i to i+1 into column i: without one
	// more value the last column would stay empty.
	data := make([]float64, n+1)
	for i, v := range heights {
		// In units of rows asciigraph has nothing left to scale or to round
		// otherwise than we do: its bounds are its height.
		data[i] = math.Round(v)
		if !finite(v) {
			data[i] = math.NaN()
		}
	}
	data[n] = data[n-1]
	for from := 0; from < n; from += traceAtOnce {
		tracePart(data[from:min(from+traceAtOnce, n)+1], rows, chars, func(x, y int, r rune) { put(from+x, y, r) })
	}
}

// tracePart plots whole rows, of which the last is that of the column after the part.
func tracePart(data []float64, rows int, chars asciigraph.CharSet, put func(x, y int, r rune)) {
	lo, hi, known := rows, -1, 0 // the part's own rows: the picture need not have more
	for _, v := range data {
		if finite(v) {
			lo, hi, known = min(lo, int(v)), max(hi, int(v)), known+1
		}
	}
	if hi < 0 {
		return
	}
	if lo == hi && known == len(data) { // level, as most parts of most charts: asciigraph has one character for that
		level, _ := utf8.DecodeRuneInString(chars.Horizontal)
		for x := range len(data) - 1 {
			put(x, rows-1-lo, level)
		}
		return
	}
	if lo == hi { // it has no picture of a single row
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
		x := -1 // its axis
		for _, r := range line {
			if x >= 0 && r != ' ' {
				put(x, rows-1-hi+y, r)
			}
			x++
		}
	}
}
