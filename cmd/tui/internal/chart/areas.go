package chart

import (
	"slices"
	"unicode/utf8"
)

// Area is one layer of a stack. Its newest value is the last, at Spec.End-1. Negative values count as
// 0.
type Area struct {
	Values    []float64
	Weights   []float64 // of the values in a mean; nil means equal
	Fill      rune      // fills the area; a full block gets a smooth upper edge
	Style     Style
	Name      string // drawn in the area if there is room; every rune must be one column wide
	NameStyle Style
}

// drawStack draws the areas on top of each other, and their names. layers are the values of each area, one per
// column. A cell with several areas belongs to the area at the centre of its filled part. If it is filled to the
// top and all its areas have full blocks as their fill, it shows the boundary of its two largest areas to an
// eighth of a row.
func (p *plot) drawStack(layers [][]float64) {
	owner := make([]int, p.cols*p.rows)                     // index of the area of each cell plus 1; 0 means none
	unit := (p.bounds.hi - p.bounds.lo) / float64(p.rows-1) // value per row
	for x := range p.cols {
		total := stackHeight(layers, x)
		if !(total > 0) {
			continue
		}
		height := total/unit + 0.5                           // in cells from the lower edge; the value 0 is at the centre of the lowest row
		for k := 0; k < p.rows && float64(k) < height; k++ { // k-th row from the bottom
			low, high := max(float64(k)-0.5, 0), min(float64(k)+0.5, height-0.5) // the filled part of the cell, in rows
			layer := layerAt(layers, x, (low+high)/2*unit)
			a := &p.Areas[layer]
			y := p.rows - 1 - k
			if r := edgeRune(a.Fill, height-float64(k)); r != ' ' {
				owner[y*p.cols+x] = layer + 1
				p.box.set(plotLeft+x, y, r, a.Style)
			}
			if height >= float64(k+1) && k > 0 { // row 0 is half a cell: its lower half is below the axis
				p.drawBoundary(layers, x, y, low*unit, high*unit)
			}
		}
	}
	for i := range p.Areas {
		p.drawAreaName(owner, i)
	}
}

// drawBoundary draws the boundary between the two largest areas in cell (x, y), which shows the values from low to
// high of the stack: the upper area as the background of a block of eighths in the style of the lower one. It
// draws nothing if the cell has only one area, or if a fill is not a full block.
func (p *plot) drawBoundary(layers [][]float64, x, y int, low, high float64) {
	type part struct {
		layer  int
		height float64 // of the layer in the cell, in values
	}
	var first, second part // the largest and the second largest; height 0 means no such layer
	sum := 0.0
	for i, c := range layers {
		if !isFinite(c[x]) || c[x] <= 0 {
			continue
		}
		from := sum
		if from >= high {
			break
		}
		sum += c[x]
		h := min(sum, high) - max(from, low)
		if h <= 0 {
			continue
		}
		if p.Areas[i].Fill != '█' {
			return
		}
		switch {
		case h > first.height:
			first, second = part{i, h}, first
		case h > second.height:
			second = part{i, h}
		}
	}
	if second.height <= 0 {
		return
	}
	lower, upper := first, second
	if lower.layer > upper.layer {
		lower, upper = upper, lower
	}
	eighths := int(8*lower.height/(lower.height+upper.height) + 0.5)
	style, under := p.Areas[lower.layer].Style, p.Areas[upper.layer].Style
	switch eighths {
	case 0:
		p.box.set(plotLeft+x, y, '█', under)
	case 8:
		p.box.set(plotLeft+x, y, '█', style)
	default:
		p.box.Cells[y*p.box.W+plotLeft+x] = cell{Rune: eighthRunes[eighths], Style: style, Under: under}
	}
}

// eighthRunes are the runes that fill 0 to 8 eighths of a cell, from the bottom.
var eighthRunes = []rune(" ▁▂▃▄▅▆▇█")

// stackHeight returns the height of the stack in column x: the sum of the positive values.
func stackHeight(layers [][]float64, x int) (sum float64) {
	for _, c := range layers {
		if isFinite(c[x]) && c[x] > 0 {
			sum += c[x]
		}
	}
	return min(sum, limit)
}

// layerAt returns the index of the layer that contains height v in column x, the highest layer if v is above
// the stack.
func layerAt(layers [][]float64, x int, v float64) (at int) {
	sum := 0.0
	for i, c := range layers {
		if isFinite(c[x]) && c[x] > 0 {
			at = i
			sum += c[x]
			if sum > v {
				break
			}
		}
	}
	return at
}

// edgeRune returns the rune of a cell at the upper edge of an area. share is how much of the cell the area
// covers, from the bottom: 0 is nothing, 1 or more the whole cell. For the fill '█' there are runes for every
// eighth; any other fill is drawn if at least half of the cell is covered.
func edgeRune(fill rune, share float64) rune {
	if share >= 1 || fill != '█' {
		if share >= 0.5 {
			return fill
		}
		return ' '
	}
	return eighthRunes[min(int(share*8+0.5), 8)]
}

// drawAreaName draws the name of area i at the rightmost place, in the right half of the plot, where the area
// is large enough. owner is as in drawStack.
func (p *plot) drawAreaName(owner []int, i int) {
	a := &p.Areas[i]
	n := utf8.RuneCountInString(a.Name) + 2
	if a.Name == "" || n > p.cols {
		return
	}
	isOther := func(owner int) bool { return owner != i+1 }
	for x := p.cols - n; x >= p.cols/2; x-- {
		first, last := -1, -1 // topmost range of rows in which all cells of the name belong to the area; -1 means none
		for y := range p.rows {
			if !slices.ContainsFunc(owner[y*p.cols+x:y*p.cols+x+n], isOther) {
				if first < 0 {
					first = y
				}
				last = y
			} else if first >= 0 {
				break
			}
		}
		if first >= 0 {
			p.box.text(plotLeft+x, (first+last)/2, " "+replaceWide(a.Name)+" ", a.NameStyle)
			return
		}
	}
}

// stackHeights returns the height of the stack in each column.
func stackHeights(layers [][]float64) []float64 {
	if len(layers) == 0 {
		return nil
	}
	out := make([]float64, len(layers[0]))
	for x := range out {
		out[x] = stackHeight(layers, x)
	}
	return out
}

// Height returns the highest column of the stack in a box of w columns, without UnscaledIntervals. Two charts share a
// scale if both have the larger height as their Floor.
func (s *Spec) Height(w int) float64 {
	p := newPlot(s, newBox(w, 0, s.Blank))
	return maxFinite(maskValues(stackHeights(s.gatherAreas(p.grid, p.cols)), p.unscaledDots()))
}

// gatherAreas reduces the values of each area to n columns.
func (s *Spec) gatherAreas(g grid, n int) [][]float64 {
	cols := make([][]float64, len(s.Areas))
	for i := range s.Areas {
		cols[i] = g.gather(s.Areas[i].Values, s.Areas[i].Weights, s.End, n, Mean)
	}
	return cols
}
