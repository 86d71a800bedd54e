package report

import (
	"math"
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
	if where := float64(at) / float64(len(failed)); most != 70 || math.Abs(where-500_001/float64(days)) > 0.001 {
		t.Errorf("the peak is %g, at %g of the run", most, where)
	}
}
