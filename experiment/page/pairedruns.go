package page

import (
	"fmt"
	"math"

	"wirelab/experiment/paired"
)

// pairedInterval returns the interval of 95 % of how much a figure of b is another than that of
// a, " (-12.9 to -11.4)" in percent; "" where the runs are no pair, or the figure is none
// that the samples tell.
func pairedInterval(a, b *run, key string) string {
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
	of := pairedRatios[key]
	if of == nil {
		return ""
	}
	ra, rb := ratioOf(x, of), ratioOf(y, of)
	base := ra.Value()
	i := paired.Ratios(rb, ra, 1)
	if !i.Known || base == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.2f to %+.2f)", 100*i.Lo/base, 100*i.Hi/base)
}

// pairedRatios are the figures that can be compared stretch by stretch, by their keys.
var pairedRatios = map[string]ratio{"payload_kbps": payloadKbps, "wire_kbps": wireKbps, "feedback_kbps": feedbackKbps,
	"bits_per_item": bitsPerItem, "bits_per_changed_cube": bitsPerChanged, "playout.starved_ratio": starvedShare}

// ratioOf returns a figure as a ratio of sums over the points.
func ratioOf(points []point, of ratio) (r paired.Ratio) {
	for i := range points {
		num, den := of(&points[i])
		r.Num, r.Den = append(r.Num, num), append(r.Den, den)
	}
	return r
}
