package meters

import (
	"time"

	"wirelab/experiment/figures"
)

// LabTraffic is what the lab itself sends over a real network, in bytes on the wire, both ways
// together, since the beginning; zeros if it is not counted.
type LabTraffic struct {
	Reports int64 // datagrams that only the lab needs
	Cover   int64 // what encryption adds to the datagrams of the game
}

// Remote measures what only a network with a receiver at its far end reports. The zero value
// is ready.
type Remote struct {
	Differs int64 // arrivals for which the receivers here and there differ

	roundTrip, slower, reportedAfter histogram // microseconds
	lastSlower                       time.Duration
	jitter                           float64 // of arrivals in microseconds, as RFC 3550 smooths it
	display                          DisplayCounts
}

// CountArrival counts an arrival at the far end that was reported here a time after the packet was
// sent. It took longer by slower than the fastest one.
func (m *Remote) CountArrival(reportedAfter, slower time.Duration) {
	m.reportedAfter.add(reportedAfter.Microseconds())
	if m.slower.n > 0 {
		m.jitter += (float64((slower - m.lastSlower).Abs().Microseconds()) - m.jitter) / 16
	}
	m.slower.add(slower.Microseconds())
	m.lastSlower = slower
}

// RoundTrip counts a measured round trip.
func (m *Remote) RoundTrip(d time.Duration) { m.roundTrip.add(d.Microseconds()) }

// AddRemoteDisplay adds what the far end's display counted since the last call to the sample.
func (m *Meter) AddRemoteDisplay(r *Remote, now DisplayCounts) {
	m.sample.Displayed += int(now.Shown - r.display.Shown)
	m.sample.Starved += int(now.Starved - r.display.Starved)
	m.sample.Late += int(now.Late - r.display.Late)
	r.display = now
}

// AdjustTotals adds to totals of m, for a run that has taken d, what the network reports, and
// removes what cannot be measured over it.
func (m *Remote) AdjustTotals(t *figures.Totals, near *Meter, far DisplayCounts, lab LabTraffic, d time.Duration) {
	t.AgeMS, t.Network.DelayMS, t.Network.MeanBurst = figures.Quantiles{}, figures.Quantiles{}, figures.Figure{}
	net := &near.Network
	t.Network.LossRate = figures.RatioOf(float64(net.lost), float64(net.lost+net.received))
	cubes := t.Playout.PositionErrorMM != nil
	t.Playout = far.figures(near.Display.Hz)
	if cubes {
		t.Playout.PositionErrorMM, t.Playout.OrientationErrorDeg = &figures.Quantiles{}, &figures.Quantiles{}
	}
	t.Remote = &figures.Remote{RoundTripMS: m.roundTrip.thousandths(), SlowerMS: m.slower.thousandths(),
		ReportedAfterMS: m.reportedAfter.thousandths(), Differs: m.Differs}
	if m.slower.n > 1 {
		t.Remote.JitterMS = figures.Known(m.jitter / 1000)
	}
	if lab != (LabTraffic{}) {
		t.Remote.ReportKbps = figures.RatioOf(float64(lab.Reports)*8/1000, d.Seconds())
		t.Remote.CoverKbps = figures.RatioOf(float64(lab.Cover)*8/1000, d.Seconds())
	}
}
