package chart

// grid says how values lie on the dots of a plot: two a column where lines are fine,
// else one.
type grid struct {
	per   int // values a dot
	times int // dots a value; one of the two is 1
}

// Stretch is a part of the time line: the indices from From up to, not including, To.
type Stretch struct{ From, To int64 }

// grid fits Span values to as many dots as there are, or has Per values a column of
// wide dots.
func (s *Spec) grid(cols, wide int) grid {
	dots := max(cols*wide, 1)
	switch {
	case s.Span <= 0:
		return grid{(max(s.Per, 1) + wide - 1) / wide, 1}
	case s.Span >= dots:
		return grid{(s.Span + dots - 1) / dots, 1}
	}
	return grid{1, dots / s.Span}
}

// first and last are the dots of a value on an endless line.
func (g grid) first(at int64) int64 { return at / int64(g.per) * int64(g.times) }
func (g grid) last(at int64) int64  { return g.first(at) + int64(g.times) - 1 }

// gather makes dots of values, n of them, the last for the newest value.
func (g grid) gather(values, weights []float64, end int64, n int, how Reduce) []float64 {
	if g.times == 1 {
		return Columns(values, weights, end, g.per, n, how)
	}
	repeat := func(list []float64) []float64 {
		list = list[max(len(list)-n/g.times-1, 0):]
		out := make([]float64, 0, len(list)*g.times)
		for _, v := range list {
			for range g.times {
				out = append(out, v)
			}
		}
		return out
	}
	if weights != nil {
		weights = append(weights, make([]float64, max(len(values)-len(weights), 0))...)[:len(values)]
		weights = repeat(weights)
	}
	return Columns(repeat(values), weights, end*int64(g.times), 1, n, how)
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

// dot is the first dot of a moment, from the left edge of the plot; it may lie beyond.
func (p *plot) dot(at int64) int64 {
	at = min(at, p.End-1)
	return int64(p.cols*p.wide-1-p.blank()) - (p.last(p.End-1) - p.first(at))
}

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
		from, to := max(p.dot(x.From), 0), min(p.dot(x.To-1)+int64(p.times), n)
		for d := from; d < to; d++ {
			if out == nil {
				out = make([]bool, n)
			}
			out[d] = true
		}
	}
	return out
}
