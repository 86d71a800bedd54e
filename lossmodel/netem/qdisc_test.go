package netem

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"
)

const msec = int64(time.Millisecond)

// The generator agrees with L'Ecuyer's recurrence, computed bit by bit: word j is a shift
// register of k bits with the polynomial x^k + x^q + 1 that advances s steps at once.
func TestGenerator(t *testing.T) {
	g := newLFSR(0x123456789abcdef)
	words := []struct {
		state   uint32
		k, q, s int
	}{{g.s1, 31, 6, 18}, {g.s2, 29, 2, 2}, {g.s3, 28, 13, 7}, {g.s4, 25, 3, 13}}
	for n := range 1000 {
		want := uint32(0)
		for i := range words {
			w := &words[i]
			// Bits from the top: b[0..31]; b[j+k] = b[j] ^ b[j+q].
			b := make([]uint32, 32+w.s)
			for j := range w.k {
				b[j] = w.state >> (31 - j) & 1
			}
			for j := w.k; j < len(b); j++ {
				b[j] = b[j-w.k] ^ b[j-w.k+w.q]
			}
			w.state = 0
			for j := range 32 {
				w.state |= b[w.s+j] << (31 - j)
			}
			want ^= w.state
		}
		if got := g.next(); got != want {
			t.Fatalf("word %d is %#x, want %#x", n, got, want)
		}
	}
}

// Every seed gives words above their minimum.
func TestSeeds(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 7, 8, 15, 127, 128, 1 << 32, math.MaxUint64} {
		g := newLFSR(seed)
		if g.s1 < 2 || g.s2 < 8 || g.s3 < 16 || g.s4 < 128 {
			t.Errorf("seed %d: %+v", seed, g)
		}
	}
	if g := newLFSR(1024<<32 | 1); g != (lfsr{1 + 2, 1 + 8, 1 + 16, 1 + 128}) {
		t.Errorf("a seed that is reduced to 1: %+v", g)
	}
}

// A value equal to the threshold hits. With a correlation of 100 % all values are equal to the
// first.
func TestThresholds(t *testing.T) {
	g := newLFSR(1)
	first := probability(g.next())
	for threshold, want := range map[probability]outcome{first: Isolated, first - 1: passed} {
		q := New(Params{On: true, Limit: 9, Loss: lossParams{event: event{Probability: threshold}}, Seeded: true, Seed: 1}, 0)
		if d := q.Enqueue(0, 100); d.Packet.Outcome != want {
			t.Errorf("threshold %d, value %d: %v", threshold, first, d.Packet.Outcome)
		}
		q = New(Params{On: true, Limit: 9, Duplicate: event{Probability: threshold}, Seeded: true, Seed: 1}, 0)
		if d := q.Enqueue(0, 100); d.Duplicated != (want == Isolated) {
			t.Errorf("threshold %d, value %d: duplicated %v", threshold, first, d.Duplicated)
		}
	}
	c := correlated{last: 1 << 31}
	for range 1000 {
		if got := c.next(&g, always); got != 1<<31 {
			t.Fatalf("value %d after 2^31 with a correlation of 100%%", got)
		}
	}
}

// The transmission time agrees with exact arithmetic.
func TestTransmissionTime(t *testing.T) {
	for _, line := range []string{"rate 1mbit", "rate 1tbit", "rate 8bit", "rate 5mbit 14", "rate 5mbit -42", "rate 1mbit 0 48 5",
		"rate 1mbit 8 53 -5", "rate 3.3mbit 100 1", "rate 1mbit 0 4000000000"} {
		p := mustParse(t, line)
		for _, wire := range []int{42, 60, 125, 1514, 65549} {
			size := int64(wire) + int64(p.Rate.Overhead)
			if p.Rate.CellSize > 0 {
				cells := (size + int64(p.Rate.CellSize) - 1) / int64(p.Rate.CellSize)
				size = cells * (int64(p.Rate.CellSize) + int64(p.Rate.CellOverhead))
				size &= math.MaxUint32 // the kernel's width
			}
			want := new(big.Int).Div(new(big.Int).Mul(big.NewInt(size), big.NewInt(1e9)), new(big.Int).SetUint64(p.Rate.Bytes)).Int64()
			if got := p.transmissionTime(wire); got != min(want, 2*horizon) {
				t.Errorf("%s: %d bytes: %d ns, want %d", line, wire, got, want)
			}
		}
	}
}

// An overhead that makes the size negative stalls the line, as in the kernel.
func TestNegativeSize(t *testing.T) {
	q := New(mustParse(t, "rate 8bit -1000"), 1)
	if d := q.Enqueue(0, 142); d.Packet.Outcome != Full {
		t.Errorf("%+v", d)
	}
}

// Extreme parameters have the kernel's effects.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		line string
		want Packet
	}{
		{"limit 0", Packet{Outcome: Full}},
		{"limit 0 delay 5ms duplicate 100%", Packet{Outcome: Full}},
		{"loss 100%", Packet{Outcome: Isolated}},
		{"loss 0%", Packet{Due: 7}},
		{"rate 0", Packet{Due: 7}},
		{"rate 7bit", Packet{Due: 7}},
		{"delay 274.877906s", Packet{Due: 7 + 274_877_905_984}}, // in ticks of 64 ns
		{"corrupt 100%", Packet{Due: 7, Corrupted: true}},
		{"delay 5ms reorder 100%", Packet{Due: 7, Overtakes: true}},
		{"loss state 0% 0% 0% 0% 100%", Packet{Outcome: Isolated}},
		{"loss gemodel 0% 0% 100% 100%", Packet{Outcome: Isolated}},
	} {
		q := New(mustParse(t, c.line), 1)
		if d := q.Enqueue(7, 100); d.Packet != c.want || d.Duplicated {
			t.Errorf("%s: %+v, want %+v", c.line, d, c.want)
		}
	}
	// A jitter wider than the delay: nothing leaves before it came.
	q := New(mustParse(t, "delay 1ms 274s"), 1)
	for i := range int64(10_000) {
		if d := q.Enqueue(i, 100); d.Packet.Outcome == passed && (d.Packet.Due < i || d.Packet.Due > i+msec+math.MaxInt32) {
			t.Fatalf("packet %d: %+v", i, d)
		}
	}
	// A line so slow that packets would wait for days.
	q = New(mustParse(t, "rate 8bit limit 4294967295"), 1)
	for range 3000 {
		if d := q.Enqueue(0, 100); d.Packet.Outcome == passed && d.Packet.Due > horizon {
			t.Fatalf("%+v", d)
		}
	}
}

// A packet chosen for loss and duplication is neither. A copy is not duplicated again and has its
// own delay.
func TestDuplicates(t *testing.T) {
	q := New(mustParse(t, "duplicate 100% loss 100%"), 1)
	for range 10 {
		if d := q.Enqueue(0, 100); d.Duplicated || d.Packet.Outcome != passed {
			t.Fatalf("%+v", d)
		}
	}
	q = New(mustParse(t, "duplicate 100% delay 10ms 5ms limit 3"), 1)
	d := q.Enqueue(0, 100)
	if !d.Duplicated || d.Copy.Due == d.Packet.Due || d.Copy.Outcome != passed {
		t.Errorf("%+v", d)
	}
	// One place is left: the copy takes it, and the packet had looked before.
	if d := q.Enqueue(0, 100); !d.Duplicated || d.Copy.Outcome != passed || d.Packet.Outcome != passed {
		t.Errorf("%+v", d)
	}
	if d := q.Enqueue(0, 100); d.Duplicated || d.Packet.Outcome != Full {
		t.Errorf("%+v", d)
	}
}

// tc passes on the correlation of duplicates only with another correlation.
func TestDuplicateCorrelation(t *testing.T) {
	for line, want := range map[string]float64{"duplicate 10% 25%": .1, "duplicate 10% 25% corrupt 0% 0%": .0175} {
		q, doubled := New(mustParse(t, line), 1), 0.0
		const packets = 100_000
		for i := range int64(packets) {
			if q.Enqueue(i, 100).Duplicated {
				doubled++
			}
		}
		if math.Abs(doubled-want*packets) > 5*math.Sqrt(want*packets) {
			t.Errorf("%s: %.0f of %d duplicated", line, doubled, packets)
		}
	}
}

// With a gap of g, at least g-1 packets are delayed between two reordered ones.
func TestGap(t *testing.T) {
	q := New(mustParse(t, "delay 10ms reorder 100% gap 4"), 1)
	for i := range 40 {
		if d := q.Enqueue(int64(i)*msec, 100); d.Packet.Overtakes != (i%4 == 3) {
			t.Fatalf("packet %d: %+v", i, d)
		}
	}
}

// A reordered packet bypasses the rate and does not use the line.
func TestReorderedBypassesRate(t *testing.T) {
	q := New(mustParse(t, "delay 10ms reorder 100% gap 2 rate 1mbit"), 1)
	line := int64(0)
	for i := range 100 {
		now := int64(i) * msec / 10
		d := q.Enqueue(now, 125)
		want := now
		if i%2 == 0 {
			line = max(line, now+10*msec) + msec
			want = line
		}
		if d.Packet.Due != want {
			t.Fatalf("packet %d: due %d, want %d", i, d.Packet.Due, want)
		}
	}
}

// A rate keeps packets in order with any jitter.
func TestRateKeepsOrder(t *testing.T) {
	q := New(mustParse(t, "delay 50ms 50ms rate 100mbit limit 100000"), 1)
	last := int64(0)
	for i := range 10_000 {
		d := q.Enqueue(int64(i)*msec, 125)
		if d.Packet.Due < last {
			t.Fatalf("packet %d is due at %d, the previous packet at %d", i, d.Packet.Due, last)
		}
		last = d.Packet.Due
	}
}

// Change keeps all state; only a new seed restarts the generator.
func TestChange(t *testing.T) {
	line := mustParse(t, "delay 10ms 5ms reorder 10% gap 3 loss gemodel 2% 10% duplicate 5% seed 5")
	a, b := New(line, 1), New(line, 1)
	for i := range 2000 {
		now := int64(i) * msec
		if i%100 == 50 {
			b.Change(line)
		}
		if x, y := a.Enqueue(now, 100), b.Enqueue(now, 100); x != y {
			t.Fatalf("packet %d: %+v and %+v", i, x, y)
		}
	}
	line.Seed = 6
	a.Change(line)
	line.Seed = 5
	a.Change(line)
	c := New(line, 1)
	c.sinceReordered, c.loss.bad, c.waiting = a.sinceReordered, a.loss.bad, a.waiting
	for i := 2000; i < 3000; i++ {
		now := int64(i) * msec
		if x, y := a.Enqueue(now, 100), c.Enqueue(now, 100); x != y {
			t.Fatalf("packet %d after a new seed: %+v and %+v", i, x, y)
		}
	}
}

// Packets leave in slots, in order, with the configured limits and intervals.
func TestSlots(t *testing.T) {
	q := New(mustParse(t, "delay 10ms 10ms slot 20ms 30ms packets 4 limit 100000"), 1)
	var opened []int64
	count := map[int64]int{}
	for i := range 20_000 {
		now := int64(i) * 5 * msec
		due := q.Enqueue(now, 100).Packet.Due
		if due < now || len(opened) > 0 && due < opened[len(opened)-1] {
			t.Fatalf("packet %d of %d is due at %d", i, now, due)
		}
		if count[due]++; count[due] == 1 {
			opened = append(opened, due)
		}
		if count[due] > 4 {
			t.Fatalf("%d packets leave in one slot", count[due])
		}
	}
	for i := 1; i < len(opened); i++ {
		if gap := opened[i] - opened[i-1]; gap < 20*msec {
			t.Fatalf("interval of slots: %d ns", gap)
		}
	}
	// Even if a slot's time is drawn below nothing.
	q, last := New(mustParse(t, "delay 10ms 10ms slot distribution normal 1ms 9ms packets 2 limit 100000"), 1), int64(0)
	for i := range int64(5000) {
		due := q.Enqueue(i*5*msec, 100).Packet.Due
		if due < last || due < i*5*msec {
			t.Fatalf("packet %d is due at %d, the previous packet at %d", i, due, last)
		}
		last = due
	}
	q = New(mustParse(t, "slot distribution normal 20ms 2ms bytes 250"), 1)
	if a, b, c := q.Enqueue(0, 100), q.Enqueue(0, 100), q.Enqueue(0, 100); a.Packet.Due != b.Packet.Due ||
		b.Packet.Due != c.Packet.Due || a.Packet.Due == 0 {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
}

// The tables have the moments measured of the kernel's.
func TestTables(t *testing.T) {
	for _, sigma := range []int64{1, 64, 8191, 8192, 12_345, 10_000_000, math.MaxInt32} {
		s := newDelayDist(5, sigma, normal)
		for i := range uint32(4096) {
			// Rounded to the nearest, halves away from 0.
			want := int64(math.Round(float64(sigma*int64(tables()[0][i])) / tableUnit))
			if got := s.draw(i) - 5; got != want {
				t.Fatalf("jitter %d, entry %d: %d, want %d", sigma, i, got, want)
			}
		}
	}
	for _, c := range []struct {
		d                   distribution
		least, most, sd, mu float64
	}{
		{normal, -4, 3.52, 1.00, 0}, {pareto, -.667, 4, .82, -.034}, {paretoNormal, -1.5, 4, .83, -.026},
	} {
		s := newDelayDist(0, tableUnit, c.d)
		least, most, sum, squares := math.Inf(1), math.Inf(-1), 0.0, 0.0
		for i := range uint32(4096) {
			v := float64(s.draw(i)) / tableUnit
			least, most = min(least, v), max(most, v)
			sum += v
			squares += v * v
			if i > 0 && s.draw(i) < s.draw(i-1) {
				t.Fatalf("%s: entry %d is less than the one before", c.d, i)
			}
		}
		mean := sum / 4096
		sd := math.Sqrt(squares/4096 - mean*mean)
		if math.Abs(mean-c.mu) > .005 || math.Abs(sd-c.sd) > .006 || math.Abs(least-c.least) > .005 && c.d != paretoNormal ||
			most > c.most+.005 {
			t.Errorf("%s: from %.3f to %.3f, mean %.4f, sd %.4f", c.d, least, most, mean, sd)
		}
	}
}

// The fraction of packets reordered by jitter (RFC 4737) agrees with the closed form for
// independent delays: packets at intervals of 1 ms, 50 ± 10 ms.
func TestJitterReorders(t *testing.T) {
	for line, want := range map[string]float64{
		"delay 50ms 10ms": .7114, "delay 50ms 10ms distribution normal": .8331,
		"delay 50ms 10ms distribution pareto": .5403, "delay 50ms 10ms distribution paretonormal": .6709,
	} {
		q := New(mustParse(t, line), 11)
		const packets = 50_000
		due := make([]int64, packets)
		for i := range due {
			due[i] = q.Enqueue(int64(i)*msec, 100).Packet.Due
		}
		// A packet is reordered if one that was sent later arrives before it.
		late, earliest := 0, int64(math.MaxInt64)
		for i := packets - 1; i >= 0; i-- {
			if due[i] > earliest {
				late++
			}
			earliest = min(earliest, due[i])
		}
		if got := float64(late) / packets; math.Abs(got-want) > 5*.0021 {
			t.Errorf("%s: fraction %.4f overtaken, want %.4f", line, got, want)
		}
	}
}

// Enqueue does not allocate under a steady load.
func TestNoAllocations(t *testing.T) {
	q := New(mustParse(t, "delay 50ms 10ms distribution normal loss 5% 10% duplicate 5% corrupt 1% reorder 5% gap 3 rate 50mbit slot 1ms"), 1)
	now := int64(0)
	step := func() {
		now += msec
		q.Enqueue(now, 500)
	}
	for range 10_000 {
		step()
	}
	if n := testing.AllocsPerRun(10_000, step); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

func BenchmarkEnqueue(b *testing.B) {
	q := New(mustParse(b, "delay 50ms 10ms distribution normal loss gemodel 1% 20% duplicate 1% reorder 5% rate 5mbit seed 1"), 1)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += msec
		q.Enqueue(now, 500)
	}
}

// BenchmarkMillionWaiting measures Enqueue with n waiting packets. The time must grow with log n.
func BenchmarkMillionWaiting(b *testing.B) {
	for _, n := range []int64{1_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			q := New(mustParse(b, "delay 2s 2s limit 4294967295"), 1)
			step := 2 * int64(time.Second) / n
			now := int64(0)
			for range 3 * n {
				now += step
				q.Enqueue(now, 100)
			}
			b.ReportAllocs()
			for b.Loop() {
				now += step
				q.Enqueue(now, 100)
			}
		})
	}
}
