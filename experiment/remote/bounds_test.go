package remote

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
)

// While time stands still, whatever the far end says takes no more than so much memory.
func TestPausedQueues(t *testing.T) {
	near, end := newPipe(0)
	l := NewLink(near, "there")
	l.flying.add([]byte("sent"))
	say := func(stream uint8, msg []byte) {
		if err := end.Send(stream, msg); err != nil {
			t.Fatal(err)
		}
		l.Poll(config.Default(), 0, 1, time.Now())
	}
	for i := range 2 * maxQueued {
		m := report{first: uint64(i), display: meters.DisplayCounts{Shown: int64(i)}}
		msg, _ := m.append(nil, l.session)
		say(streamReport, msg)
	}
	if n := len(l.arrivals.events); n != 1 {
		t.Errorf("%d counts of the display wait; only the newest is of use", n)
	}
	for i := range 2 * maxQueued {
		m := report{first: uint64(i), records: []record{{number: 0}}}
		msg, _ := m.append(nil, l.session)
		say(streamReport, msg)
		say(streamAck, append([]byte{l.session}, make([]byte, 4+200)...))
	}
	if n := len(l.arrivals.events); n > maxQueued {
		t.Errorf("%d arrivals wait", n)
	}
	if n := l.acks.bytes; n > maxQueuedBytes || n < maxQueuedBytes/2 {
		t.Errorf("acks of %d bytes wait", n)
	}
	for l.acks.due(time.Hour) != nil {
		l.acks.pop()
	}
	if l.acks.bytes != 0 {
		t.Errorf("%d bytes wait in no ack", l.acks.bytes)
	}
}

// Two clocks that drift make no datagram of an hour slow.
func TestClocksDrift(t *testing.T) {
	for name, millionths := range map[string]float64{"faster": 50, "slower": -50, "same": 0} {
		var f fastest
		for at := time.Duration(0); at < time.Hour; at += 50 * time.Millisecond {
			drift := time.Duration(float64(at) * millionths / 1e6)
			took := -time.Hour + drift + time.Millisecond // the clocks began at other times
			if slower := took - f.note(at, took); slower < 0 || slower > 3*time.Millisecond+time.Millisecond/10 {
				t.Fatalf("%s: at %v, slower by %v", name, at, slower)
			}
		}
	}
	// Within a turn, and the one after, the fastest counts.
	var f fastest
	f.note(0, time.Millisecond)
	for at := time.Second; at < fastestTurn; at += time.Second {
		if got := f.note(at, 20*time.Millisecond); got != time.Millisecond {
			t.Fatalf("at %v: %v", at, got)
		}
	}
	if got := f.note(time.Hour, 20*time.Millisecond); got != time.Millisecond {
		t.Errorf("after a silence: %v", got)
	}
	if got := f.note(2*time.Hour, 20*time.Millisecond); got != 20*time.Millisecond {
		t.Errorf("after two: %v", got)
	}
}
