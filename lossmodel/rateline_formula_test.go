package lossmodel

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// In any interval the line sends at most the size of the bucket plus rate times interval, and not
// less than that by more than a packet.
func TestTokenBucket(t *testing.T) {
	const rate, depth = 1e6, 5000
	l := newLink(t, newSpec(t, "rate", "1mbit", "rate_burst", "5KB", "queue", "off"), 5)
	rng := rand.New(rand.NewPCG(1, 1))
	var leaves []float64
	var bytes []float64
	now := time.Duration(0)
	tokens, at := float64(depth), 0.0 // an independent bucket
	for range 4000 {
		now += time.Duration(rng.ExpFloat64() * 8e6)
		if rng.IntN(200) == 0 {
			now += time.Second
		}
		size := rng.IntN(1400)
		v := l.Send(now, make([]byte, size), 0)
		wire := float64(v.Wire)
		start := max(at, now.Seconds())
		tokens = min(depth, tokens+(start-at)*rate/8)
		if tokens < wire {
			start += (wire - tokens) * 8 / rate
			tokens = wire
		}
		tokens, at = tokens-wire, start
		if math.Abs(v.Due.Seconds()-start) > 1e-6 {
			t.Fatalf("departure at %v, by an independent bucket %.6f", v.Due, start)
		}
		leaves, bytes = append(leaves, v.Due.Seconds()), append(bytes, wire)
	}
	for i := range leaves {
		sum := 0.0
		for j := i; j < min(i+300, len(leaves)); j++ {
			sum += bytes[j]
			if allowed := depth + rate/8*(leaves[j]-leaves[i]); sum > allowed+1 {
				t.Fatalf("packets %d to %d: %.0f bytes where %.0f are allowed", i, j, sum, allowed)
			}
		}
	}
}

// A trace gives the departures of Mahimahi's own loop: each opportunity delivers up to 1504 bytes
// of waiting packets; unused capacity is lost.
func TestMahimahiTrace(t *testing.T) {
	l := newLink(t, newSpec(t, "rate_trace", "line.trace", "queue", "off"), 1)
	rng := rand.New(rand.NewPCG(2, 2))
	type packet struct {
		sent time.Duration
		wire int
		due  time.Duration
	}
	var all []packet
	now := time.Duration(0)
	for range 5000 {
		now += time.Duration(rng.ExpFloat64() * 3e6)
		if rng.IntN(3) == 0 {
			now = (now + ms).Truncate(ms) // often exactly at an opportunity
		}
		v := l.Send(now, make([]byte, rng.IntN(4000)), 0)
		all = append(all, packet{now, v.Wire, v.Due})
	}
	next, left := 0, 0 // the packet being sent, and its remaining bytes
	for i := 0; next < len(all); i++ {
		at := time.Duration(i/6)*10*ms + time.Duration([]int{1, 2, 2, 5, 9, 10}[i%6])*ms
		for room := opportunityBytes; room > 0 && next < len(all) && all[next].sent <= at; {
			if left == 0 {
				left = all[next].wire
			}
			part := min(room, left)
			room, left = room-part, left-part
			if left == 0 {
				if all[next].due != at {
					t.Fatalf("packet %d of %d bytes sent at %v is due at %v, by Mahimahi's loop at %v",
						next, all[next].wire, all[next].sent, all[next].due, at)
				}
				next++
			}
		}
	}
}

// Overhead, cells and the limit in packets are applied.
func TestFraming(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		size  int
		bytes int // on the line
	}{
		{[]string{"rate_overhead", "14"}, 100, 142},
		{[]string{"rate_overhead", "-28"}, 100, 100},
		{[]string{"rate_overhead", "-28"}, 0, 1},
		{[]string{"rate_overhead", "8", "rate_cell", "48", "rate_cell_overhead", "5"}, 100, 3 * 53},
		{[]string{"rate_cell", "48", "rate_cell_overhead", "5"}, 20, 53},
		{[]string{"rate_cell", "48", "rate_cell_overhead", "5"}, 21, 106},
		{[]string{"rate_overhead", "14"}, 2000, 2000 + 8 + 2*34},
	} {
		l := newLink(t, newSpec(t, append(c.pairs, "rate", "8mbit", "queue", "off")...), 1)
		if got := l.Send(0, make([]byte, c.size), 0).Due; got != time.Duration(c.bytes)*time.Microsecond {
			t.Errorf("%v: %d bytes take %v, want %d us", c.pairs, c.size, got, c.bytes)
		}
		if g := l.Gauges(0); g.Queue != (QueueLength{1, int64(c.bytes)}) || g.Peak != g.Queue {
			t.Errorf("%v: gauges %+v", c.pairs, g)
		}
		if g := l.Gauges(time.Second); g.Queue != (QueueLength{}) || g.Peak.Packets != 1 {
			t.Errorf("%v: gauges at the end %+v", c.pairs, g)
		}
	}
	l := newLink(t, newSpec(t, "rate", "8mbit", "queue", "off", "queue_packets", "3"), 1)
	for i := range 10 {
		if v := l.Send(0, nil, 0); (v.Lost == Queue) != (i >= 3) {
			t.Errorf("packet %d: %v", i, v.Lost)
		}
	}
}

// A packet reordered by distance d is overtaken by d packets.
func TestReorderDistance(t *testing.T) {
	for _, d := range []int{1, 3, 12} {
		l := newLink(t, newSpec(t, "reorder", "1%", "reorder_distance", strconv.Itoa(d), "reorder_delay", "1s", "latency", "9ms"), 4)
		const n = 20_000
		for i := range n {
			l.Send(time.Duration(i)*16_666_667, nil, uint64(i))
		}
		held, place := 0, 0
		late := map[int]int{}
		drain(l, func(a Delivery) {
			if a.Due-a.Sent > 9*ms && a.Tag > 0 {
				held++
				late[place-int(a.Tag)]++
			}
			place++
		})
		// Two delayed packets within d of each other change each other's position.
		if held < 120 || late[d] < held*4/5 {
			t.Errorf("distance %d: %d delayed, displacements %v", d, held, late)
		}
	}
}

// The fraction of damaged datagrams and the number of flipped bits are binomial.
func TestBitErrorClosedForm(t *testing.T) {
	const size, rate = 125, 1e-3
	n := packetCount() / 2
	l := newLink(t, newSpec(t, "corrupt_ber", "0.001"), 3)
	counts := map[int]float64{}
	for range n {
		l.Send(0, make([]byte, size), 0)
		d, _ := l.Receive(0)
		counts[d.Flipped]++
	}
	want := math.Pow(1-rate, size*8)
	for k := range 6 {
		checkClose(t, "flipped", counts[k]/float64(n), want, math.Sqrt(want*(1-want)/float64(n)))
		want *= float64(size*8-k) / float64(k+1) * rate / (1 - rate)
	}
}
