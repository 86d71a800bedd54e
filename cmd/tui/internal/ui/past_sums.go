package ui

import (
	"math"
	"slices"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// timesOf returns the median times, in microseconds, that encoding and decoding took
// in the two seconds before t; no number where the packets are forgotten.
func timesOf(packets []engine.PacketRecord, t time.Duration) (encode, decode float64) {
	var en, de []int64
	for i := len(packets) - 1; i >= 0 && packets[i].Sent >= t-recentSpan; i-- {
		if r := &packets[i]; r.Copy == 0 && r.EncodeNS > 0 {
			en = append(en, r.EncodeNS)
		}
		if r := &packets[i]; r.DecodeNS > 0 {
			de = append(de, r.DecodeNS)
		}
	}
	median := func(ns []int64) float64 {
		if len(ns) == 0 {
			return math.NaN()
		}
		slices.Sort(ns)
		return float64(ns[(len(ns)-1)/2]) / 1000
	}
	return median(en), median(de)
}

// totalsBefore takes from the sums what came after t.
func totalsBefore(total figures.Totals, samples []engine.Sample, t time.Duration) figures.Totals {
	for i := len(samples) - 1; i >= 0 && samples[i].T > t; i-- {
		s := &samples[i]
		less := func(sum *int64, n int) { *sum = max(*sum-int64(n), 0) }
		less(&total.Sent, s.Sent)
		less(&total.Decoded, s.Outcomes[engine.Decoded])
		less(&total.Stale, s.Outcomes[engine.Stale])
		less(&total.Duplicate, s.Outcomes[engine.Duplicate])
		less(&total.Lost, s.Outcomes[engine.Lost])
		less(&total.Failures.NoBaseline, s.Outcomes[engine.NoBaseline])
		less(&total.Failures.Corrupt, s.Outcomes[engine.Corrupt])
		less(&total.Failures.UnknownCodec, s.Outcomes[engine.UnknownCodec])
		less(&total.Tainted, s.Outcomes[engine.Tainted])
		less(&total.Playout.Late, s.Late)
	}
	return total
}
