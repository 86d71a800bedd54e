package chart

import (
	"math"
	"unicode/utf8"
)

// Area is one layer of a stack. Its newest value is the last, at Spec.End-1; what
// is below zero counts as nothing.
type Area struct {
	Values  []float64
	Weights []float64 // nil: all alike
	Fill    rune      // what fills it; a full block gets a smooth upper edge
	Ink     Ink
	Name    string // written into it where there is room; every rune one column wide
	NameInk Ink
}

// stack draws the areas one upon the other, and returns nothing but the picture:
// a cell belongs to the area that its middle lies in.
func (p *plot) stack(cols [][]float64) {
	owner := make([]int, p.cols*p.rows) // which area a cell belongs to, plus one
	unit := (p.bounds.hi - p.bounds.lo) / float64(p.rows-1)
	for x := range p.cols {
		total := sumAt(cols, x)
		if !(total > 0) {
			continue
		}
		height := total/unit + 0.5 // in cells: the middle of the lowest row is zero
		for k := 0; k < p.rows && float64(k) < height; k++ {
			low, high := math.Max(float64(k)-0.5, 0), math.Min(float64(k)+0.5, height-0.5) // what is filled of it
			at := layerAt(cols, x, (low+high)/2*unit)
			a := &p.Areas[at]
			y := p.rows - 1 - k
			if r := edge(a.Fill, height-float64(k), p.ASCII); r != ' ' {
				owner[y*p.cols+x] = at + 1
				p.box.set(p.left+x, y, r, a.Ink)
			}
		}
	}
	for i := range p.Areas {
		p.nameArea(owner, i)
	}
}

// sumAt is the height of the stack in a column.
func sumAt(cols [][]float64, x int) (sum float64) {
	for _, c := range cols {
		if finite(c[x]) && c[x] > 0 {
			sum += c[x]
		}
	}
	return math.Min(sum, limit)
}

// layerAt returns the layer in which a value lies.
func layerAt(cols [][]float64, x int, v float64) (at int) {
	sum := 0.0
	for i, c := range cols {
		if finite(c[x]) && c[x] > 0 {
			at = i
			sum += c[x]
			if sum > v {
				break
			}
		}
	}
	return at
}

// edge is what to draw into a cell of which a share is filled.
func edge(fill rune, share float64, ascii bool) rune {
	if share >= 1 || fill != '█' || ascii {
		if share >= 0.5 {
			return fill
		}
		return ' '
	}
	return []rune(" ▁▂▃▄▅▆▇█")[min(int(share*8+0.5), 8)]
}

// nameArea writes the name of an area into it, as far to the right as it is thick
// enough.
func (p *plot) nameArea(owner []int, i int) {
	a := &p.Areas[i]
	n := utf8.RuneCountInString(a.Name) + 2
	if a.Name == "" || n > p.cols {
		return
	}
	for x := p.cols - n; x >= p.cols/2; x-- {
		first, last := -1, -1 // rows in which the place is all its own
		for y := range p.rows {
			if ownAll(owner[y*p.cols+x:y*p.cols+x+n], i+1) {
				if first < 0 {
					first = y
				}
				last = y
			} else if first >= 0 {
				break
			}
		}
		if first >= 0 {
			p.box.text(p.left+x, (first+last)/2, " "+plain(a.Name)+" ", a.NameInk)
			return
		}
	}
}

func ownAll(cells []int, who int) bool {
	for _, c := range cells {
		if c != who {
			return false
		}
	}
	return true
}

// heights returns the heights of the stack, for the axis to reach.
func heights(cols [][]float64) []float64 {
	if len(cols) == 0 {
		return nil
	}
	out := make([]float64, len(cols[0]))
	for x := range out {
		out[x] = sumAt(cols, x)
	}
	return out
}

// Height returns the highest column of a stack in a box of w columns: two charts
// that are to share a scale take the larger one's as their Floor.
func (s *Spec) Height(w int) (top float64) {
	for _, v := range heights(s.layers(s.grid(width(w), 1), width(w))) {
		top = math.Max(top, v)
	}
	return top
}

// layers gathers the areas into columns.
func (s *Spec) layers(g grid, n int) [][]float64 {
	cols := make([][]float64, len(s.Areas))
	for i := range s.Areas {
		cols[i] = g.gather(s.Areas[i].Values, s.Areas[i].Weights, s.End, n, Mean)
	}
	return cols
}
