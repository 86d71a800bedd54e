package lockstep

import (
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/paired"
)

// WithoutLoopPoints returns the samples of two lanes without the periods in which one of them sent packets whose
// baseline is from before a loop point. The size of these packets depends on how different end and start of the
// recording are, not on the encoder. a and b must have the same periods.
func WithoutLoopPoints(a, b []meters.Sample) (x, y []meters.Sample) {
	if !crossesLoop(a) && !crossesLoop(b) {
		return a, b
	}
	for i := range a {
		if a[i].CrossingLoop == 0 && b[i].CrossingLoop == 0 {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// crossesLoop reports whether packets of the samples have a baseline from before a loop point.
func crossesLoop(list []meters.Sample) bool {
	for i := range list {
		if list[i].CrossingLoop > 0 {
			return true
		}
	}
	return false
}

// PayloadRatio returns the payload of a divided by that of b, with its confidence interval. a and b are the
// samples of two lanes in the same periods.
func PayloadRatio(a, b []meters.Sample) paired.RatioInterval {
	x, y := newSeries(a), newSeries(b)
	return paired.CompareByRatio(x.Kbps(), y.Kbps())
}
