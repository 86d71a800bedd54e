package ui

import (
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// newTransportLab returns a lab whose line of 500 kbit/s was slow at 60 s for two seconds, and whose queue never drained:
// round trips and packets grow with it. Three playout policies are compared.
func newTransportLab() *labtest.Lab { return &labtest.Lab{Snap: transportSnapshot(90 * time.Second)} }

// transportSnapshot returns the snapshot of newTransportLab at a virtual time.
func transportSnapshot(now time.Duration) *engine.Snapshot {
	snap := labtest.Snapshot(now)
	snap.Config.Down.Rate.BitsPerSecond, snap.Config.Down.Rate.Queue = 500_000, 256_000
	lane := &snap.Lanes[0]
	for i := range lane.Samples {
		s := &lane.Samples[i]
		x, q := &s.Transport, &s.Queue
		x.HasQueue, x.LinkBps, x.Acks = true, 500_000, 6
		if after := s.T - 60*time.Second; after > 0 {
			q.Bytes = min(int64(after/time.Millisecond)*20, 250_000)
			if after < 2*time.Second {
				x.LinkBps = 50_000
			}
			x.Acks, s.Repaired, q.Flows = 3+i%2, i%2, []int64{q.Bytes / 5}
			s.PayloadBits += q.Bytes / 4
			s.WireBits += q.Bytes / 4
		}
		x.ArrivedBits = min(s.WireBits, x.LinkBps/10)
		q.Delay = time.Duration(q.Total()*8/500) * time.Millisecond
		x.RoundTrip = 51*time.Millisecond + q.Delay
		x.RoundTripPeak = x.RoundTrip + 4*time.Millisecond
		s.Controlled, s.TargetBps = true, 600_000
		if after := s.T - 60*time.Second; after > 0 && after < 3*time.Second {
			s.TargetBps, s.Held = 300_000, 2
		}
		s.Referenced = 6
		s.BaselineAge = 6 * int64(x.RoundTrip*packetRateHz/time.Second)
	}
	control, err := endpoint.Controls.Parse("gcc")
	if err != nil {
		panic(err)
	}
	lane.Control = &engine.ControlView{Policy: control, TargetBps: 600_000, Held: 58, Decisions: []endpoint.Decision{
		{At: 60200 * time.Millisecond, Until: 60200 * time.Millisecond, Why: endpoint.CutByLoss, Measured: 25, From: 600_000, To: 300_000},
		{At: 61 * time.Second, Until: 63 * time.Second, Held: 58, Why: endpoint.HeldByRate, Measured: int64(14 * time.Millisecond), Limit: 300_000}}}
	lane.Traffic = []figures.Flow{{Kind: "cubic", Label: "cubic", StartS: 60, Mbps: figures.Known(0.08), RTTMS: figures.Known(3500)}}
	lane.Totals.LostBy = figures.CauseCounts{lossmodel.Queue: 82}
	lane.Totals.Network.QueuePeakBytes = figures.Known(256_000)
	c := &figures.PlayoutComparison{}
	for i, starved := range []float64{0.2, 0.1, 0.03, 0.01, 0.004, 0.001, 0, 0} {
		delay := float64(20 + 10*i)
		c.Fixed = append(c.Fixed, figures.FixedDelay{DelayMS: delay, StarvedRatio: figures.Known(starved), AgeMS: figures.Known(delay + 18)})
	}
	for _, p := range []struct {
		label        string
		age, starved float64
	}{{"fixed 85ms", 105, 0}, {"lightyear", 92, 0.001}, {"age quantile=99%", 62, 0.03}} {
		c.AddPolicy(figures.PlayoutPolicy{Label: p.label, StarvedRatio: figures.Known(p.starved), AgeMS: figures.Quantiles{N: 1, P50: p.age, P95: p.age + 3}})
	}
	lane.Totals.Playout.Policies = c
	return snap
}
