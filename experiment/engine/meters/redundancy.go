package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Redundancy counts what redundancy costs and repairs, and when the packets of a lane are known at the
// receiver.
type Redundancy struct {
	Lost            int64 // packets that will never arrive; the caller counts them
	counts          figures.Redundancy
	wire, plain     int64              // bytes of the datagrams; those of the packets without redundancy
	repairedAfter   quantile.Histogram // microseconds
	known           int64              // packets that have arrived, by whatever datagram
	late50, late100 int64              // of known: later than 50 and 100 ms after they were sent
}

// CountDatagram counts a datagram of wire bytes on the wire. plain is the size that it would have without
// redundancy; 0 if it contains only redundancy, such as a parity.
func (m *Redundancy) CountDatagram(wire, plain int) {
	m.counts.Datagrams++
	m.wire += int64(wire)
	m.plain += int64(plain)
	if plain == 0 {
		m.counts.Extra++
	}
}

// CountKnown counts a packet that has arrived for the first time, delay after it was sent.
func (m *Redundancy) CountKnown(delay time.Duration) {
	m.known++
	if delay > 50*time.Millisecond {
		m.late50++
	}
	if delay > 100*time.Millisecond {
		m.late100++
	}
}

// CountRepaired counts a packet that was repaired delay after it was sent.
func (m *Redundancy) CountRepaired(delay time.Duration) {
	m.counts.Repaired++
	m.repairedAfter.Add(delay.Microseconds())
}

// Figures returns the figures of a run of duration d. name is the policy.
func (m *Redundancy) Figures(name string, d time.Duration) *figures.Redundancy {
	f := m.counts
	f.Policy = name
	f.RepairedAfterMS = figures.QuantilesOf(&m.repairedAfter, 1000)
	all := float64(m.known + m.Lost)
	f.ResidualLoss = figures.RatioFigure(float64(m.Lost), all)
	f.Missed50 = figures.RatioFigure(float64(m.Lost+m.late50), all)
	f.Missed100 = figures.RatioFigure(float64(m.Lost+m.late100), all)
	f.OverheadKbps = figures.RatioOrZero(float64(m.wire-m.plain)*8/1000, d.Seconds())
	return &f
}
