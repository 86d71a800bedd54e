package chart

import (
	"math"
	"unicode/utf8"

	"wirelab/internal/units"
)

// XY is a point of a plane.
type XY struct{ X, Y float64 }

// Dot is a named point of a scatter chart.
type Dot struct {
	XY
	Name  rune // drawn at the point; one column wide
	Style Style
}

// ScatterSpec describes a chart with dots in a plane, and a curve. Both axes begin at 0 and include all dots; the curve
// may leave the chart.
type ScatterSpec struct {
	Dots       []Dot
	Curve      []XY    // in the order of X
	AxisX      string  // what the horizontal axis shows, drawn at its end
	MinX, MinY float64 // the ends of the axes are at least these

	Blank, Axis, Label, Line Style // of empty cells, axes, their labels, and the curve
}

// DrawScatter returns a box of exactly w x h cells: the plot, and below it the horizontal axis with its labels. A dot whose
// cell has another dot is drawn in the next free cell to the right, or else to the left. If the box is too small for this, it is empty.
func DrawScatter(s *ScatterSpec, w, h int) *Box {
	b := newBox(w, h, s.Blank)
	p := newPlot(&Spec{Axis: s.Axis, Label: s.Label, Floor: s.MinY}, b)
	p.rows -= 2 // for the axis and its labels
	if p.rows < 2 || p.cols < 2 {
		return b
	}
	maxX, values := s.MinX, make([]float64, 0, len(s.Dots))
	for _, d := range s.Dots {
		if isFinite(d.X) && isFinite(d.Y) {
			maxX, values = max(maxX, clampValue(d.X)), append(values, clampValue(d.Y))
		}
	}
	maxX = max(maxX, minHeight)
	p.bounds = p.chooseBounds([][]float64{values})
	column := func(x float64) int { return plotLeft + int(math.Round(x/maxX*float64(p.cols-1))) }
	s.drawCurve(p, maxX, column)
	taken := map[[2]int]bool{} // cells with a dot
	for _, d := range s.Dots {
		if isFinite(d.X) && isFinite(d.Y) && d.X >= 0 {
			x, y := column(clampValue(d.X)), p.bounds.row(clampValue(d.Y), p.rows)
			step := 1
			for at := x; taken[[2]int{x, y}] && x > plotLeft; x += step {
				if x == plotLeft+p.cols-1 { // the end of the row
					x, step = at, -1
				}
			}
			taken[[2]int{x, y}] = true
			b.set(x, y, d.Name, d.Style)
		}
	}
	p.drawValueAxis()
	s.drawAxisX(p, maxX, column)
	return b
}

// drawCurve draws the curve in each column between two of its points, as far as it is in the plot.
func (s *ScatterSpec) drawCurve(p *plot, maxX float64, column func(float64) int) {
	for i := 1; i < len(s.Curve); i++ {
		from, to := s.Curve[i-1], s.Curve[i]
		if !isFinite(from.X) || !isFinite(to.X) || from.X < 0 || from.X > maxX {
			continue
		}
		first, last := column(from.X), column(min(clampValue(to.X), maxX))
		for x := first; x <= last; x++ {
			y := from.Y
			if last > first {
				y += (to.Y - from.Y) * float64(x-first) / float64(last-first)
			}
			if isFinite(y) && y <= p.bounds.hi && y >= p.bounds.lo {
				p.box.set(x, p.bounds.row(y, p.rows), '·', s.Line)
			}
		}
	}
}

// drawAxisX draws the horizontal axis with labels at round values, and AxisX at its end.
func (s *ScatterSpec) drawAxisX(p *plot, maxX float64, column func(float64) int) {
	p.drawBottomAxis()
	const labelDistance = 10 // columns
	end := p.box.W - utf8.RuneCountInString(s.AxisX)
	if end <= plotLeft {
		end = p.box.W
	} else {
		p.box.text(end, p.rows+1, s.AxisX, s.Label)
	}
	niceSteps(maxX*labelDistance/float64(p.cols), func(step float64) bool {
		for x := 0.0; x <= maxX; x += step {
			label := units.Trimmed(x, 1)
			if from := column(x) - utf8.RuneCountInString(label)/2; from+utf8.RuneCountInString(label) < end {
				p.box.set(column(x), p.rows, axisTick, s.Axis)
				p.box.text(max(from, 0), p.rows+1, label, s.Label)
			}
		}
		return true
	})
}
