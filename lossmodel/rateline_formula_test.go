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

// mahimahi is the loop of Mahimahi's link_queue.cc over the opportunities of schedule, which repeats.
type mahimahi struct {
	schedule   []time.Duration
	used       int
	queue      []int // bytes of the packets that wait, by number
	departures []time.Duration
}

// nextDelivery returns the time of the next opportunity.
func (m *mahimahi) nextDelivery() time.Duration {
	n := len(m.schedule)
	return time.Duration(m.used/n)*m.schedule[n-1] + m.schedule[m.used%n]
}

// rationalize uses the opportunities up to now. The packet of number len(departures) is in transit.
func (m *mahimahi) rationalize(now time.Duration) {
	for at := m.nextDelivery(); at <= now; at = m.nextDelivery() {
		m.used++
		for left := 1504; left > 0 && len(m.departures) < len(m.queue); {
			inTransit := &m.queue[len(m.departures)]
			*inTransit -= left
			left = max(0, -*inTransit)
			if *inTransit <= 0 {
				m.departures = append(m.departures, at)
			}
		}
	}
}

// read takes a datagram at now, whose IP packets each have 4 bytes of TUN header.
func (m *mahimahi) read(now time.Duration, wire, fragments int) {
	m.rationalize(now)
	m.queue = append(m.queue, wire+4*fragments)
}

// A trace gives the departures of Mahimahi's own loop, with and without a line that serves the queue packet by packet.
func TestMahimahiTrace(t *testing.T) {
	for _, discipline := range []string{"droptail", "codel target=1s interval=10s"} { // the second drops no packet here
		l := newLink(t, newSpec(t, "rate_trace", "line.trace", "queue", "off", "queue_discipline", discipline), 1)
		m := &mahimahi{schedule: []time.Duration{ms, 2 * ms, 2 * ms, 5 * ms, 9 * ms, 10 * ms}}
		rng := rand.New(rand.NewPCG(2, 2))
		now := time.Duration(0)
		for i := range 5000 {
			if rng.IntN(3) > 0 {
				now += time.Duration(rng.ExpFloat64() * 3e6)
			}
			if rng.IntN(3) == 0 {
				now = (now + ms).Truncate(ms) // often exactly at an opportunity
			}
			v := l.Send(now, make([]byte, rng.IntN(4000)), uint64(i))
			m.read(now, v.Wire, v.Fragments)
		}
		m.rationalize(now + time.Hour)
		drain(l, func(d Delivery) {
			if want := m.departures[d.Tag]; d.Due != want {
				t.Fatalf("%s: packet %d sent at %v is due at %v, by Mahimahi's loop at %v", discipline, d.Tag, d.Sent, d.Due, want)
			}
		})
	}
}

// With an opportunity each millisecond, 3,000 full IP packets need 3 s: Mahimahi counts 1,504 bytes for each.
func TestMahimahiFullPackets(t *testing.T) {
	for overhead, want := range map[string]time.Duration{"0": 3000 * ms, "1": 3002 * ms, "-28": 2945 * ms} {
		l := newLink(t, newSpec(t, "rate_trace", "one.down", "queue", "off", "rate_overhead", overhead), 1)
		last := time.Duration(0)
		for i := range 3000 {
			last = l.Send(time.Duration(i)*ms/2, make([]byte, 1472), 0).Due
		}
		if last != want { // the bytes of all packets, divided by 1504 and rounded up
			t.Errorf("overhead %s: the last packet is due at %v, want %v", overhead, last, want)
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
