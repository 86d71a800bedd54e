package chart

import (
	"math"
	"slices"
	"strconv"

	"wirelab/internal/units"
)

// bounds is the range of values that a plot shows. Labels are on rows at equal distances, and the
// value of such a row is exactly its label.
type bounds struct {
	lo, hi       float64 // values of the lowest and the highest row
	step         float64 // value between two labels
	rowsPerLabel int     // rows between two labels
}

// mantissas are the mantissas of round steps; the factor is a power of ten.
var mantissas = [...]float64{1, 2, 2.5, 5}

// niceSteps calls accept with increasing round steps, starting at the first that is at least minStep > 0,
// until it returns true.
func niceSteps(minStep float64, accept func(step float64) bool) {
	for exp := math.Floor(math.Log10(minStep)); ; exp++ {
		for _, m := range mantissas {
			if step := m * math.Pow(10, exp); step >= minStep && accept(step) {
				return
			}
		}
	}
}

// minHeight is the minimum height of an axis; a plot below it counts as flat.
const minHeight = 1e-6

// maxRuleDistance is the minimum ratio of data to rule for the axis to include the rule; a rule further
// above would flatten the data.
const maxRuleDistance = 0.4

// isNear reports whether the rule is near enough to the data, which reach up to hi, for the axis to include
// it.
func (r *Rule) isNear(hi float64) bool {
	return isFinite(r.Value) && math.Abs(r.Value) <= limit && hi >= maxRuleDistance*r.Value
}

// extend returns the range from lo to hi, extended to all finite values of cols.
func extend(lo, hi float64, cols [][]float64) (float64, float64) {
	for _, c := range cols {
		for _, v := range c {
			if isFinite(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// dataRange returns the range that the plot must include: all columns, 0, floor, and the rules near the
// data.
func dataRange(cols [][]float64, rules []Rule, floor float64) (lo, hi float64) {
	lo, hi = extend(0, 0, cols)
	for _, r := range rules {
		if r.isNear(hi) {
			hi = max(hi, r.Value)
		}
	}
	if isFinite(floor) {
		hi = max(hi, min(floor, limit))
	}
	if max(hi, -lo) < minHeight {
		return 0, 1
	}
	return lo, hi
}

// farFactor is how many times higher than the others loose values must be to be left off the chart.
const farFactor = 4

// scaledValues returns the values that determine the axis: areas and lines that must not leave the
// chart, and loose lines that are not far above them. dots are the values of each line, areas the heights of
// the stack, and unscaled is true for dots that do not count, unless they are most of the plot; nil means none.
func (p *plot) scaledValues(dots [][]float64, areas []float64, unscaled []bool) [][]float64 {
	first := max(0, int(p.dotAt(0))) // with values
	if first < len(unscaled) && isMostlySet(unscaled[first:]) {
		unscaled = nil
	}
	fixed, loose := [][]float64{}, [][]float64{}
	if len(areas) > 0 {
		fixed = append(fixed, maskValues(areas, unscaled))
	}
	for i := range dots {
		values := maskValues(dots[i], unscaled)
		if p.Series[i].Loose {
			loose = append(loose, values)
		} else {
			fixed = append(fixed, values)
		}
	}
	if len(fixed) == 0 {
		return loose
	}
	_, top := dataRange(fixed, nil, p.Floor)
	return append(fixed, withoutFar(loose, top)...)
}

// isMostlySet reports whether more than half of flags are set.
func isMostlySet(flags []bool) bool {
	n := 0
	for _, isSet := range flags {
		if isSet {
			n++
		}
	}
	return 2*n > len(flags)
}

// maskValues returns values with NaN where masked is set. masked may be nil.
func maskValues(values []float64, masked []bool) []float64 {
	if masked == nil {
		return values
	}
	out := slices.Clone(values)
	for i := range out {
		if masked[i] {
			out[i] = math.NaN()
		}
	}
	return out
}

// chooseBounds returns the bounds for the values of scaledValues: shares of a whole, bounds that fit the
// data, or bounds that include 0. Without values other than 0, the only labels are those of the lower and the upper end.
func (p *plot) chooseBounds(values [][]float64) bounds {
	isValue := func(v float64) bool { return isFinite(v) && math.Abs(v) >= minHeight }
	switch {
	case p.Whole > 0:
		return shareBounds(p.Whole, p.rows)
	case !slices.ContainsFunc(values, func(cols []float64) bool { return slices.ContainsFunc(cols, isValue) }):
		_, top := dataRange(nil, nil, p.Floor)
		return bounds{hi: top, step: top, rowsPerLabel: p.rows - 1}
	case p.Fit && len(p.Areas) == 0:
		lo, hi := fitRange(values, p.Rules)
		return fitBounds(lo, hi, p.rows)
	}
	lo, hi := dataRange(values, p.Rules, p.Floor)
	return fitBounds(lo, hi, p.rows)
}

// withoutFar returns the elements of list that are at most farFactor times higher than top. Of the others it returns
// the values up to top, because only values above the chart are marked.
func withoutFar(list [][]float64, top float64) (out [][]float64) {
	for _, cols := range list {
		if _, hi := dataRange([][]float64{cols}, nil, 0); hi > farFactor*top {
			cols = slices.DeleteFunc(slices.Clone(cols), func(v float64) bool { return v > top })
		}
		out = append(out, cols)
	}
	return out
}

// tightestBounds returns bounds with round labels for a plot of rows >= 2 rows that shows a range of height > 0.
// It tries several distances between labels, in rows, each with increasing round steps, until fill accepts the
// bounds. fill gets bounds with step and rowsPerLabel, sets the other fields, and reports whether the bounds
// include the range. A larger distance is used only if it makes the picture clearly taller.
func tightestBounds(height float64, rows int, fill func(*bounds) bool) (best bounds) {
	const clearly = 0.9
	minDistance, maxDistance := 2, 5
	if rows >= 16 {
		minDistance, maxDistance = 3, 6
	}
	minDistance = min(minDistance, rows-1)
	maxDistance = max(minDistance, min(maxDistance, (rows-1)/2))
	if rows < 5 { // at least three labels, if there are rows for them
		maxDistance = rows - 1
	}
	for distance := minDistance; distance <= maxDistance; distance++ {
		b := bounds{rowsPerLabel: distance}
		niceSteps(height*float64(distance)/float64(rows-1), func(step float64) bool {
			b.step = step
			return fill(&b)
		})
		if best.rowsPerLabel == 0 || b.hi-b.lo < clearly*(best.hi-best.lo) {
			best = b
		}
	}
	return best
}

// shareBounds returns bounds from 0 to whole, with labels at quarters or, with few rows, at the whole
// only.
func shareBounds(whole float64, rows int) bounds {
	parts := 4
	if rows <= parts {
		parts = 1
	}
	b := bounds{step: whole / float64(parts), rowsPerLabel: (rows - 1) / parts}
	b.hi = b.step / float64(b.rowsPerLabel) * float64(rows-1)
	return b
}

// fromZero returns the number of a row, 0 at the top of a plot of the given number of rows, counted upwards from the
// row of value 0.
func (b bounds) fromZero(row, rows int) int {
	height := float64(rows-1-row) / float64(rows-1) // share of the plot below the row
	return int(math.Round((b.lo + height*(b.hi-b.lo)) / b.step * float64(b.rowsPerLabel)))
}

// row returns the row of v on a plot of the given number of rows, 0 at the top.
func (b bounds) row(v float64, rows int) int {
	return rows - 1 - int(math.Round(b.scale(v, rows)))
}

// scale maps v to 0 (bottom) .. rows-1 (top).
func (b bounds) scale(v float64, rows int) float64 {
	t := (v - b.lo) / (b.hi - b.lo)
	return min(max(t, 0), 1) * float64(rows-1)
}

// scaleDots maps v to the dots of a plot of fine lines, 0 at the bottom. The centre of a row, which is
// between two dots, has the value of the row.
func (b bounds) scaleDots(v float64, rows int) float64 {
	row := (v - b.lo) / (b.hi - b.lo) * float64(rows-1)
	return min(max(fineDotsDown*row+(fineDotsDown-1)/2., 0), float64(fineDotsDown*rows-1))
}

// gutter is the width of the labels of the vertical axis.
const gutter = units.ShortWidth

// fitRange returns the range of the data, extended to rules that are at most half the range away; 0 to 1
// without data and for zeros. Constant data get a range of 1 % in either direction.
func fitRange(cols [][]float64, rules []Rule) (lo, hi float64) {
	lo, hi = extend(math.Inf(1), math.Inf(-1), cols)
	maxDistance := (hi - lo) / 2
	for _, r := range rules {
		if isFinite(r.Value) && math.Abs(r.Value) <= limit && r.Value >= lo-maxDistance && r.Value <= hi+maxDistance {
			lo, hi = min(lo, r.Value), max(hi, r.Value)
		}
	}
	const minRelativeRange = 0.02
	largest := max(hi, -lo)
	if largest < minHeight {
		return 0, 1
	}
	minRange := minRelativeRange * largest
	if hi-lo < minRange {
		middle := (lo + hi) / 2
		return middle - minRange/2, middle + minRange/2
	}
	return lo, hi
}

// fitBounds returns the tightest bounds with round, distinct labels that include lo to hi. Two rows that show
// values on both sides of 0 have equal distances from 0.
func fitBounds(lo, hi float64, rows int) bounds {
	height := float64(rows - 1) // rows between the lowest and the highest value
	if lo < 0 && hi > 0 {
		height = max(height, 2)
	}
	return tightestBounds(hi-lo, rows, func(b *bounds) bool {
		row := b.step / float64(b.rowsPerLabel) // value per row
		bottom := math.Floor(lo / row)          // number of the lowest row, counted from the row of value 0
		b.lo, b.hi = bottom*row, (bottom+height)*row
		top := max(math.Abs(b.lo), math.Abs(b.hi))
		return math.Ceil(hi/row)-bottom <= height && (top < minLabelled || labelsDiffer(b.step, top))
	})
}

// minLabelled is the height of the lowest axis whose labels must differ; below it they have too few decimals.
const minLabelled = 0.01

// labelDecimals returns how many decimals fit into a label for numbers up to top, and the unit (1,
// 1000, ...) in which units.Short writes them.
func labelDecimals(top float64) (decimals int, unit float64) {
	unit = 1
	digits := gutter - len("-.") // digits that fit
	for top/unit >= 9999.5 {     // it would be rounded to five digits; units.Short abbreviates it instead
		unit *= 1000
		digits = gutter - len("-.k")
	}
	for v := top / unit; v >= 1; v /= 10 {
		digits-- // a digit before the point
	}
	return max(digits, 0), unit
}

// labelsDiffer reports whether labels up to top, a step apart, are different texts that write their values
// exactly: whether step is a whole number of the last decimal of a label.
func labelsDiffer(step, top float64) bool {
	decimals, unit := labelDecimals(top)
	lastDecimals := step / unit * math.Pow(10, float64(decimals))
	return math.Abs(lastDecimals-math.Round(lastDecimals)) < 1e-6 && lastDecimals > 0.5
}

// formatLabel formats v, the value of a label, with the fewest decimals that write step, the distance between
// labels, exactly. Whole numbers, large numbers, and labels that would be too wide, are formatted by
// units.Short, which abbreviates thousands, all in the unit of top, the largest label.
func formatLabel(v, step, top float64) string {
	if _, unit := labelDecimals(top); unit > 1 && v != 0 {
		prefix := units.Short(unit * 1000) // such as 1000k
		return units.Short(v/unit) + prefix[len(prefix)-1:]
	}
	const maxDecimals = 3
	for decimals := range maxDecimals + 1 {
		// The step in units of the last decimal must be a whole number.
		if lastDecimals := step * math.Pow(10, float64(decimals)); math.Abs(lastDecimals-math.Round(lastDecimals)) > 1e-6*lastDecimals {
			continue
		}
		if s := strconv.FormatFloat(v, 'f', decimals, 64); decimals > 0 && v != 0 && math.Abs(v) < 9999.5 && len(s) <= gutter {
			return s
		}
		break
	}
	return units.Short(v)
}
