package measure

import (
	"math"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// The distribution agrees with the delays of a link, also where the jitter would make some delays
// negative.
func TestDelayLawAgreesWithLink(t *testing.T) {
	for _, d := range []lossmodel.Delay{
		{Latency: 32 * time.Millisecond, Jitter: 12 * time.Millisecond, Distribution: lossmodel.Normal},
		{Latency: 5 * time.Millisecond, Jitter: 12 * time.Millisecond, Distribution: lossmodel.Normal},
		{Latency: 5 * time.Millisecond, Jitter: 12 * time.Millisecond},
		{Latency: 20 * time.Millisecond, Jitter: 7 * time.Millisecond, Distribution: lossmodel.Gamma},
		{Latency: 20 * time.Millisecond, Jitter: 7 * time.Millisecond, Distribution: lossmodel.Pareto},
		{Latency: 20 * time.Millisecond},
	} {
		law, ok := NewDelayDistribution(&d)
		if !ok {
			t.Fatal(d)
		}
		spec := lossmodel.DefaultSpec()
		spec.Delay = d
		link, err := lossmodel.NewLink(spec, 1, "down")
		if err != nil {
			t.Fatal(err)
		}
		const n = 40_000
		took := make([]float64, n)
		for i := range took {
			now := time.Duration(i) * time.Second
			v := link.Send(now, nil, 0)
			took[i] = float64(v.Due-now) / millisecond
			if took[i] < law.Min-1e-3 || took[i] > law.Max+1e-3 {
				t.Fatalf("%+v: delay %g ms, expected %g to %g", d, took[i], law.Min, law.Max)
			}
			link.Receive(now + time.Hour)
		}
		m, sd := meanSD(took)
		if math.Abs(m-law.Mean) > 5*law.SD/math.Sqrt(n)+1e-5 || math.Abs(sd-law.SD) > 0.03*law.SD+1e-5 {
			t.Errorf("%+v: mean %g and sd %g ms, expected %g and %g", d, m, sd, law.Mean, law.SD)
		}
	}
}
