package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// maxReorderExtent is the largest extent of reordering that is measured, in packets.
const maxReorderExtent = 256

// network measures what the network does to packets. Copies do not count. The zero value is
// ready.
type network struct {
	sent, lost, bursts int64
	inBurst            bool
	received           int64
	reordered          int64
	reorderExtents     quantile.Counts
	delay              histogram                // nanoseconds
	recent             [maxReorderExtent]uint64 // sequence numbers of the newest arrivals
	newest             uint64                   // the highest of all
}

// CountSent counts a packet sent, in order of sequence, and whether the network lost it.
func (m *network) CountSent(lost bool) {
	m.sent++
	if lost {
		m.lost++
		if !m.inBurst {
			m.bursts++
		}
	}
	m.inBurst = lost
}

// CountUnknown counts a packet as lost whose fate was not known when it left.
func (m *network) CountUnknown() { m.lost++ }

// CountArrival counts a packet that arrived, by its true sequence number.
func (m *network) CountArrival(seq uint64, delay time.Duration) {
	m.delay.add(int64(delay))
	if m.received > 0 && seq < m.newest {
		m.reordered++
		m.reorderExtents.Add(int64(m.reorderExtent(seq)))
	}
	m.newest = max(m.newest, seq)
	m.recent[m.received%maxReorderExtent] = seq
	m.received++
}

// reorderExtent returns how many arrivals ago the first packet with a higher sequence arrived, up to
// maxExtent.
func (m *network) reorderExtent(seq uint64) int {
	extent := 0
	for back := int64(1); back <= min(m.received, maxReorderExtent); back++ {
		if m.recent[(m.received-back)%maxReorderExtent] > seq {
			extent = int(back)
		}
	}
	return extent
}

// figures returns what was measured, with the gauges of the link.
func (m *network) figures(g lossmodel.Gauges) figures.Network {
	delay := m.delay.thousandths() // microseconds
	for _, p := range []*float64{&delay.Min, &delay.P50, &delay.P95, &delay.P99, &delay.Max} {
		*p /= 1000
	}
	burst := figures.RatioOf(float64(m.lost), float64(m.bursts)) // unknown if nothing was sent
	if m.bursts == 0 && m.sent > 0 {
		burst = figures.Known(0)
	}
	return figures.Network{
		LossRate: figures.RatioOf(float64(m.lost), float64(m.sent)), MeanBurst: burst,
		ReorderedRatio: figures.RatioOf(float64(m.reordered), float64(m.received)),
		ReorderExtent:  quantilesOf(&m.reorderExtents).Among(m.received),
		DelayMS:        delay,
		QueuePeakBytes: int64(g.Peak.Bytes), QueuePeakPackets: int64(g.Peak.Packets),
		OrderCostMS: float64(g.OrderCost) / float64(time.Millisecond),
	}
}
