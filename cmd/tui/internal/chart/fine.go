package chart

import "math/bits"

// A fine line is asciigraph's, plotted twice as wide and four times as high and folded
// into Braille cells: every character that it draws becomes a dot. So differences of
// a few percent show on a chart of ten rows.
const fineWide, fineTall = 2, 4

// Braille puts the bits, rows of two from the top, where Unicode has the dots.
func Braille(mask uint8) rune {
	places := [8]rune{0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80}
	r := rune(0x2800)
	for i, bit := range places {
		if mask>>i&1 == 1 {
			r |= bit
		}
	}
	return r
}

// fineCell is what lines have in a cell: all their dots, in the ink of the line that
// has most of them; of the one on top if several have.
type fineCell struct {
	mask uint8
	most int
	ink  Ink
}

// fineLines draws all lines. They share their cells.
func (p *plot) fineLines(dots [][]float64) {
	cells := make([]fineCell, p.cols*p.rows)
	own := make([]uint8, len(cells))
	var room folding
	for i, line := range p.Series {
		clear(own)
		p.fold(dots[i], line.Stroke, own, &room)
		for k, mask := range own {
			if mask == 0 {
				continue
			}
			c := &cells[k]
			c.mask |= mask
			if n := bits.OnesCount8(mask); n >= c.most {
				c.most, c.ink = n, line.Ink
			}
		}
	}
	for k, c := range cells {
		if c.mask != 0 {
			p.box.set(p.left+k%p.cols, k/p.cols, Braille(c.mask), c.ink)
		}
	}
}

type point struct{ x, y int }

// folding is the room that lines are plotted in, one after the other.
type folding struct {
	points []point
	high   []int     // points of a column
	levels []float64 // in dots
}

// fold plots one line and lights its dots in a mask for each cell. Strokes differ by
// their gaps, which move with the data; where a line is steep it has none, so that no
// spike falls into one.
func (p *plot) fold(values []float64, k Stroke, cells []uint8, room *folding) {
	if len(room.high) != len(values) {
		*room = folding{make([]point, 0, 2*len(values)), make([]int, len(values)), make([]float64, len(values))}
	}
	points, high, levels := room.points[:0], room.high, room.levels
	clear(high)
	for i, v := range values {
		levels[i] = p.bounds.dots(v, p.rows)
	}
	trace(levels, p.rows*fineTall, k.chars(true), func(x, y int, _ rune) {
		points = append(points, point{x, y})
		high[x]++
	})
	left := int64(0) // the dot at the left edge, on the endless line
	if p.End > 0 {
		left = p.last(p.End-1) - int64(len(values)-1-p.blank())
	}
	for _, at := range points {
		if k.gap(left+int64(at.x)) && high[at.x] <= fineTall {
			continue
		}
		cells[at.y/fineTall*p.cols+at.x/fineWide] |= 1 << (at.y%fineTall*fineWide + at.x%fineWide)
	}
	room.points = points
}

// gap says whether a line has none at a dot, counted on the endless line.
func (k Stroke) gap(dot int64) bool {
	switch k {
	case Dashed:
		return ((dot%6)+6)%6 >= 4
	case Dotted:
		return dot&1 == 1
	}
	return false
}
