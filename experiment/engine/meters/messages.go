package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Messages counts the reliable messages of a lane and their datagrams. The caller counts Sent, Refused and
// Wrong.
type Messages struct {
	figures.Messages
	deliveredBytes   int64
	small, burst     quantile.Histogram // microseconds from writing to delivery
	wire             int64              // bytes of datagrams without a packet, and bytes in the containers of packets
	skipped, packets int64              // packets left out because the stream had bytes to send; packets due
}

// CountDelivered counts a message of n bytes that was delivered delay after it was written.
func (m *Messages) CountDelivered(n int, isBurst bool, delay time.Duration) {
	m.Delivered++
	m.deliveredBytes += int64(n)
	if isBurst {
		m.burst.Add(delay.Microseconds())
	} else {
		m.small.Add(delay.Microseconds())
	}
}

// CountDatagram counts a datagram without a packet, or a segment of a stream.
func (m *Messages) CountDatagram(wire int) {
	m.Datagrams++
	m.wire += int64(wire)
}

// CountCarried counts the bytes that a container adds to the datagram of a packet.
func (m *Messages) CountCarried(n int) { m.wire += int64(n) }

// CountDue counts a packet that is due; skipped means that it is left out, because the stream has bytes to
// send.
func (m *Messages) CountDue(skipped bool) {
	m.packets++
	if skipped {
		m.skipped++
	}
}

// Figures returns the figures of a run of duration d.
func (m *Messages) Figures(d time.Duration) *figures.Messages {
	f := m.Messages
	f.UnderWay = f.Sent - f.Delivered
	f.DeliveryMS = figures.QuantilesOf(&m.small, 1000)
	f.BurstMS = figures.QuantilesOf(&m.burst, 1000)
	f.GoodputKbps = figures.RatioOrZero(float64(m.deliveredBytes)*8/1000, d.Seconds())
	f.WireKbps = figures.RatioOrZero(float64(m.wire)*8/1000, d.Seconds())
	f.SkippedRatio = figures.RatioFigure(float64(m.skipped), float64(m.packets))
	return &f
}
