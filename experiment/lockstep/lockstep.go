// Package lockstep compares encoders that ran side by side on the same frames and the same fates. It
// determines which stretch of time counts, so that a figure on the screen and the same figure in a
// report agree.
//
// The main figure of a comparison is the ratio of what two encoders sent. A busy moment
// is costly for both: what each sends goes up and down with the data, and so does their
// difference, but their ratio hardly moves.
package lockstep

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// CaughtUp returns the samples of a lane without those of its warm-up. Lanes that begin with the
// session begin together and have no warm-up.
func CaughtUp(l *engine.Lane) []meters.Sample {
	if l.Began == 0 {
		return l.Samples
	}
	n := 0
	for n < len(l.Samples) && l.Samples[n].T <= l.Began+engine.WarmUp {
		n++
	}
	return l.Samples[n:]
}

// Ratio returns the payload of a lane divided by that of base, sample by sample. There is one value
// for each sample of the lane that counts, see CaughtUp, so the last value is of its newest sample.
// The weights are the payloads of base: the weighted mean of several values is the ratio of their
// sums. Where base sent nothing, or has no sample, or either lane built across a restart of the
// recording (a seam), the weight is 0 and the value is undefined.
func Ratio(lane, base *engine.Lane) (values, weights []float64) {
	own, others := CaughtUp(lane), CaughtUp(base)
	values, weights = make([]float64, len(own)), make([]float64, len(own))
	k := 0
	for i := range own {
		for k < len(others) && others[k].T < own[i].T {
			k++
		}
		if k < len(others) && others[k].T == own[i].T && others[k].PayloadBits > 0 && own[i].Across+others[k].Across == 0 {
			weights[i] = float64(others[k].PayloadBits)
			values[i] = float64(own[i].PayloadBits) / weights[i]
		}
	}
	return values, weights
}
