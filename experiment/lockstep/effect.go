package lockstep

import (
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/paired"
)

// WithoutSeams returns two lanes' samples of the same periods without those in which one
// of them sent packets that build across a seam.
func WithoutSeams(a, b []meters.Sample) (x, y []meters.Sample) {
	for i := range a {
		if a[i].Across == 0 && b[i].Across == 0 {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// TimesAsMuch returns how many times as much payload one lane sent as another in the same
// periods, with its interval.
func TimesAsMuch(a, b []meters.Sample) paired.Quotient {
	x, y := series(a), series(b)
	return paired.Quotients(x.Kbps(), y.Kbps(), seed)
}
