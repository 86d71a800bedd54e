package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// maxReorderExtent is the largest extent of reordering that is measured, in packets.
const maxReorderExtent = 256

// network measures losses, delay and reordering of the packets on the downlink, with the terms of
// RFC 4737. Copies made by the link do not count.
type network struct {
	sent, lost     int64
	bursts         int64    // runs of consecutive losses
	lostSet        []uint64 // bit n % lostWindow is set if packet n, in the order of sending, was lost; nil before the first loss
	received       int64
	reordered      int64
	reorderExtents quantile.Histogram
	delay          quantile.Histogram       // nanoseconds; fine
	recent         [maxReorderExtent]uint64 // sequence numbers of the newest arrivals; number n is at n % len
	newest         uint64                   // highest sequence number received
}

func newNetwork() network {
	return network{delay: quantile.Histogram{Precision: quantile.Fine}, reorderExtents: quantile.Histogram{Precision: quantile.Exact}}
}

// CountSent counts a packet that was sent; lost reports whether the link lost it. Packets must be
// counted in the order of their sequence numbers.
func (m *network) CountSent(lost bool) {
	n := uint64(m.sent)
	m.sent++
	if m.lostSet != nil {
		m.lostSet[n%lostWindow/64] &^= 1 << (n % 64)
	}
	if lost {
		m.addLost(n)
	}
}

// lostWindow is the number of newest packets whose loss is stored.
const lostWindow = 1 << 16

// addLost counts packet n, in the order of sending, as lost. A loss between two runs of losses joins them.
func (m *network) addLost(n uint64) {
	m.lost++
	m.bursts++
	if m.lostSet == nil {
		m.lostSet = make([]uint64, lostWindow/64)
	}
	for _, neighbour := range [...]uint64{n - 1, n + 1} {
		if age := uint64(m.sent) - neighbour; age > 0 && age < lostWindow && m.lostSet[neighbour%lostWindow/64]>>(neighbour%64)&1 == 1 {
			m.bursts--
		}
	}
	if uint64(m.sent)-n <= lostWindow {
		m.lostSet[n%lostWindow/64] |= 1 << (n % 64)
	}
}

// CountDropped counts packet n, in the order of sending from 0, as lost: a queue dropped it after it was
// sent.
func (m *network) CountDropped(n uint64) { m.addLost(n) }

// CountUnknown counts a packet of a real network as lost after it was abandoned.
func (m *network) CountUnknown() { m.lost++ }

// CountArrival counts the arrival of the packet that was sent with sequence number seq. delay is its
// one-way delay.
func (m *network) CountArrival(seq uint64, delay time.Duration) {
	m.delay.Add(int64(delay))
	if m.received > 0 && seq < m.newest {
		m.reordered++
		m.reorderExtents.Add(int64(m.reorderExtent(seq)))
	}
	m.newest = max(m.newest, seq)
	m.recent[m.received%maxReorderExtent] = seq
	m.received++
}

// reorderExtent returns how many arrivals ago the earliest packet with a higher sequence number than
// seq arrived (RFC 4737, section 4.2.1), at most maxReorderExtent.
func (m *network) reorderExtent(seq uint64) int {
	extent := 0
	for ago := int64(1); ago <= min(m.received, maxReorderExtent); ago++ {
		if m.recent[(m.received-ago)%maxReorderExtent] > seq {
			extent = int(ago) // the last match is the earliest arrival
		}
	}
	return extent
}

// figures returns all measurements. g contains the gauges of the modelled link: the peak of its queue, and
// the delay that keeping the order of packets adds.
func (m *network) figures(g lossmodel.Gauges) figures.Network {
	delay := figures.QuantilesOf(&m.delay, 1000) // in microseconds
	for _, v := range []*float64{&delay.Min, &delay.P50, &delay.P95, &delay.P99, &delay.Max} {
		*v /= 1000 // to milliseconds
	}
	burst := figures.RatioFigure(float64(m.lost), float64(m.bursts)) // unknown if nothing was sent
	if m.bursts == 0 && m.sent > 0 {
		burst = figures.Known(0)
	}
	return figures.Network{
		LossRate: figures.RatioFigure(float64(m.lost), float64(m.sent)), MeanBurst: burst,
		ReorderedRatio: figures.RatioFigure(float64(m.reordered), float64(m.received)),
		ReorderExtent:  figures.QuantilesOf(&m.reorderExtents, 1).OutOf(m.received),
		DelayMS:        delay,
		QueuePeakBytes: figures.Known(float64(g.Peak.Bytes)), QueuePeakPackets: figures.Known(float64(g.Peak.Packets)),
		OrderCostMS: figures.Known(float64(g.OrderCost) / float64(time.Millisecond)),
	}
}
