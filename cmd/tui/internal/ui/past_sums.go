package ui

import (
	"math"
	"slices"
	"time"

	"wirelab/experiment"
)

// timesOf returns the median times, in microseconds, that encoding and decoding took
// in the two seconds before t; no number where the packets are forgotten.
func timesOf(packets []experiment.PacketRecord, t time.Duration) (encode, decode float64) {
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
func totalsBefore(total experiment.Totals, samples []experiment.Sample, t time.Duration) experiment.Totals {
	for i := len(samples) - 1; i >= 0 && samples[i].T > t; i-- {
		s := &samples[i]
		less := func(sum *int64, n int) { *sum = max(*sum-int64(n), 0) }
		less(&total.Sent, s.Sent)
		less(&total.Decoded, s.Outcomes[experiment.Decoded])
		less(&total.Stale, s.Outcomes[experiment.Stale])
		less(&total.Duplicate, s.Outcomes[experiment.Duplicate])
		less(&total.Lost, s.Outcomes[experiment.Lost])
		less(&total.Failures.NoBaseline, s.Outcomes[experiment.NoBaseline])
		less(&total.Failures.Corrupt, s.Outcomes[experiment.Corrupt])
		less(&total.Failures.UnknownCodec, s.Outcomes[experiment.UnknownCodec])
		less(&total.Tainted, s.Outcomes[experiment.Tainted])
		less(&total.Playout.Late, s.Late)
	}
	return total
}
