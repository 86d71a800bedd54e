package page

import (
	"fmt"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/paired"
)

// pairedInterval returns the 95 % confidence interval of the change of a figure from run a to run b, in
// percent of a, such as " (-12.9 to -11.4)". It returns "" if the runs differ in seed or sample times,
// the samples do not contain the figure, or there are too few.
func pairedInterval(a, b *run, key string) string {
	figure := pairableRatios[key]
	pointsA := a.points()
	pointsB := b.points()
	if figure == nil || a.Result.Seed != b.Result.Seed || len(pointsA) != len(pointsB) {
		return ""
	}
	var ratioA, ratioB paired.Ratio
	for i := range pointsA {
		if pointsA[i].T != pointsB[i].T {
			return ""
		}
		addPair(&ratioA, figure, &pointsA[i])
		addPair(&ratioB, figure, &pointsB[i])
	}
	base := ratioA.Value()
	change := paired.CompareByDifference(ratioB, ratioA)
	if !change.Known || base == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.2f to %+.2f)", 100*change.Lo/base, 100*change.Hi/base)
}

// addPair adds the figure of a sample to r.
func addPair(r *paired.Ratio, figure meters.Ratio, s *meters.Sample) {
	num, den := figure(s)
	r.Num = append(r.Num, num)
	r.Den = append(r.Den, den)
}

// pairableRatios are the figures that can be compared sample by sample, by key.
var pairableRatios = map[string]meters.Ratio{
	payloadKey:              meters.PayloadKbps,
	wireKey:                 meters.WireKbps,
	"feedback_kbps":         meters.FeedbackKbps,
	"bits_per_item":         meters.BitsPerItem,
	"bits_per_changed_cube": meters.BitsPerChanged,
	starvedKey:              starvedShare,
}
