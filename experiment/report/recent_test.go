package report

import (
	"testing"
	"time"

	"wirelab/experiment/engine/meters"
)

// The first period begins at the multiple of the sample period before the first sample, and the mean covers two seconds.
func TestRecentPayload(t *testing.T) {
	const p = meters.SamplePeriod
	var r recentPayload
	if got := r.add(&meters.Sample{T: 5 * p, PayloadBits: 1000}); got != p || r.payloadKbps() != 10 {
		t.Errorf("first: %v, %v kbps", got, r.payloadKbps())
	}
	if got := r.add(&meters.Sample{T: 5*p + p/2, PayloadBits: 1000}); got != p/2 || r.payloadKbps() != 2.0/0.15 {
		t.Errorf("a short period is %v, %v kbps", got, r.payloadKbps())
	}
	for i := range 2 * meanSamples {
		r.add(&meters.Sample{T: 6*p + time.Duration(i)*p, PayloadBits: 300})
	}
	if got := r.payloadKbps(); got != 3 {
		t.Errorf("%v kbps in the last two seconds", got)
	}
}
