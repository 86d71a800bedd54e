package remote

import (
	"testing"
	"time"

	"wirelab/experiment/engine"
)

// While virtual time is paused, the queues hold at most one ack and one arrival of each datagram in flight,
// whatever the receiver sends, and the datagrams in flight are bounded.
func TestQueueLimitsWhilePaused(t *testing.T) {
	near, _ := newStoppedPipe(t, 0)
	l := NewLink(near, "there")
	l.session = 1
	for range maxInFlight + 10 {
		l.inFlight.add(sentDatagram{data: []byte("sent")})
	}
	for range 2 {
		for number := range l.inFlight.next {
			r := record{Number: number, Packets: make([]engine.PacketReport, 1)}
			if err := l.handleMessage(&message{Session: 1, Report: &report{Records: []record{r}}}); err != nil {
				t.Fatal(err)
			}
			if err := l.handleAck(&datagram{time.Now(), append(appendGame(nil, 1, number), make([]byte, 200)...)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(l.arrivals) != maxInFlight || len(l.acks) != maxInFlight || l.inFlight.bytes != 0 {
		t.Errorf("%d arrivals and %d acks queued, %d bytes in flight", len(l.arrivals), len(l.acks), l.inFlight.bytes)
	}
	large := maxInFlightBytes / 10
	for range 20 {
		l.inFlight.add(sentDatagram{data: make([]byte, large)})
	}
	if n := l.inFlight.bytes; n > maxInFlightBytes || n < maxInFlightBytes-large {
		t.Errorf("%d bytes in flight", n)
	}
}
