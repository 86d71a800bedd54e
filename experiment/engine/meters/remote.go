package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// LabTraffic is the traffic that the lab adds on a real network, in bytes on the wire since the
// beginning, both directions together; zeros if it is not counted.
type LabTraffic struct {
	Reports int64 // datagrams that only the lab needs
	Cover   int64 // bytes that encryption adds to the game's datagrams
}

// Remote measures a session whose receiver is on another machine. The zero value is ready to use.
type Remote struct {
	Differs int64 // arrivals for which the local receiver has another result than the remote one

	// In microseconds: round-trip times; one-way delays beyond the fastest packet's; times from sending
	// a packet to the report of its arrival.
	roundTrip, slower, reportedAfter quantile.Histogram
	lastSlower                       time.Duration // of the newest arrival
	jitter                           float64       // interarrival jitter in microseconds (RFC 3550, section 6.4.1)
	display                          DisplayCounts // the newest counts of the remote display
}

// CountArrival counts the arrival of a packet at the remote receiver. reportedAfter is the time from
// sending the packet to the report of its arrival. slower is how much longer the packet took than the
// fastest one.
func (m *Remote) CountArrival(reportedAfter, slower time.Duration) {
	m.reportedAfter.Add(reportedAfter.Microseconds())
	if m.slower.N > 0 { // J += (|D| - J) / 16, as in RFC 3550, section 6.4.1
		m.jitter += (float64((slower - m.lastSlower).Abs().Microseconds()) - m.jitter) / 16
	}
	m.slower.Add(slower.Microseconds())
	m.lastSlower = slower
}

// RoundTrip counts a measured round trip.
func (m *Remote) RoundTrip(d time.Duration) { m.roundTrip.Add(d.Microseconds()) }

// AddRemoteDisplay adds the counts of the remote display since the last call to the current sample.
// now contains its counts so far.
func (m *Meter) AddRemoteDisplay(r *Remote, now DisplayCounts) {
	m.Now.Displayed += int(now.Shown - r.display.Shown)
	m.Now.Starved += int(now.Starved - r.display.Starved)
	m.Now.Late += int(now.Late - r.display.Late)
	r.display = now
}

// AdjustTotals adds the measurements of a real network to the totals t of meter, and removes the
// figures that cannot be measured without synchronised clocks. display contains the counts of the
// remote display. lab contains the lab's own traffic since the beginning of the run, and d is the
// duration of the run so far.
func (m *Remote) AdjustTotals(t *figures.Totals, meter *Meter, display DisplayCounts, lab LabTraffic, d time.Duration) {
	t.AgeMS = figures.Quantiles{}
	t.Network.DelayMS = figures.Quantiles{}
	t.Network.MeanBurst = figures.Figure{}
	net := &meter.Network
	t.Network.LossRate = figures.RatioFigure(float64(net.lost), float64(net.lost+net.received))
	hasCubes := t.Playout.PositionErrorMM != nil
	t.Playout = display.Figures(meter.Display.Hz)
	if hasCubes { // the errors of cubes stay listed, as unknown
		t.Playout.PositionErrorMM = &figures.Quantiles{}
		t.Playout.OrientationErrorDeg = &figures.Quantiles{}
	}
	if u := meter.Display.Units; u != nil { // the errors of a table stay listed, as unknown
		u.describe(&t.Playout)
	}
	t.Remote = &figures.Remote{ // the histograms are in microseconds
		RoundTripMS:     figures.QuantilesOf(&m.roundTrip, 1000),
		SlowerMS:        figures.QuantilesOf(&m.slower, 1000),
		ReportedAfterMS: figures.QuantilesOf(&m.reportedAfter, 1000),
		Differs:         m.Differs,
	}
	if m.slower.N > 1 { // the jitter is defined by the difference of two delays
		t.Remote.JitterMS = figures.Known(m.jitter / 1000)
	}
	if lab != (LabTraffic{}) {
		t.Remote.ReportKbps = figures.RatioFigure(float64(lab.Reports)*8/1000, d.Seconds())
		t.Remote.CoverKbps = figures.RatioFigure(float64(lab.Cover)*8/1000, d.Seconds())
	}
}
