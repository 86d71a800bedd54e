package chart

import "math"

// grid says how values lie on the dots of a plot: two a column where lines are fine,
// else one. So many dots hold so many values, whichever are more: no span of time has
// to be a whole number of dots, or a dot a whole number of values.
type grid struct{ dots, values int64 }

// Stretch is a part of the time line: the indices from From up to, not including, To.
type Stretch struct{ From, To int64 }

// grid fits Span values to as many dots as there are, or has Per values a column of
// wide dots.
func (s *Spec) grid(cols, wide int) grid {
	if s.Span <= 0 {
		return grid{1, int64((max(s.Per, 1) + wide - 1) / wide)}
	}
	// The last column may be incomplete, and the oldest value may share its dot.
	return grid{int64(max(cols*wide-wide, 1)), int64(s.Span)}
}

// first and last are the dots of a value on an endless line. The same value has the same
// dots whenever it is drawn, so a picture only moves.
func (g grid) first(at int64) int64 { return at/g.values*g.dots + at%g.values*g.dots/g.values }
func (g grid) last(at int64) int64  { return max(g.first(at), g.first(at+1)-1) }

// within is how many values can be seen on n dots.
func (g grid) within(n int) int {
	return int(math.Ceil(float64(n+1) * float64(g.values) / float64(g.dots)))
}

// VisibleValues returns how many of the newest values a box of w columns shows. Older values may
// be left out of the series.
func (s *Spec) VisibleValues(w int) int {
	wide := 1
	if s.fine() {
		wide = fineWide
	}
	cols := width(w)
	return s.grid(cols, wide).within(cols * wide)
}

// gather makes dots of values, n of them, the last for the newest value. A dot without a
// usable value is NaN. Values that are not finite are left out, and so are values with a
// weight that is not positive.
func (g grid) gather(values, weights []float64, end int64, n int, how Reduce) []float64 {
	out := make([]float64, max(n, 0))
	for i := range out {
		out[i] = math.NaN()
	}
	if n <= 0 || len(values) == 0 || end <= 0 {
		return out
	}
	sums := make([]float64, n)
	left := g.last(end-1) - int64(n-1) // the dot at the left edge
	for i := len(values) - min(g.within(n), len(values)); i < len(values); i++ {
		at, v := end-int64(len(values)-i), values[i]
		weight := weightOf(weights, i)
		if at < 0 || !finite(v) || !(weight > 0) {
			continue
		}
		for d := max(g.first(at)-left, 0); d <= g.last(at)-left; d++ {
			gather(&out[d], &sums[d], clampValue(v), weight, how)
		}
	}
	return out
}

// blank is how many dots of the last column are still to come.
func (p *plot) blank() int {
	if p.End <= 0 {
		return 0
	}
	return p.wide - 1 - int(p.last(p.End-1)%int64(p.wide))
}

// gather makes the dots of a line, from the left edge of the plot to the right.
func (p *plot) gather(line *Series) []float64 {
	blank := p.blank()
	dots := p.grid.gather(line.Values, line.Weights, p.End, p.cols*p.wide-blank, line.Reduce)
	for range blank {
		dots = append(dots, dots[len(dots)-1]) // until there is more
	}
	return dots
}

// onto is where a dot of the endless line lies, from the left edge of the plot; it may
// lie beyond.
func (p *plot) onto(dot int64) int64 {
	return int64(p.cols*p.wide-1-p.blank()) - (p.last(p.End-1) - dot)
}

// dot is the first dot of a moment, from the left edge of the plot; it may lie beyond.
func (p *plot) dot(at int64) int64 { return p.onto(p.first(min(at, p.End-1))) }

// since is the first dot that holds nothing from before a moment.
func (p *plot) since(at int64) int64 { return p.onto(p.last(min(at, p.End)-1) + 1) }

// column returns the column of a moment, or -1.
func (p *plot) column(at int64) int {
	if at < 0 || p.End <= 0 {
		return -1
	}
	d := p.dot(at)
	if d < 0 || d >= int64(p.cols*p.wide) {
		return -1
	}
	return int(d) / p.wide
}

// aside says of every dot whether it lies in a stretch that the scale does not go by;
// nil if none does.
func (p *plot) aside() (out []bool) {
	n := int64(p.cols * p.wide)
	for _, x := range p.Aside {
		if x.From < 0 || x.To <= x.From || p.End <= 0 || x.From >= p.End {
			continue
		}
		from, to := max(p.dot(x.From), 0), min(p.onto(p.last(min(x.To, p.End)-1)+1), n)
		for d := from; d < to; d++ {
			if out == nil {
				out = make([]bool, n)
			}
			out[d] = true
		}
	}
	return out
}
