package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// The charts of a run of any length have a bounded number of points, with the same mean of rates
// and the same peaks as the samples.
func TestCurvesOfLongRun(t *testing.T) {
	const days = 24 * time.Hour / meters.SamplePeriod
	var c curves
	var total float64
	for i := range int(days) {
		s := meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, PayloadBits: int64(i%1000) * 100}
		if i == 500_001 {
			s.Outcomes[packetlog.Corrupt] = 7
		}
		total += float64(s.PayloadBits) / 100
		c.add(&s)
	}
	rates, failed := c.series(payloadCurve), c.series(failureCurve)
	if len(rates) != len(failed) || len(rates) > maxPoints || len(rates) < maxPoints/2 || c.end != 24*time.Hour {
		t.Fatalf("%d and %d points until %v", len(rates), len(failed), c.end)
	}
	sum, most, at := 0.0, 0.0, 0
	for i := range rates {
		sum += rates[i]
		if failed[i] > most {
			most, at = failed[i], i
		}
	}
	if mean, want := sum/float64(len(rates)), total/float64(days); math.Abs(mean-want) > 0.001*want {
		t.Errorf("the mean is %g, of the samples %g", mean, want)
	}
	if where := float64(at) / float64(len(failed)); most != 3.5 || // 7 in two seconds
		math.Abs(where-500_001/float64(days)) > 0.001 {
		t.Errorf("the peak is %g, at %g of the run", most, where)
	}
}

// Rates are means of the two seconds that end with a sample, also at the start and with a shorter last sample. Loop points
// do not set the scale of the payload; the caption has their times.
func TestCurvesAreTwoSecondMeans(t *testing.T) {
	const loopAt, samples = 150, 300
	all := make([]meters.Sample, samples)
	var c curves
	for i := range all {
		s := &all[i]
		*s = meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, PayloadBits: int64(10_000 + 37*i), Changed: int64(100 + i%7)}
		switch i {
		case loopAt:
			s.PayloadBits, s.CrossingLoop = 400_000, 2
		case samples - 1:
			s.T -= meters.SamplePeriod / 2
		}
		c.add(s)
		bits, changed, seconds := 0.0, 0.0, s.T.Seconds()-max(float64(i-19), 0)/10
		for _, x := range all[max(i-19, 0) : i+1] {
			bits, changed = bits+float64(x.PayloadBits), changed+float64(x.Changed)
		}
		for curve, want := range map[curve]float64{payloadCurve: bits / 1000 / seconds, changedCurve: bits / changed} {
			if got := c.points[curve][i]; math.Abs(got-want) > 1e-9*want {
				t.Fatalf("curve %d, sample %d: %v, want %v", curve, i, got, want)
			}
		}
		if got, want := c.points[loopCurve][i] > 0, i >= loopAt && i < loopAt+20; got != want {
			t.Fatalf("sample %d: at the loop point %v, want %v", i, got, want)
		}
	}
	drawn := plot(c.series(payloadCurve), c.series(loopCurve), false, c.begin, c.end)
	if !strings.Contains(drawn, "; loop point at 15.0 s") || !strings.Contains(drawn, "\n 20") && !strings.HasPrefix(drawn, " 20") {
		t.Errorf("the loop point of 312 kbps at 15 s:\n%s", drawn)
	}
}
