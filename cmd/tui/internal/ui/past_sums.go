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

// recentOf sums up the last two seconds of samples as the lab does, but for the
// times that encoding took, which are not in samples.
func recentOf(all []experiment.Sample, now experiment.Recent) experiment.Recent {
	last := all[max(len(all)-int(recentSpan/experiment.SamplePeriod), 0):]
	if len(last) == 0 {
		return experiment.Recent{}
	}
	var s experiment.Sample
	for i := range last {
		x := &last[i]
		s.Sent += x.Sent
		s.PayloadBits += x.PayloadBits
		s.WireBits += x.WireBits
		s.FeedbackBits += x.FeedbackBits
		s.Items += x.Items
		s.Changed += x.Changed
		s.BaselineAge += x.BaselineAge
		s.Referenced += x.Referenced
		s.Displayed += x.Displayed
		s.Starved += x.Starved
		s.PositionErrorMM = max(s.PositionErrorMM, x.PositionErrorMM)
		s.Budget.Add(&x.Budget)
	}
	bits, secs := float64(s.PayloadBits), float64(len(last))*experiment.SamplePeriod.Seconds()
	r := now
	r.PayloadKbps, r.WireKbps, r.FeedbackKbps = bits/1000/secs, float64(s.WireBits)/1000/secs, float64(s.FeedbackBits)/1000/secs
	r.BitsPerItem, r.BitsPerChanged = bits/float64(max(s.Items, 1)), bits/float64(max(s.Changed, 1))
	r.ChangedPerFrame = float64(s.Changed) / float64(max(s.Sent, 1))
	age := float64(s.BaselineAge) / float64(max(s.Referenced, 1))
	if now.BaselineAgeTicks > 0 {
		r.BaselineAgeMS = age * now.BaselineAgeMS / now.BaselineAgeTicks
	}
	r.BaselineAgeTicks, r.Budget = age, s.Budget
	r.PayloadP95Kbps, r.PositionErrorMM = p95Kbps(all), s.PositionErrorMM
	r.StarvedRatio = float64(s.Starved) / float64(max(s.Displayed, 1))
	return r
}

// p95Kbps is the 95th percentile of the payload in the samples of the last minute.
func p95Kbps(all []experiment.Sample) float64 {
	last := all[max(len(all)-int(time.Minute/experiment.SamplePeriod), 0):]
	bits := make([]int64, len(last))
	for i := range last {
		bits[i] = last[i].PayloadBits
	}
	slices.Sort(bits)
	return kbps(bits[(len(bits)*95+99)/100-1])
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
