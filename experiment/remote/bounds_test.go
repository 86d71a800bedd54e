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

// Clock drift of 50 ppm over an hour does not change the measured delays.
func TestMinDelayWithClockDrift(t *testing.T) {
	for name, millionths := range map[string]float64{"faster": 50, "slower": -50, "same": 0} {
		var f minDelay
		for at := time.Duration(0); at < time.Hour; at += 50 * time.Millisecond {
			drift := time.Duration(float64(at) * millionths / 1e6)
			took := -time.Hour + drift + time.Millisecond // the clocks differ by an hour
			if slower := took - f.update(at, took); slower < 0 || slower > 3*time.Millisecond+time.Millisecond/10 {
				t.Fatalf("%s: at %v, %v above the minimum", name, at, slower)
			}
		}
	}
	// A minimum is valid in its own window and the next one.
	var f minDelay
	f.update(0, time.Millisecond)
	for at := time.Second; at < minDelayWindow; at += time.Second {
		if got := f.update(at, 20*time.Millisecond); got != time.Millisecond {
			t.Fatalf("at %v: %v", at, got)
		}
	}
	if got := f.update(time.Hour, 20*time.Millisecond); got != time.Millisecond {
		t.Errorf("after an hour without datagrams: %v", got)
	}
	if got := f.update(2*time.Hour, 20*time.Millisecond); got != 20*time.Millisecond {
		t.Errorf("after two hours without datagrams: %v", got)
	}
}
