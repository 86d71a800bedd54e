package meters

import (
	"math"
	"slices"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Recent contains the figures of the last two seconds.
type Recent struct {
	PayloadKbps, WireKbps, FeedbackKbps float64
	PayloadP95Kbps                      float64 // 95th percentile of the 100 ms samples of the last minute
	BitsPerItem, BitsPerPacket          float64
	BitsPerChanged                      float64 // NaN if it means nothing: see Sample.CostsPerChange
	ChangedPerFrame                     float64
	BaselineAgeTicks, BaselineAgeMS     float64
	StarvedRatio                        float64 // share of display ticks
	PositionErrorMM                     float64 // largest error of any displayed cube
	PositionError, AngleError           float64 // largest errors of a table: see Sample
	EncodeUS, DecodeUS                  float64 // medians
	RunsAs                              string  // figures.Timing.RunsAs of the plugin that made some of the times; else empty
	Budget                              encoders.Budget
}

// RecentOf returns the figures of the last two seconds of samples, which must be in order, oldest
// first. tickHz is the tick rate of the source. Samples contain no codec times, so EncodeUS, DecodeUS
// and RunsAs stay zero. Without samples the rates and bits are NaN.
func RecentOf(all []Sample, tickHz int) Recent {
	r := MeanOf(Tail(all, 2*time.Second), tickHz)
	if len(all) > 0 {
		r.PayloadP95Kbps = p95Kbps(Tail(all, time.Minute))
	}
	return r
}

// MeanOf returns the figures of all samples, as RecentOf does of the last two seconds.
func MeanOf(last []Sample, tickHz int) Recent {
	if len(last) == 0 {
		none := math.NaN()
		return Recent{PayloadKbps: none, WireKbps: none, FeedbackKbps: none, PayloadP95Kbps: none, BitsPerItem: none, BitsPerPacket: none, BitsPerChanged: none}
	}
	s := Sum(last)
	perChanged := figures.RatioOrZero(BitsPerChanged(&s))
	if !s.CostsPerChange() {
		perChanged = math.NaN()
	}
	return Recent{
		PayloadKbps:      figures.RatioOrZero(PayloadKbps(&s)),
		WireKbps:         figures.RatioOrZero(WireKbps(&s)),
		FeedbackKbps:     figures.RatioOrZero(FeedbackKbps(&s)),
		PayloadP95Kbps:   p95Kbps(last),
		BitsPerItem:      figures.RatioOrZero(BitsPerItem(&s)),
		BitsPerPacket:    figures.RatioOrZero(float64(s.PayloadBits), float64(s.Sent)),
		BitsPerChanged:   perChanged,
		ChangedPerFrame:  figures.RatioOrZero(float64(s.Changed), float64(s.Sent)),
		BaselineAgeTicks: figures.RatioOrZero(BaselineAge(&s)),
		BaselineAgeMS:    figures.RatioOrZero(float64(s.BaselineAge)*1000, float64(s.Referenced)*float64(tickHz)),
		StarvedRatio:     figures.RatioOrZero(float64(s.Starved), float64(s.Displayed)),
		PositionErrorMM:  s.PositionErrorMM,
		PositionError:    s.PositionError,
		AngleError:       s.AngleError,
		Budget:           s.Budget,
	}
}

// p95Kbps returns the 95th percentile of the payload rates of the samples, in kbit/s.
func p95Kbps(all []Sample) float64 {
	bits := make([]int64, len(all))
	for i := range all {
		bits[i] = all[i].PayloadBits
	}
	slices.Sort(bits)
	return float64(quantile.NearestRank(bits, .95)) / 1000 / SamplePeriod.Seconds()
}
