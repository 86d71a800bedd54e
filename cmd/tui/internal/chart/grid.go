package chart

import "math"

// grid maps values to the dots of a plot; a column has two dots if lines are fine, otherwise one. The
// given number of dots shows the given number of values. Their ratio need not be an integer, so that
// any span fits any width. window is Spec.Window.
type grid struct{ dots, values, window int64 }

// Interval is the part of the time line with From <= index < To.
type Interval struct{ From, To int64 }

// grid returns a grid with Span values over all dots or, if Span is 0, with Per values per column.
func (s *Spec) grid(cols, dotsPerColumn int) grid {
	if s.Span <= 0 {
		return grid{dots: 1, values: int64((max(s.Per, 1) + dotsPerColumn - 1) / dotsPerColumn), window: int64(s.Window)} // values per dot, rounded up
	}
	// One column less than the plot has: the last column may be incomplete, and the oldest value may
	// share its dot.
	return grid{dots: int64(max(cols*dotsPerColumn-dotsPerColumn, 1)), values: int64(s.Span), window: int64(s.Window)}
}

// firstDot and lastDot return the range of dots of the value with index at, on an endless line of dots. It
// does not depend on the time of drawing, so that pictures scroll without changing shape. Computing the
// quotient and the remainder separately avoids overflow.
func (g grid) firstDot(at int64) int64 { return at/g.values*g.dots + at%g.values*g.dots/g.values }
func (g grid) lastDot(at int64) int64  { return max(g.firstDot(at), g.firstDot(at+1)-1) }

// valuesOn returns how many values are visible on n dots.
func (g grid) valuesOn(n int) int {
	return int(math.Ceil(float64(n+1) * float64(g.values) / float64(g.dots)))
}

// VisibleValues returns how many of the newest values a box of w columns shows, including those of which only a
// mean is visible. Series may omit older values.
func (s *Spec) VisibleValues(w int) int {
	p := newPlot(s, newBox(w, 0, s.Blank))
	return p.valuesOn(p.cols*p.dotsPerColumn) + s.Window
}

// gather reduces values, the newest of which has index end-1, to n dots, the last of which contains the newest
// value. A value that covers several dots is in each of them; dots without values are NaN. See Columns. If g has a
// window, Mean reduces a dot to slidingMean of its newest value.
func (g grid) gather(values, weights []float64, end int64, n int, how Reducer) []float64 {
	out := make([]float64, max(n, 0))
	for i := range out {
		out[i] = math.NaN()
	}
	if n <= 0 || len(values) == 0 || end <= 0 {
		return out
	}
	sums := make([]float64, n)
	left := g.lastDot(end-1) - int64(n-1)                    // index of the dot at the left edge
	window := int(max(g.window, (g.values+g.dots-1)/g.dots)) // at least the values of a dot
	for i := len(values) - min(g.valuesOn(n), len(values)); i < len(values); i++ {
		index, v, weight := end-int64(len(values)-i), values[i], weightOf(weights, i) // index on the time line
		if index < 0 {
			continue
		}
		first, last := max(g.firstDot(index)-left, 0), g.lastDot(index)-left
		switch {
		case how == Mean && g.window > 0:
			if index+1 < end && g.firstDot(index+1)-left == last { // a newer value has the same last dot
				last--
			}
			if first > last {
				continue
			}
			mean := slidingMean(values, weights, i, window)
			for d := first; d <= last; d++ {
				out[d] = mean
			}
		case isFinite(v) && weight > 0:
			for d := first; d <= last; d++ {
				addValue(&out[d], &sums[d], clampValue(v), weight, how)
			}
		}
	}
	return out
}

// missingDots returns how many dots of the last column have no value yet.
func (p *plot) missingDots() int {
	if p.End <= 0 {
		return 0
	}
	return p.dotsPerColumn - 1 - int(p.lastDot(p.End-1)%int64(p.dotsPerColumn))
}

// gather reduces the values of a series to the dots of the plot, from left to right. Dots of the last column
// without values yet repeat the last value.
func (p *plot) gather(line *Series) []float64 {
	blank := p.missingDots()
	dots := p.grid.gather(line.Values, line.Weights, p.End, p.cols*p.dotsPerColumn-blank, line.Reduce)
	for range blank {
		dots = append(dots, dots[len(dots)-1])
	}
	return dots
}

// dotPosition converts a dot of the endless line to a dot of the plot, which may be outside.
func (p *plot) dotPosition(dot int64) int64 {
	return int64(p.cols*p.dotsPerColumn-1-p.missingDots()) - (p.lastDot(p.End-1) - dot)
}

// dotAt returns the first dot in the plot of the value with this index. The dot may be outside the plot.
func (p *plot) dotAt(index int64) int64 { return p.dotPosition(p.firstDot(min(index, p.End-1))) }

// column returns the column of the value with this index, -1 if it is outside the plot.
func (p *plot) column(index int64) int {
	if index < 0 || p.End <= 0 {
		return -1
	}
	d := p.dotAt(index)
	if d < 0 || d >= int64(p.cols*p.dotsPerColumn) {
		return -1
	}
	return int(d) / p.dotsPerColumn
}

// unscaledDots reports for every dot whether it shows a value in an interval of p.UnscaledIntervals or a mean
// that includes one; nil if none does.
func (p *plot) unscaledDots() (out []bool) {
	n := int64(p.cols * p.dotsPerColumn)
	for _, interval := range p.UnscaledIntervals {
		if interval.From < 0 || interval.To <= interval.From || p.End <= 0 || interval.From >= p.End {
			continue
		}
		from, to := max(p.dotAt(interval.From), 0), n // n: the dots without values yet repeat the newest value
		if newest := interval.To - 1 + int64(p.meanSpan()); newest < p.End-1 {
			to = min(p.dotPosition(p.lastDot(newest)+1), n)
		}
		for d := from; d < to; d++ {
			if out == nil {
				out = make([]bool, n)
			}
			out[d] = true
		}
	}
	return out
}
