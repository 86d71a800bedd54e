package lossmodel

import (
	"testing"
	"time"
)

// Packets sent through a fork have the same fate as through the original. Packets in flight
// arrive at the fork at the same times, and the original is not affected.
func TestFork(t *testing.T) {
	const ghost = 1 << 40
	for name, spec := range map[string]Spec{
		"everything": allStagesSpec(t),
		"fullest":    allFeaturesSpec(t),
		"four-state": newSpec(t, "loss", "four-state p13=2% p31=40% p32=20% p23=50% p14=1%", "latency", "30ms±9ms",
			"keep_order", "on", "rate", "2mbit"),
		"periodic": newSpec(t, "loss", "periodic every=7", "latency", "30ms", "jitter", "5ms", "jitter_correlation", "80%"),
		"pattern":  newSpec(t, "loss", "pattern bits=0010110", "latency", "20ms"),
		"trace":    newSpec(t, "trace", "capture.csv", "delay_trace", "capture.csv", "rate_trace", "line.trace"),
		"netem":    newSpec(t, "netem", "delay 50ms 10ms 25% loss gemodel 5% 20% duplicate 3% reorder 5% gap 3 rate 5mbit slot 3ms 9ms seed 1"),
	} {
		t.Run(name, func(t *testing.T) {
			alone, l := newLink(t, spec, 5), newLink(t, spec, 5)
			send := func(from, to int, links ...*Link) {
				for i := from; i < to; i++ {
					now := time.Duration(i) * 3 * ms
					data := make([]byte, 200+i%1500)
					var want Verdict
					for k, x := range links {
						got := x.Send(now, data, uint64(i))
						if k > 0 && got != want {
							t.Fatalf("packet %d: link %d: %+v, want %+v", i, k, got, want)
						}
						want = got
						if k == 0 {
							continue
						}
						checkSameDeliveries(t, now, links[0], x, ghost)
					}
					for {
						if _, ok := links[0].Receive(now); !ok {
							break
						}
					}
				}
			}
			send(0, 700, alone, l)
			if l.InFlight() == 0 {
				t.Fatal("no packets in flight before the fork")
			}
			f := l.Fork(ghost)
			send(700, 1500, alone, l, f)
			changed := spec
			if name != "netem" {
				changed = newSpec(t, "loss", "10%", "burst", "4", "latency", "20ms", "jitter", "3ms", "rate", "1mbit", "queue", "16KB")
			}
			for _, x := range []*Link{alone, l, f} {
				if err := x.Reshape(changed); err != nil {
					t.Fatal(err)
				}
			}
			send(1500, 2000, alone, l, f)
		})
	}
}

// checkSameDeliveries checks that b delivers by now what a would deliver, and removes it from b.
// Packets with the tag ghost have no data.
func checkSameDeliveries(t *testing.T, now time.Duration, a, b *Link, ghost uint64) {
	t.Helper()
	if dueA, okA := a.Next(); !okA || dueA > now {
		if dueB, okB := b.Next(); okB && dueB <= now {
			t.Fatalf("at %v: unexpected delivery due at %v", now, dueB)
		}
		return
	}
	for _, e := range peekDeliveries(a, now) {
		d, ok := b.Receive(now)
		if !ok || d.Due != e.due || d.Sent != e.sent || d.Copy != e.number || d.Flipped != e.flipped {
			t.Fatalf("at %v: got %+v, want due %v, sent %v, copy %d", now, d, e.due, e.sent, e.number)
		}
		if d.Tag == ghost && d.Data != nil || d.Tag != ghost && d.Tag != e.tag {
			t.Fatalf("at %v: tag %d with %d bytes", now, d.Tag, len(d.Data))
		}
	}
	if _, ok := b.Receive(now); ok {
		t.Fatalf("at %v: additional delivery", now)
	}
}

type expected struct {
	due, sent       time.Duration
	number, flipped int
	tag             uint64
}

// peekDeliveries lists what a link would deliver by now, without removing it.
func peekDeliveries(l *Link, now time.Duration) (out []expected) {
	flying := append(heap(nil), l.inFlight...)
	for len(flying) > 0 && flying[0].due <= int64(now) {
		e := flying.pop()
		p := &l.pool.packets[e.slot]
		out = append(out, expected{time.Duration(e.due), p.sent, p.copyNumber, p.flipped, p.tag})
	}
	return out
}
