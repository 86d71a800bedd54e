package chart

import (
	"math"
	"slices"
	"strconv"

	"wirelab/internal/units"
)

// bounds is the range of values that a plot shows. Every label stands on a row
// of its own, the same number of rows above the one before, and its row means
// exactly the number it bears.
type bounds struct {
	lo, hi float64 // values of the lowest and of the highest row
	step   float64 // from label to label
	every  int     // rows from label to label
	base   int     // rows from zero up to the lowest row
}

// mantissas are the round steps, times a power of ten.
var mantissas = [...]float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8}

// niceSteps calls try with ever larger round steps, from one that is not below
// least > 0, until it returns true.
func niceSteps(least float64, try func(step float64) bool) {
	for exp := math.Floor(math.Log10(least)); ; exp++ {
		for _, m := range mantissas {
			if step := m * math.Pow(10, exp); step >= least && try(step) {
				return
			}
		}
	}
}

// smallest is the least height of an axis; below it a plot counts as flat.
const smallest = 1e-6

// nearGuide: a guide further than this share above the data would only squash it.
const nearGuide = 0.4

// near says whether the axis is to reach up to a guide, where the data do to hi.
func (r *Rule) near(hi float64) bool {
	return finite(r.Value) && math.Abs(r.Value) <= limit && hi >= nearGuide*r.Value
}

// reach finds the range that the plot must show: all columns, zero, floor, and
// the guides that are near the data.
func reach(cols [][]float64, rules []Rule, floor float64) (lo, hi float64) {
	for _, c := range cols {
		for _, v := range c {
			if finite(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	for _, r := range rules {
		if r.near(hi) {
			hi = math.Max(hi, r.Value)
		}
	}
	if finite(floor) {
		hi = math.Max(hi, math.Min(floor, limit))
	}
	if math.Max(hi, -lo) < smallest {
		return 0, 1
	}
	return lo, hi
}

// farOff is how many times as high as the others something loose must be to lie off
// the chart.
const farOff = 4

// bearing returns the columns that the axis goes by: those of the areas and of the
// lines that must not leave the chart, as far as they are new; and of what is loose
// or old whatever is not far off.
func (p *plot) bearing(dots [][]float64, areas []float64, apart []bool) [][]float64 {
	since := 0
	if p.Since > 0 {
		since = int(min(max(p.since(p.Since), 0), int64(p.cols*p.wide)))
	}
	firm, loose, old := [][]float64{}, [][]float64{}, [][]float64{}
	sort := func(cols []float64, isLoose bool) {
		cols = without(cols, apart)
		cut := min(since, len(cols))
		old = append(old, cols[:cut])
		if isLoose {
			loose = append(loose, cols[cut:])
		} else {
			firm = append(firm, cols[cut:])
		}
	}
	sort(areas, len(areas) == 0)
	for i := range dots {
		sort(dots[i], p.Series[i].Loose)
	}
	if len(firm) == 0 {
		return append(loose, old...)
	}
	_, top := reach(firm, nil, p.Floor)
	firm = append(firm, near(loose, top)...)
	for _, r := range p.Rules {
		if r.near(top) {
			top = math.Max(top, r.Value)
		}
	}
	return append(firm, near(old, top)...)
}

// without returns the values but for those that lie apart.
func without(values []float64, apart []bool) []float64 {
	if apart == nil {
		return values
	}
	out := slices.Clone(values)
	for i := range out {
		if apart[i] {
			out[i] = math.NaN()
		}
	}
	return out
}

// axis finds the bounds for what the axis goes by.
func (p *plot) axis(bearing [][]float64) bounds {
	switch {
	case p.Whole > 0:
		return quarters(p.Whole, p.rows)
	case p.Fit && len(p.Areas) == 0:
		lo, hi := fitReach(bearing, p.Rules)
		return fitBounds(lo, hi, p.rows)
	}
	lo, hi := reach(bearing, p.Rules, p.Floor)
	return fixBounds(lo, hi, p.rows)
}

// near returns those that are not far off a height.
func near(list [][]float64, top float64) (out [][]float64) {
	for _, cols := range list {
		if _, hi := reach([][]float64{cols}, nil, 0); hi <= farOff*top {
			out = append(out, cols)
		}
	}
	return out
}

// fixBounds finds the tightest bounds with round labels around lo <= 0 <= hi for
// a plot of at least two rows.
func fixBounds(lo, hi float64, rows int) bounds {
	every := labelRows(rows)
	b := bounds{every: every}
	niceSteps((hi-lo)*float64(every)/float64(rows-1), func(step float64) bool {
		row := step / float64(every)
		below, above := math.Ceil(-lo/row), math.Ceil(hi/row)
		b.step, b.lo, b.hi, b.base = step, -below*row, (float64(rows-1)-below)*row, -int(below)
		return below+above <= float64(rows-1)
	})
	return b
}

// labelRows is how many rows lie from label to label.
func labelRows(rows int) int {
	every := 2
	if rows >= 16 {
		every = 3
	}
	return min(every, rows-1)
}

// quarters are the bounds of shares of a whole: quarters of it, or all of it where there
// are few rows.
func quarters(whole float64, rows int) bounds {
	parts := 4
	if rows <= parts {
		parts = 1
	}
	b := bounds{step: whole / float64(parts), every: (rows - 1) / parts}
	b.hi = b.step / float64(b.every) * float64(rows-1)
	return b
}

// row returns the row of v on a plot of the given number of rows, 0 at the top.
func (b bounds) row(v float64, rows int) int {
	return rows - 1 - int(math.Round(b.scale(v, rows)))
}

// scale maps v to 0 (bottom) .. rows-1 (top).
func (b bounds) scale(v float64, rows int) float64 {
	t := (v - b.lo) / (b.hi - b.lo)
	return math.Min(math.Max(t, 0), 1) * float64(rows-1)
}

// dots maps v to the dots of a plot of fine lines, from the bottom: the middle of a row
// means what the row does.
func (b bounds) dots(v float64, rows int) float64 {
	t := (v - b.lo) / (b.hi - b.lo) * float64(rows-1)
	return math.Min(math.Max(fineTall*t+(fineTall-1)/2., 0), float64(fineTall*rows-1))
}

// gutter is the width of the labels of the vertical axis.
const gutter = units.ShortWidth

// fitReach finds the range of the data alone, with the guides that lie in it or near it.
func fitReach(cols [][]float64, rules []Rule) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range cols {
		for _, v := range c {
			if finite(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	if lo > hi {
		return 0, 1
	}
	room := (hi - lo) / 2
	for _, r := range rules {
		if finite(r.Value) && math.Abs(r.Value) <= limit && r.Value >= lo-room && r.Value <= hi+room {
			lo, hi = math.Min(lo, r.Value), math.Max(hi, r.Value)
		}
	}
	// Of what does not move at all a hundredth either way is shown.
	const still = 0.02
	if least := math.Max(still*math.Max(math.Abs(lo), math.Abs(hi)), smallest); hi-lo < least {
		return lo - least/2, lo + least/2
	}
	return lo, hi
}

// fitBounds finds the tightest bounds with round labels around any range.
func fitBounds(lo, hi float64, rows int) bounds {
	if rows < 3 && lo < 0 && hi > 0 {
		lo = 0 // no two rows lie on either side of a third
	}
	b := bounds{every: labelRows(rows)}
	niceSteps((hi-lo)*float64(b.every)/float64(rows-1), func(step float64) bool {
		row := step / float64(b.every)
		bottom := math.Floor(lo / row)
		b.step, b.base, b.lo, b.hi = step, int(bottom), bottom*row, (bottom+float64(rows-1))*row
		return math.Ceil(hi/row)-bottom <= float64(rows-1) && labelsDiffer(step, math.Max(math.Abs(b.lo), math.Abs(b.hi)))
	})
	return b
}

// decimals is how many digits after the point there is room for beside a number as large
// as top, after the unit that Number gives it, which is returned too.
func decimals(top float64) (digits int, unit float64) {
	unit = 1
	room := gutter - len("-.")
	for top/unit >= 9999.5 {
		unit *= 1000
		room = gutter - len("-.k")
	}
	for v := top / unit; v >= 1; v /= 10 {
		room--
	}
	return max(room, 0), unit
}

// labelsDiffer reports whether labels a step apart, up to top, are written as different
// numbers.
func labelsDiffer(step, top float64) bool {
	digits, unit := decimals(top)
	steps := step / unit * math.Pow(10, float64(digits))
	return math.Abs(steps-math.Round(steps)) < 1e-6 && steps > 0.5
}

// label writes v with as many digits as tell it from what is a step away.
func label(v, step float64) string {
	for digits := range 4 {
		if k := step * math.Pow(10, float64(digits)); math.Abs(k-math.Round(k)) > 1e-6*k {
			continue
		}
		if s := strconv.FormatFloat(v, 'f', digits, 64); digits > 0 && v != 0 && math.Abs(v) < 9999.5 && len(s) <= gutter {
			return s
		}
		break
	}
	return units.Short(v)
}
