package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Messages counts the reliable messages of a lane and their datagrams.
type Messages struct {
	sent, delivered, refused, wrong int64
	deliveredBytes                  int64
	small, burst                    quantile.Histogram // microseconds from writing to delivery
	datagrams                       int64              // without a packet
	wire                            int64              // bytes of these, and bytes in the containers of packets
	skipped, packets                int64              // packets left out because the stream had bytes to send; packets due
}

// CountSent counts a message that was written.
func (m *Messages) CountSent() { m.sent++ }

// CountRefused counts a message that the sender refused, because too much was waiting.
func (m *Messages) CountRefused() { m.refused++ }

// CountWrong counts a delivered message that differs from the one sent.
func (m *Messages) CountWrong() { m.wrong++ }

// CountDelivered counts a message of n bytes that was delivered delay after it was written.
func (m *Messages) CountDelivered(n int, isBurst bool, delay time.Duration) {
	m.delivered++
	m.deliveredBytes += int64(n)
	if isBurst {
		m.burst.Add(delay.Microseconds())
	} else {
		m.small.Add(delay.Microseconds())
	}
}

// CountDatagram counts a datagram without a packet, or a segment of a stream.
func (m *Messages) CountDatagram(wire int) {
	m.datagrams++
	m.wire += int64(wire)
}

// CountCarried counts the bytes that a container adds to the datagram of a packet.
func (m *Messages) CountCarried(n int) { m.wire += int64(n) }

// CountDue counts a packet that is due; skipped means that it is left out, because the stream has bytes to send.
func (m *Messages) CountDue(skipped bool) {
	m.packets++
	if skipped {
		m.skipped++
	}
}

// Figures returns the figures of a run of duration d.
func (m *Messages) Figures(d time.Duration) *figures.Messages {
	return &figures.Messages{
		Sent: m.sent, Delivered: m.delivered, UnderWay: m.sent - m.delivered, Refused: m.refused, Wrong: m.wrong,
		DeliveryMS: figures.QuantilesOf(&m.small, 1000), BurstMS: figures.QuantilesOf(&m.burst, 1000), Datagrams: m.datagrams,
		GoodputKbps:  figures.RatioOrZero(float64(m.deliveredBytes)*8/1000, d.Seconds()),
		WireKbps:     figures.RatioOrZero(float64(m.wire)*8/1000, d.Seconds()),
		SkippedRatio: figures.RatioFigure(float64(m.skipped), float64(m.packets)),
	}
}
