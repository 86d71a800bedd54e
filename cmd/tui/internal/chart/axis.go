package chart

import (
	"math"
	"strconv"
)

// bounds is the range of values that a plot shows. Every label stands on a row
// of its own, the same number of rows above the one before, and its row means
// exactly the number it bears.
type bounds struct {
	lo, hi float64 // values of the lowest and of the highest row
	step   float64 // from label to label
	every  int     // rows from label to label
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
		if finite(r.Value) && r.Value <= limit && hi >= nearGuide*r.Value {
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

// farOff is how many times as high as the others a loose line must be to lie off the
// chart.
const farOff = 4

// bearing returns the columns that the axis goes by: those of the areas, of the lines
// that must not leave the chart, and of the others that are not far off.
func bearing(s *Spec, reduced [][]float64, areas []float64) [][]float64 {
	out := [][]float64{areas}
	tight := len(areas) > 0
	for i := range reduced {
		if !s.Series[i].Loose {
			out, tight = append(out, reduced[i]), true
		}
	}
	_, top := reach(out, nil, s.Floor)
	for i := range reduced {
		if _, hi := reach(reduced[i:i+1], nil, 0); s.Series[i].Loose && (hi <= farOff*top || !tight) {
			out = append(out, reduced[i])
		}
	}
	return out
}

// fixBounds finds the tightest bounds with round labels around lo <= 0 <= hi for
// a plot of at least two rows.
func fixBounds(lo, hi float64, rows int) bounds {
	every := 2
	if rows >= 16 {
		every = 3
	}
	every = min(every, rows-1)
	b := bounds{every: every}
	niceSteps((hi-lo)*float64(every)/float64(rows-1), func(step float64) bool {
		row := step / float64(every)
		below, above := math.Ceil(-lo/row), math.Ceil(hi/row)
		b.step, b.lo, b.hi = step, -below*row, (float64(rows-1)-below)*row
		return below+above <= float64(rows-1)
	})
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

// gutter is the width of the labels of the vertical axis.
const gutter = 5

// Number writes v in at most five characters: 7, 12.5, 340, 12k, 1.5M.
func Number(v float64) string {
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	u := 0
	for math.Abs(v) >= 9999.5 && u < len(units)-1 {
		v /= 1000
		u++
	}
	digits := 0
	if math.Abs(v) < 100 && v != math.Round(v) {
		digits = 1
		if math.Abs(v) < 1 {
			digits = 2
		}
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if len(s)+len(units[u]) > gutter {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return s + units[u]
}
