package chart

import (
	"unicode/utf8"
)

// Point is a value with its interval, for a chart along an axis of names.
type Point struct {
	Value, Lo, Hi float64 // NaN if unknown
	Name          string  // below the value, if there is room; every rune must be one column wide
}

// PointsSpec describes a chart with a dot and an interval for each of several points. Its value axis has round
// steps like that of Draw.
type PointsSpec struct {
	Points   []Point
	Selected int  // index of the selected point; if not all points fit, those around it are drawn
	Zero     bool // the value axis begins at 0 instead of fitting the data

	Blank, Axis, Label             Style // of empty cells, axes and their labels
	Dot, Interval, Chosen, Current Style // of dots, intervals, the selected dot, and the name of the selected point
}

// DrawPoints returns a box of exactly w x h cells: the plot, and below it an axis and the names of the points.
// If the box is too small for this, it is empty.
func DrawPoints(s *PointsSpec, w, h int) *Box {
	b := newBox(w, h, s.Blank)
	p := newPlot(&Spec{Fit: !s.Zero, Axis: s.Axis, Label: s.Label}, b)
	p.rows -= 2 // for the axis and the names
	if p.rows < 2 || p.cols < 2 || len(s.Points) == 0 {
		return b
	}
	const widest = 24                                                       // columns for a point; wider charts are hard to read
	n := min(len(s.Points), p.cols)                                         // points that fit
	first := max(0, min(s.Selected-n/2, len(s.Points)-n))                   // the first of them
	step := min(p.cols/n, widest)                                           // columns for each point
	column := func(i int) int { return plotLeft + (i-first)*step + step/2 } // of point i
	points, values := s.Points[first:first+n], make([]float64, 0, 3*n)      // values that the axis includes
	for _, x := range points {
		for _, v := range []float64{x.Value, x.Lo, x.Hi} {
			if isFinite(v) {
				values = append(values, clampValue(v))
			}
		}
	}
	p.bounds = p.chooseBounds([][]float64{values})
	for i := range points {
		s.drawPoint(p, &points[i], column(first+i), step, first+i == s.Selected)
	}
	p.drawValueAxis()
	s.drawNames(p, first, n, step, column)
	return b
}

// drawPoint draws a point in column x: a bar from the lower to the upper bound of its interval, with ends of at most
// step columns, and a dot.
func (s *PointsSpec) drawPoint(p *plot, point *Point, x, step int, isSelected bool) {
	if !isFinite(point.Value) {
		return
	}
	if isFinite(point.Lo) && isFinite(point.Hi) {
		from, to := p.bounds.row(point.Hi, p.rows), p.bounds.row(point.Lo, p.rows)
		for y := from; y <= to; y++ {
			p.box.set(x, y, '│', s.Interval)
		}
		if arm := min(step/4, 3); from < to {
			for k := -arm; k <= arm; k++ {
				p.box.set(x+k, from, '─', s.Interval)
				p.box.set(x+k, to, '─', s.Interval)
			}
			p.box.set(x, from, '┬', s.Interval)
			p.box.set(x, to, '┴', s.Interval)
		}
	}
	dot, style := '●', s.Dot
	if isSelected {
		dot, style = '◆', s.Chosen
	}
	p.box.set(x, p.bounds.row(point.Value, p.rows), dot, style)
}

// axisTick is a tick of the horizontal axis.
const axisTick = '┬'

// drawBottomAxis draws a horizontal axis in the row below the plot.
func (p *plot) drawBottomAxis() {
	p.box.set(gutter, p.rows, '└', p.Axis)
	for x := plotLeft; x < p.box.W; x++ {
		p.box.set(x, p.rows, '─', p.Axis)
	}
}

// drawNames draws the axis below the plot, and below that the names of n points from first on, each cut to step columns.
// If that is too little for names, only some points have one, also the selected one. column returns the column of a point.
func (s *PointsSpec) drawNames(p *plot, first, n, step int, column func(i int) int) {
	p.drawBottomAxis()
	width := 0
	for i := range s.Points[first : first+n] {
		width = max(width, utf8.RuneCountInString(s.Points[first+i].Name))
	}
	const enough = 8 // columns for a cut name
	every := (min(width, enough) + step) / step
	for i := first; i < first+n; i++ {
		p.box.set(column(i), p.rows, axisTick, s.Axis)
		if (i-s.Selected)%every != 0 {
			continue
		}
		name, style := []rune(replaceWide(s.Points[i].Name)), s.Label
		if space := max(every*step-1, 1); len(name) > space {
			name = append(name[:space-1], '…')
		}
		if i == s.Selected {
			style = s.Current
		}
		if x := column(i) - len(name)/2; x+len(name) <= p.box.W {
			p.box.text(max(x, 0), p.rows+1, string(name), style)
		}
	}
}
