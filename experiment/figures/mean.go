package figures

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/paired"
	"wirelab/internal/quantile"
	"wirelab/internal/units"
)

// Mean is the mean of a figure over several seeds with its 95 % confidence interval. Lo and Hi are nil
// for fewer than two seeds, and if Range is set.
type Mean struct {
	N    int      `json:"n"` // number of seeds with a known figure
	Mean float64  `json:"mean"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
	// Approximate means that the interval may contain the true mean in less or more than 95 % of all sweeps; see
	// IsApproximate.
	Approximate bool `json:"approximate,omitempty"`
	// Range replaces an interval that would reach below 0 although no seed has a negative value. nil if there is no
	// such interval.
	Range *Range `json:"range,omitempty"`
}

// Range is the range of the values of all seeds.
type Range struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// MeanOf returns the mean of a figure, given by its key, with its interval or range.
func MeanOf(key string, values []float64) Mean {
	m := EstimateMean(values)
	m.Approximate = IsApproximate(key, values)
	if m.Lo != nil && *m.Lo < 0 && slices.Min(values) >= 0 {
		m.setRange(values)
	}
	return m
}

// RatioOf returns the ratio of the means of a figure, given by its key, with its interval or range; see EstimateRatio.
func RatioOf(key string, x, y []float64) Mean {
	m := EstimateRatio(x, y)
	m.Approximate = IsApproximate(key, x) || IsApproximate(key, y)
	if m.Lo != nil && *m.Lo < 0 && min(slices.Min(x), slices.Min(y)) >= 0 {
		var ratios []float64 // of the seeds
		for i := range x {
			ratios = append(ratios, x[i]/y[i])
		}
		m.setRange(ratios)
	}
	return m
}

// setRange replaces the interval by the range of values or, if one is not finite, removes it.
func (m *Mean) setRange(values []float64) {
	m.Lo = nil
	m.Hi = nil
	r := Range{slices.Min(values), quantile.Median(slices.Clone(values)), slices.Max(values)}
	if r.Max-r.Max == 0 { // neither NaN nor infinite
		m.Range = &r
	}
}

// Bounds returns the ends of the interval or of the range; known is false if the mean has neither.
func (m Mean) Bounds() (lo, hi float64, known bool) {
	switch {
	case m.Range != nil:
		return m.Range.Min, m.Range.Max, true
	case m.Lo != nil:
		return *m.Lo, *m.Hi, true
	}
	return 0, 0, false
}

// Times returns m in another unit: all values multiplied by factor > 0.
func (m Mean) Times(factor float64) Mean {
	m.Mean *= factor
	if m.Lo != nil {
		m.Lo = new(*m.Lo * factor)
		m.Hi = new(*m.Hi * factor)
	}
	if r := m.Range; r != nil {
		m.Range = &Range{r.Min * factor, r.Median * factor, r.Max * factor}
	}
	return m
}

// Text formats the mean with half the width of its interval, such as "12.3 ± 0.4", or the median with the range, such as
// "0.2 (0 to 1.3)". number formats values, and half the half width, which is left out if all its digits are 0.
// Without data the text is "-".
func (m Mean) Text(plusMinus string, number, half func(float64) string) string {
	if m.N == 0 {
		return "-"
	}
	if r := m.Range; r != nil {
		return fmt.Sprintf("%s (%s to %s)", number(r.Median), number(r.Min), number(r.Max))
	}
	text := number(m.Mean)
	if m.Lo == nil {
		return text
	}
	width := half((*m.Hi - *m.Lo) / 2)
	if strings.ContainsAny(width, "123456789") {
		text += plusMinus + width
	}
	return text
}

// Significant formats the mean with n significant digits, and half the width of its interval with two.
func (m Mean) Significant(n int) string {
	return m.Text(" ± ", func(v float64) string { return units.Significant(v, n) }, func(v float64) string { return units.Significant(v, 2) })
}

// Fixed formats the mean and half the width of its interval with a number of decimals.
func (m Mean) Fixed(plusMinus string, decimals int) string {
	format := func(v float64) string { return units.Fixed(v, decimals) }
	return m.Text(plusMinus, format, format)
}

// Doubt returns "?" if the interval is approximate and excludes the value neutral, but would include it if the
// interval were twice as wide; otherwise "". neutral means no difference: 1 for ratios, 0 for differences.
func (m Mean) Doubt(neutral float64) string {
	if m.Lo == nil || !m.Approximate {
		return ""
	}
	wideLo := 2*(*m.Lo) - m.Mean // the ends of an interval that is twice as wide
	wideHi := 2*(*m.Hi) - m.Mean
	isBelow := wideLo <= neutral && neutral < *m.Lo
	isAbove := *m.Hi < neutral && neutral <= wideHi
	if isBelow || isAbove {
		return "?"
	}
	return ""
}

// Notes collects what must be explained below a table of means.
type Notes struct{ approximate, ranges, doubts bool }

// Add adds a mean of the table.
func (n *Notes) Add(m Mean) {
	n.approximate = n.approximate || m.Approximate && m.Lo != nil && *m.Lo < *m.Hi
	n.ranges = n.ranges || m.Range != nil
}

// AddDoubt adds the result of Mean.Doubt and returns it.
func (n *Notes) AddDoubt(mark string) string {
	n.doubts = n.doubts || mark != ""
	return mark
}

// Lines returns the notes, one sentence each.
func (n *Notes) Lines() (list []string) {
	if n.approximate {
		list = append(list, ApproximateNote)
	}
	if n.doubts {
		list = append(list, "A ? marks a difference that an interval of twice the width would not show.")
	}
	if n.ranges {
		list = append(list, RangeNote)
	}
	return list
}

// Notes below tables of means.
const (
	ApproximateNote = "Intervals are approximate: fewer than 30 seeds, or a percentile, an extreme or a rare event."
	RangeNote       = "a (b to c) is the median and the range of the seeds, where an interval of the mean would reach below 0."
)

// EstimateMean returns the mean of values with its 95 % confidence interval; see paired.MeanOf. The result has
// N = 0 if values is empty or has a NaN or an infinity.
func EstimateMean(values []float64) Mean {
	return toMean(len(values), 0, paired.MeanOf(values))
}

// EstimateRatio returns mean(x) / mean(y) of the pairs x[i], y[i] with its 95 % confidence interval by the
// delta method. Variation that both values of a pair share cancels: for example, the effect of their seed. The
// result has N = 0 if mean(y) is 0.
func EstimateRatio(x, y []float64) Mean {
	my := paired.MeanOf(y).Estimate
	if my == 0 {
		return Mean{}
	}
	ratio := paired.MeanOf(x).Estimate / my
	residuals := make([]float64, len(x))
	for i := range x {
		residuals[i] = (x[i] - float64(ratio*y[i])) / my // the conversion prevents a fused multiply-subtract
	}
	return toMean(len(x), ratio, paired.MeanOf(residuals))
}

// toMean returns the interval i of n values, shifted by offset. It returns the zero Mean if the mean or a bound
// is NaN or infinite. With fewer than two values the bounds are nil.
func toMean(n int, offset float64, i paired.Interval) Mean {
	m := Mean{N: n, Mean: offset + i.Estimate}
	if m.Mean-m.Mean != 0 || n > 1 && !i.Known { // NaN or infinite
		return Mean{}
	}
	if n > 1 {
		m.Lo = new(offset + i.Lo)
		m.Hi = new(offset + i.Hi)
	}
	return m
}
