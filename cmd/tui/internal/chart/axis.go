package chart

import (
	"math"
	"strconv"
)

// bounds is the range of values that a plot shows, and the step of its labels.
type bounds struct{ lo, hi, step float64 }

// rungs are the mantissas at which an axis may end, each with a label step for
// few rows and one for many.
var rungs = [...]struct{ top, coarse, fine float64 }{
	{1, 0.5, 0.25}, {1.5, 0.5, 0.5}, {2, 1, 0.5}, {2.5, 0.5, 0.5}, {3, 1, 1},
	{4, 2, 1}, {5, 2.5, 1}, {6, 2, 2}, {8, 4, 2}, {10, 5, 2.5},
}

// manyRows is from where on the finer labels have room.
const manyRows = 9

// niceTop returns the smallest round number that is not below v > 0, and the
// step of the labels up to it.
func niceTop(v float64, rows int) (top, step float64) {
	for exp := math.Floor(math.Log10(v)); ; exp++ {
		scale := math.Pow(10, exp)
		for _, r := range rungs {
			if top := r.top * scale; top >= v {
				if rows >= manyRows {
					return top, r.fine * scale
				}
				return top, r.coarse * scale
			}
		}
	}
}

// smallest is the least height of an axis; below it a plot counts as flat.
const smallest = 1e-6

// fixBounds finds round bounds around every column and around zero. The top is
// at least floor, and at least the value of every guide that is near the data.
func fixBounds(cols [][]float64, rules []Rule, floor float64, rows int) bounds {
	lo, hi := 0.0, 0.0
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
		return bounds{0, 1, 0.5}
	}
	b := bounds{}
	if hi > 0 && hi >= -lo {
		b.hi, b.step = niceTop(hi, rows)
		b.lo = -math.Ceil(-lo/b.step) * b.step
		return b
	}
	b.lo, b.step = niceTop(-lo, rows)
	b.lo = -b.lo
	b.hi = math.Ceil(hi/b.step) * b.step
	return b
}

// nearGuide: a guide further than this share above the data would only squash it.
const nearGuide = 0.4

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
