package lossmodel

import (
	"time"
)

// Queued is how much a queue holds.
type Queued struct {
	Packets int   // datagrams waiting or being sent
	Bytes   int64 // that they cost on the line
}

// Gauges is what a link can tell about itself beyond the fates of its packets.
type Gauges struct {
	Queue, Peak Queued // before the bottleneck: at present, and the most there ever was
	InFlight    int    // deliveries under way, copies included
	// OrderCost is what keep_order has added to the mean delay of the datagrams
	// that got through while it was on; 0 if it never was.
	OrderCost time.Duration
}

// Gauges returns the link's gauges as of now, which may be later than the last
// Send. It changes nothing that a packet could notice.
func (l *Link) Gauges(now time.Duration) Gauges {
	g := Gauges{InFlight: len(l.flying)}
	for _, stage := range l.pipe.all {
		if s, ok := stage.(gauger); ok {
			s.gauge(now, &g)
		}
	}
	return g
}
