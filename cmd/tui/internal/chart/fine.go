package chart

import (
	"math"
	"math/bits"
)

// A fine line has the shape that asciigraph draws at twice the width and four times the height. Each character is a
// dot of a Braille cell, so that differences of a few percent are visible on ten rows.
const fineDotsAcross, fineDotsDown = 2, 4

// Braille returns the Braille character for the dots of mask: bit 0 is at the top left, bit 1 at the top
// right, and so on, two bits per row.
func Braille(mask uint8) rune {
	// The bits of U+2800 and following are not in rows: dots 1 to 3 and 4 to 6 are columns, 7 and 8 the
	// last row.
	places := [8]rune{0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80}
	r := rune(0x2800)
	for i, bit := range places {
		if mask>>i&1 == 1 {
			r |= bit
		}
	}
	return r
}

// fineCell is a cell shared by several lines: all their dots, in the style of the line with the most dots
// there. Of lines with equal numbers the last one wins.
type fineCell struct {
	mask    uint8
	maxDots int
	style   Style
}

// fineLines draws all series as dots. dots are the values per dot of each.
func (p *plot) fineLines(dots [][]float64) {
	cells := make([]fineCell, p.cols*p.rows)
	lineMasks := make([]uint8, len(cells)) // dots of one line in each cell
	for i, line := range p.Series {
		clear(lineMasks)
		p.plotFineLine(dots[i], line.Stroke, lineMasks)
		for k, mask := range lineMasks {
			if mask == 0 {
				continue
			}
			c := &cells[k]
			c.mask |= mask
			if n := bits.OnesCount8(mask); n >= c.maxDots {
				c.maxDots, c.style = n, line.Style
			}
		}
	}
	for k, c := range cells {
		if c.mask != 0 {
			p.box.set(plotLeft+k%p.cols, k/p.cols, Braille(c.mask), c.style)
		}
	}
}

// plotFineLine plots one line, with a value per dot, and sets its dots in masks, one for each cell of the plot; see
// Braille. As in trace, a step from one value to the next is drawn in the column of the first. Strokes differ by gaps,
// which scroll with the data. Steep parts, of more dots in a column than a cell has, get no gaps, so that no spike is
// lost.
func (p *plot) plotFineLine(values []float64, stroke Stroke, masks []uint8) {
	left := int64(0) // index of the dot at the left edge on the endless time line
	if p.End > 0 {
		left = p.lastDot(p.End-1) - int64(len(values)-1-p.missingDots())
	}
	level := func(x int) float64 { return math.Round(p.bounds.scaleDots(values[min(x, len(values)-1)], p.rows)) }
	next := math.NaN()
	if len(values) > 0 {
		next = level(0)
	}
	for x := range values {
		var here float64
		here, next = next, level(x+1)
		lo, hi := min(here, next), max(here, next)
		switch { // a line begins and ends with one dot
		case !isFinite(here):
			lo, hi = next, next
		case !isFinite(next):
			lo, hi = here, here
		}
		if !isFinite(lo) || hi-lo < fineDotsDown && stroke.isGap(left+int64(x)) {
			continue
		}
		for up := int(lo); up <= int(hi); up++ {
			y := p.rows*fineDotsDown - 1 - up
			cell := y/fineDotsDown*p.cols + x/fineDotsAcross
			masks[cell] |= 1 << (y%fineDotsDown*fineDotsAcross + x%fineDotsAcross)
		}
	}
}

// isGap reports whether a stroke has a gap at a dot of the endless time line: dashed lines at two of six dots,
// dotted ones at every other dot.
func (k Stroke) isGap(dot int64) bool {
	switch k {
	case Dashed:
		return ((dot%6)+6)%6 >= 4
	case Dotted:
		return dot&1 == 1
	}
	return false
}
