package lossmodel

import (
	"time"
)

// QueueLength is the content of a queue.
type QueueLength struct {
	Packets int   // datagrams waiting or being sent
	Bytes   int64 // size of the datagrams on the line
}

// Gauges are current values of a link that verdicts do not contain.
type Gauges struct {
	Queue, Peak QueueLength // queue before the line: the current content, and the maximum so far
	// OrderCost is the mean delay that keep_order has added to each datagram that was not lost; 0
	// if keep_order was never on.
	OrderCost time.Duration
}

// Gauges returns the gauges at now, which may be later than the last Send. It does not affect
// later packets.
func (l *Link) Gauges(now time.Duration) Gauges {
	l.runLine(now)
	var g Gauges
	for _, stage := range l.pipe.stages {
		if s, ok := stage.(gauger); ok {
			s.gauge(now, &g)
		}
	}
	return g
}
