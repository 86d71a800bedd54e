package page

import (
	"fmt"
	"math"

	"wirelab/experiment/paired"
)

// pairedInterval returns the interval of 95 % of how much a figure of b is another than that of
// a, " (-12.9 to -11.4)" in percent; "" where the runs are no pair, or the figure is none
// that the samples tell.
func pairedInterval(a, b *Run, key string) string {
	if a.Result.Seed != b.Result.Seed || a.Rows == nil || b.Rows == nil {
		return ""
	}
	x, y := a.Rows.series.all(), b.Rows.series.all()
	if len(x) != len(y) {
		return ""
	}
	for i := range x {
		if math.Abs(x[i].until-y[i].until) > 1e-6 {
			return ""
		}
	}
	ra, ok := ratioOf(x, key)
	rb, also := ratioOf(y, key)
	if !ok || !also {
		return ""
	}
	base := ra.Value()
	i := paired.Ratios(rb, ra, 1)
	if !i.Known || base == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.2f to %+.2f)", 100*i.Lo/base, 100*i.Hi/base)
}

// ratioOf is a figure as a ratio of sums over the points.
func ratioOf(points []point, key string) (paired.Ratio, bool) {
	var num, den func(p *point) float64
	width := func(p *point) float64 { return p.width }
	switch key {
	case "payload_kbps":
		num, den = func(p *point) float64 { return p.payload / 1000 }, width
	case "wire_kbps":
		num, den = func(p *point) float64 { return p.wire / 1000 }, width
	case "feedback_kbps":
		num, den = func(p *point) float64 { return p.feedback / 1000 }, width
	case "bits_per_item":
		num, den = func(p *point) float64 { return p.payload }, func(p *point) float64 { return p.items }
	case "bits_per_changed_cube":
		num, den = func(p *point) float64 { return p.payload }, func(p *point) float64 { return p.changed }
	case "playout.starved_ratio":
		num, den = func(p *point) float64 { return p.starved }, func(p *point) float64 { return p.displayed }
	default:
		return paired.Ratio{}, false
	}
	var r paired.Ratio
	for i := range points {
		r.Num, r.Den = append(r.Num, num(&points[i])), append(r.Den, den(&points[i]))
	}
	return r, true
}
