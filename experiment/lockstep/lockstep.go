// Package lockstep compares encoders that ran on the same frames with the same losses. It determines
// which samples are compared, so that screens and reports show the same figures.
//
// The main figure of a comparison is the ratio of the payloads of two encoders. The payload of each, and
// their difference, depend on how busy the data are; the ratio hardly does.
package lockstep

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// Complete adds to the result of a session the comparison with the encoders that run alongside, if any,
// and their samples.
func Complete(r *engine.Result, s *engine.Session) {
	if len(r.Shadows) > 0 {
		r.Comparison, r.SamplesByLane = Compare(s.View(0)), s.SamplesByLane()
	}
}

// AfterWarmUp returns the samples of a lane without its warm-up, in which it must send complete frames.
// Lanes that start with the session have no warm-up, because all of them start with complete frames.
func AfterWarmUp(l *engine.Lane) []meters.Sample {
	if l.Began == 0 {
		return l.Samples
	}
	n := 0
	for n < len(l.Samples) && l.Samples[n].T <= l.Began+engine.WarmUp {
		n++
	}
	return l.Samples[n:]
}

// RatioBySample returns the payload of a lane divided by that of base for each sample of
// AfterWarmUp(lane). The weights are the payloads of base, so that the weighted mean of several values
// is the ratio of the sums. If base sent nothing, has no sample of the period, or one of the lanes used
// a baseline from before a loop point, the weight is 0 and the value is undefined.
func RatioBySample(lane, base *engine.Lane) (values, weights []float64) {
	own, others := AfterWarmUp(lane), AfterWarmUp(base)
	values, weights = make([]float64, len(own)), make([]float64, len(own))
	k := 0
	for i := range own {
		for k < len(others) && others[k].T < own[i].T {
			k++
		}
		if k < len(others) && others[k].T == own[i].T && others[k].PayloadBits > 0 &&
			own[i].CrossingLoop+others[k].CrossingLoop == 0 {
			weights[i] = float64(others[k].PayloadBits)
			values[i] = float64(own[i].PayloadBits) / weights[i]
		}
	}
	return values, weights
}
