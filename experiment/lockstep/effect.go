package lockstep

import (
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/paired"
)

// WithoutSeams returns the samples of two lanes without the periods in which one of them sent packets whose
// baseline is from before a loop point. The size of these packets depends on how different end and start of the
// recording are, not on the encoder. a and b must have the same periods.
func WithoutSeams(a, b []meters.Sample) (x, y []meters.Sample) {
	for i := range a {
		if a[i].Across == 0 && b[i].Across == 0 {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// TimesAsMuch returns the payload of a divided by that of b, with its confidence interval. a and b are the
// samples of two lanes in the same periods.
func TimesAsMuch(a, b []meters.Sample) paired.Quotient {
	x, y := newSeries(a), newSeries(b)
	return paired.Quotients(x.Kbps(), y.Kbps(), seed)
}
