package chart

import (
	"math"
	"strings"

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

// trace plots cols, one value a column, over the given rows and hands every
// character of the line to put. It needs at least two rows.
func trace(cols []float64, rows int, b bounds, chars asciigraph.CharSet, put func(x, y int, r rune)) {
	data, any := make([]float64, len(cols)+1), false
	for i, v := range cols {
		if !finite(v) {
			data[i] = math.NaN()
			continue
		}
		// In units of rows asciigraph has nothing left to scale or to round
		// otherwise than we do: its bounds are its height.
		data[i], any = math.Round(b.scale(v, rows)), true
	}
	if !any || rows < 2 {
		return
	}
	// asciigraph draws the step from value i to i+1 into column i: without one
	// more value the last column would stay empty.
	data[len(cols)] = data[len(cols)-1]
	picture := asciigraph.Plot(data,
		asciigraph.Height(rows-1),
		asciigraph.LowerBound(0),
		asciigraph.UpperBound(float64(rows-1)),
		asciigraph.Offset(1),
		asciigraph.YAxisValueFormatter(func(float64) string { return "" }),
		asciigraph.SeriesChars(chars))
	for y, line := range strings.Split(picture, "\n") {
		x := -1 // its axis
		for _, r := range line {
			if x >= 0 && r != ' ' {
				put(x, y, r)
			}
			x++
		}
	}
}
