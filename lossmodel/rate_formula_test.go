package lossmodel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The delay of every packet agrees with Lindley's recursion, computed in floats.
func TestRateMatchesLindley(t *testing.T) {
	const size, rate, rho = 97, 1e6, 0.8
	l := newLink(t, newSpec(t, "rate", "1mbit", "queue", "off", "latency", "3ms", "loss", "5%"), 5)
	rng := rand.New(rand.NewPCG(5, 5))
	service := float64(size+28) * 8 / rate
	now, idle, waits, m := 0.0, 0.0, 0.0, 0
	n := packetCount()
	for range n {
		now += rng.ExpFloat64() * service / rho * 0.95 // 5 % of the packets are lost before the queue
		sent := time.Duration(now * 1e9)
		v := l.Send(sent, make([]byte, size), 0)
		if v.Lost != None {
			continue
		}
		start := max(sent.Seconds(), idle)
		idle = start + service
		if got := v.Due.Seconds() - 0.003; math.Abs(got-idle) > 1e-6 {
			t.Fatalf("departure at %.9f s, by Lindley's recursion %.9f s", got, idle)
		}
		waits += start - sent.Seconds()
		m++
		l.Receive(sent)
	}
	// M/D/1: Wq = rho S / (2 (1-rho)); waits are strongly correlated.
	want := rho * service / (2 * (1 - rho))
	checkClose(t, "mean wait", waits/float64(m), want, 0.17/sigmas*want*math.Sqrt(5e4/float64(n)))
}

// At load rho the fraction 1-1/rho is lost, and the other packets wait for a full queue.
func TestOverloadClosedForm(t *testing.T) {
	const size, limit = 972, 10 // 1000 bytes on the wire, 8 ms each at 1 mbit
	l := newLink(t, newSpec(t, "rate", "1mbit", "queue", "10KB"), 5)
	lost, n := 0.0, 40_000
	for i := range n {
		now := time.Duration(i) * 4 * ms // rho = 2
		v := l.Send(now, make([]byte, size), 0)
		if v.Lost == Queue {
			lost++
		} else if delay := v.Due - now; delay > limit*8*ms || i > 100 && delay <= (limit-1)*8*ms {
			t.Fatalf("packet %d is delayed by %v; the queue is %v long", i, delay, limit*8*ms)
		}
	}
	checkClose(t, "lost", lost/float64(n), 0.5, float64(limit)/float64(n)/sigmas)
}

// A busy line sends at exactly its rate; fractions of a nanosecond are carried over.
func TestRateExact(t *testing.T) {
	const size, rate = 33, 7_777_777
	spec := newSpec(t, "rate", "7777777bit", "queue", "off")
	l := newLink(t, spec, 1)
	n := 100_000
	var last Verdict
	for range n {
		last = l.Send(0, make([]byte, size), 0)
	}
	want := time.Duration(int64(n) * (size + 28) * 8 * 1e9 / rate)
	if last.Due != want {
		t.Errorf("%d packets take %v, want %v", n, last.Due, want)
	}
}

// A queue without a limit drops packets that would wait longer than maxWait.
func TestUnlimitedQueueDrops(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "1kbit", "queue", "off"), 1)
	dropped := 0
	for range 10_000 {
		if v := l.Send(0, make([]byte, 972), 0); v.Lost == Queue {
			dropped++
		} else if v.Due > maxWait+8*time.Second {
			t.Fatalf("due at %v", v.Due)
		}
	}
	if want := 10_000 - 451; dropped != want {
		t.Errorf("%d dropped, want %d", dropped, want)
	}
}
