package remote

import (
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// While virtual time is paused, the queues stay within their limits whatever the receiver sends.
func TestQueueLimitsWhilePaused(t *testing.T) {
	near, _ := newStoppedPipe(0)
	l := NewLink(near, "there")
	l.session = 1
	l.inFlight.add([]byte("sent"))
	handle := func(x received) {
		if err := l.handle(&x); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * maxQueued {
		handle(received{message: &message{Session: 1, Report: &report{Display: meters.DisplayCounts{Shown: int64(i)}}}})
	}
	if n := len(l.arrivals.events); n != 1 {
		t.Errorf("%d display updates queued, expected only the newest", n)
	}
	for range 2 * maxQueued {
		handle(received{message: &message{Session: 1, Report: &report{Records: []record{{Packets: make([]engine.PacketReport, 1)}}}}})
		handle(received{data: append(appendGame(nil, 1, 0), make([]byte, 200)...)})
	}
	if n := len(l.arrivals.events); n > maxQueued {
		t.Errorf("%d arrivals queued, expected at most %d", n, maxQueued)
	}
	if n := l.acks.bytes; n > maxQueuedBytes || n < maxQueuedBytes/2 {
		t.Errorf("%d bytes of acks queued, expected %d to %d", n, maxQueuedBytes/2, maxQueuedBytes)
	}
	for l.acks.due(time.Hour) != nil {
		l.acks.pop()
	}
	if l.acks.bytes != 0 {
		t.Errorf("%d bytes counted in an empty queue", l.acks.bytes)
	}
}
