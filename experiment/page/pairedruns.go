package page

import (
	"fmt"
	"math"

	"wirelab/experiment/paired"
)

// pairedInterval returns the 95 % confidence interval of the change of a figure from run a to run b, in
// percent of a, such as " (-12.9 to -11.4)". It returns "" if the runs differ in seed or sample times,
// the samples do not contain the figure, or there are too few.
func pairedInterval(a, b *run, key string) string {
	if a.Result.Seed != b.Result.Seed {
		return ""
	}
	pointsA := a.points()
	pointsB := b.points()
	if len(pointsA) != len(pointsB) {
		return ""
	}
	for i := range pointsA {
		if math.Abs(pointsA[i].until-pointsB[i].until) > 1e-6 {
			return ""
		}
	}
	figure, known := pairableRatios[key]
	if !known {
		return ""
	}
	ratioA := newPairedRatio(pointsA, figure)
	ratioB := newPairedRatio(pointsB, figure)
	base := ratioA.Value()
	change := paired.CompareByDifference(ratioB, ratioA)
	if !change.Known || base == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.2f to %+.2f)", 100*change.Lo/base, 100*change.Hi/base)
}

// pairableRatios are the figures that can be compared sample by sample, by key.
var pairableRatios = map[string]ratio{payloadKey: {colPayload, colWidth}, wireKey: {colWire, colWidth},
	"feedback_kbps": {colFeedback, colWidth},
	"bits_per_item": {colPayload, colItems}, "bits_per_changed_cube": {colPayload,
		colChanged}, starvedKey: {colStarved, colDisplayed}}

// newPairedRatio returns a figure as the ratio of two sums over the points.
func newPairedRatio(points []point, of ratio) (r paired.Ratio) {
	for i := range points {
		r.Num = append(r.Num, points[i].values[of.num])
		r.Den = append(r.Den, points[i].values[of.den])
	}
	return r
}
