package meters

import (
	"math"
	"slices"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Recent holds the figures of the last two seconds.
type Recent struct {
	PayloadKbps, WireKbps, FeedbackKbps float64
	PayloadP95Kbps                      float64 // of 100 ms samples in the last minute
	BitsPerItem, BitsPerChanged         float64
	ChangedPerFrame                     float64
	BaselineAgeTicks, BaselineAgeMS     float64
	StarvedRatio                        float64 // share of display ticks
	AgeMS                               float64 // of what was shown, mean
	Aged                                int     // display ticks on which anything was shown
	PositionErrorMM                     float64 // largest of any cube
	EncodeUS, DecodeUS                  float64 // medians, in microseconds
	RunsAs                              string  // what the times are of, if any is of an encoder from outside; see figures.Timing
	Budget                              encoders.Budget
}

// RecentOf sums up the last two seconds of samples, oldest first, of a source of tickHz
// ticks a second. Samples hold no codec times, so EncodeUS, DecodeUS and RunsAs stay zero.
// Without samples the rates are NaN.
func RecentOf(all []Sample, tickHz int) Recent {
	last := Tail(all, 2*time.Second)
	if len(last) == 0 {
		none := math.NaN()
		return Recent{PayloadKbps: none, WireKbps: none, FeedbackKbps: none, PayloadP95Kbps: none, BitsPerItem: none, BitsPerChanged: none}
	}
	var s Sample
	for i := range last {
		s.add(&last[i])
	}
	secs := float64(len(last)) * SamplePeriod.Seconds()
	return Recent{
		PayloadKbps:      figures.Ratio(float64(s.PayloadBits)/1000, secs),
		WireKbps:         figures.Ratio(float64(s.WireBits)/1000, secs),
		FeedbackKbps:     figures.Ratio(float64(s.FeedbackBits)/1000, secs),
		PayloadP95Kbps:   p95Kbps(Tail(all, time.Minute)),
		BitsPerItem:      figures.Ratio(float64(s.PayloadBits), float64(s.Items)),
		BitsPerChanged:   figures.Ratio(float64(s.PayloadBits), float64(s.Changed)),
		ChangedPerFrame:  figures.Ratio(float64(s.Changed), float64(s.Sent)),
		BaselineAgeTicks: figures.Ratio(float64(s.BaselineAge), float64(s.Referenced)),
		BaselineAgeMS:    figures.Ratio(float64(s.BaselineAge)*1000, float64(s.Referenced)*float64(tickHz)),
		StarvedRatio:     figures.Ratio(float64(s.Starved), float64(s.Displayed)),
		AgeMS:            figures.Ratio(s.Age.Seconds()*1000, float64(s.Aged)),
		Aged:             s.Aged,
		PositionErrorMM:  s.PositionErrorMM,
		Budget:           s.Budget,
	}
}

// p95Kbps returns the 95th percentile of the samples' payload rates.
func p95Kbps(all []Sample) float64 {
	bits := make([]int64, len(all))
	for i := range all {
		bits[i] = all[i].PayloadBits
	}
	slices.Sort(bits)
	return float64(quantile.NearestRank(bits, .95)) / 1000 / SamplePeriod.Seconds()
}
