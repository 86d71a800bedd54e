package lossmodel

import (
	"math/rand/v2"
	"testing"
	"time"
)

// rateStep is a rate in bits per second that begins at a time.
type rateStep struct {
	from time.Duration
	bps  float64
}

// finishAt returns when bits that begin at a time have been sent over a line with the given rates. It is an independent
// model of the line: it integrates the rate.
func finishAt(begin time.Duration, bits float64, rates []rateStep) time.Duration {
	now := begin
	for i, r := range rates {
		end := time.Duration(1 << 62)
		if i+1 < len(rates) {
			end = rates[i+1].from
		}
		if end <= now {
			continue
		}
		if need := bits / r.bps * 1e9; float64(end-now) >= need {
			return now + time.Duration(need)
		}
		bits -= float64(end-now) / 1e9 * r.bps
		now = end
	}
	return now
}

// A change of the rate re-times the packets in the queue: the arrivals agree with the integral of the rate, with and
// without jitter in order, and the queue is full at the same times.
func TestRetimedQueue(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		spec := newSpec(t, "rate", "1mbit", "queue", "20KB", "latency", "30ms")
		l := newLink(t, spec, seed)
		rates := []rateStep{{0, 1e6}}
		type sent struct {
			at   time.Duration
			bits float64
			lost bool
		}
		var all []sent
		now := time.Duration(0)
		for range 3000 {
			now += time.Duration(random.IntN(10_000_000))
			if random.IntN(40) == 0 {
				rate := []string{"50kbit", "200kbit", "1mbit", "3mbit", "10mbit"}[random.IntN(5)]
				if err := spec.Set("rate", rate); err != nil {
					t.Fatal(err)
				}
				if err := l.ReshapeAt(now, spec); err != nil {
					t.Fatal(err)
				}
				bps, _ := spec.Number("rate")
				rates = append(rates, rateStep{now, bps * 1000})
			}
			now++
			size := 100 + random.IntN(1000)
			v := l.Send(now, make([]byte, size), uint64(len(all)))
			all = append(all, sent{now, float64(size+28) * 8, v.Lost != None})
		}
		got := map[uint64]time.Duration{}
		drain(l, func(d Delivery) { got[d.Tag] = d.Due })
		type queued struct {
			leaves time.Duration
			bytes  float64
		}
		var waiting []queued
		lineFree := time.Duration(0)
		lost := 0
		for i, p := range all {
			bytes := p.bits / 8
			for len(waiting) > 0 && waiting[0].leaves <= p.at {
				waiting = waiting[1:]
			}
			for _, q := range waiting {
				bytes += q.bytes
			}
			if full := bytes > 20_000; full != p.lost {
				t.Fatalf("seed %d: packet %d at %v: lost is %v with %.0f bytes in the queue", seed, i, p.at, p.lost, bytes)
			}
			if p.lost {
				lost++
				continue
			}
			lineFree = finishAt(max(p.at, lineFree), p.bits, rates)
			waiting = append(waiting, queued{lineFree, p.bits / 8})
			if off := got[uint64(i)] - lineFree - 30*ms; off < -5*time.Microsecond || off > 5*time.Microsecond {
				t.Fatalf("seed %d: packet %d arrives at %v, want %v", seed, i, got[uint64(i)], lineFree+30*ms)
			}
			lineFree = got[uint64(i)] - 30*ms // rounding must not add up
		}
		if lost == 0 || lost == len(all) {
			t.Errorf("seed %d: %d of %d lost", seed, lost, len(all))
		}
	}
}

// After a fall of the rate and a drained queue, packets have the same times as on a link that always had the new rate.
// With keep_order they do not wait for times of the old rate.
func TestRetimedQueueDrains(t *testing.T) {
	for _, pairs := range [][]string{{"latency", "5ms"}, {"latency", "20ms", "jitter", "9ms", "keep_order", "on"},
		{"rate_burst", "4KB"}, {"duplicate", "20%", "corrupt", "10%"}, {"reorder", "20%"}} {
		slow := newSpec(t, append([]string{"rate", "10kbit", "queue", "off"}, pairs...)...)
		fast := newSpec(t, append([]string{"rate", "10mbit", "queue", "off"}, pairs...)...)
		a, b := newLink(t, slow, 3), newLink(t, fast, 3)
		for i := range 200 {
			a.Send(time.Duration(i)*ms, make([]byte, 500), uint64(i))
			b.Send(time.Duration(i)*ms, make([]byte, 500), uint64(i))
		}
		if err := a.ReshapeAt(200*ms, fast); err != nil {
			t.Fatal(err)
		}
		for i := 200; i < 3000; i++ {
			va, vb := a.Send(time.Duration(i)*ms, make([]byte, 500), uint64(i)), b.Send(time.Duration(i)*ms, make([]byte, 500), uint64(i))
			if i > 600 && va != vb {
				t.Fatalf("%v: packet %d: %+v, want %+v", pairs, i, va, vb)
			}
		}
		if a.rate.line != nil {
			t.Errorf("%v: the queue is empty, but still served packet by packet", pairs)
		}
	}
}

// Without a rate, the packets in the queue leave at once.
func TestRateOffEmptiesQueue(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "8kbit", "queue", "off", "latency", "7ms"), 1)
	for i := range 50 {
		l.Send(0, make([]byte, 972), uint64(i))
	}
	if err := l.ReshapeAt(2500*ms, newSpec(t, "latency", "7ms")); err != nil {
		t.Fatal(err)
	}
	n := 0
	drain(l, func(d Delivery) {
		want := 2507 * ms
		if d.Tag < 2 {
			want = time.Duration(d.Tag+1)*time.Second + 7*ms
		}
		if d.Due != want {
			t.Errorf("packet %d arrives at %v, want %v", d.Tag, d.Due, want)
		}
		n++
	})
	if n != 50 || l.InFlight() != 0 {
		t.Errorf("%d arrived, %d in flight", n, l.InFlight())
	}
}
