package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Redundancy counts what redundancy costs and repairs, and when the packets of a lane are known at the receiver.
type Redundancy struct {
	datagrams, extra int64 // datagrams sent; those of them without a packet of their own
	wire, plain      int64 // bytes of the datagrams; those of the packets without redundancy
	repaired         int64
	repairedAfter    quantile.Histogram // microseconds
	known, lost      int64              // packets that have arrived, by whatever datagram; that never will
	late50, late100  int64              // of known: later than 50 and 100 ms after they were sent
}

// Deadlines of packets: later ones count as lost.
const (
	shortDeadline = 50 * time.Millisecond
	longDeadline  = 100 * time.Millisecond
)

// CountDatagram counts a datagram with a packet. plain is its size on the wire without redundancy.
func (m *Redundancy) CountDatagram(wire, plain int) {
	m.datagrams++
	m.wire += int64(wire)
	m.plain += int64(plain)
}

// CountExtra counts a datagram without a packet of its own.
func (m *Redundancy) CountExtra(wire int) {
	m.datagrams++
	m.extra++
	m.wire += int64(wire)
}

// CountKnown counts a packet that has arrived for the first time, delay after it was sent.
func (m *Redundancy) CountKnown(delay time.Duration) {
	m.known++
	if delay > shortDeadline {
		m.late50++
	}
	if delay > longDeadline {
		m.late100++
	}
}

// CountRepaired counts a packet that was repaired delay after it was sent.
func (m *Redundancy) CountRepaired(delay time.Duration) {
	m.repaired++
	m.repairedAfter.Add(delay.Microseconds())
}

// CountLost counts a packet that will never arrive.
func (m *Redundancy) CountLost() { m.lost++ }

// Figures returns the figures of a run of duration d. name is the policy.
func (m *Redundancy) Figures(name string, d time.Duration) *figures.Redundancy {
	all := float64(m.known + m.lost)
	return &figures.Redundancy{
		Policy: name, Datagrams: m.datagrams, Extra: m.extra, Repaired: m.repaired, RepairedAfterMS: figures.QuantilesOf(&m.repairedAfter, 1000),
		ResidualLoss: figures.RatioFigure(float64(m.lost), all),
		Missed50:     figures.RatioFigure(float64(m.lost+m.late50), all),
		Missed100:    figures.RatioFigure(float64(m.lost+m.late100), all),
		OverheadKbps: figures.RatioOrZero(float64(m.wire-m.plain)*8/1000, d.Seconds()),
	}
}
