package queue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// newQueue returns a queue with a policy and a limit in bytes.
func newQueue(t testing.TB, text string, limit int64) *Queue {
	t.Helper()
	p, err := Policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q := New()
	q.Set(Limit{Bytes: limit}, p)
	return q
}

// The defaults are those of tc-codel(8) and tc-fq_codel(8), but the quantum is without Ethernet header.
func TestDefaults(t *testing.T) {
	want := []string{"droptail", "codel target=5ms interval=100ms", "fq_codel target=5ms interval=100ms quantum=1500"}
	if got := Texts(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// rfcCodel is CoDel as in the pseudocode of RFC 8289, section 5, with floating-point numbers.
type rfcCodel struct {
	queue                    []Packet
	bytes                    int64
	firstAbove, dropNext     float64
	count, lastCount         float64
	dropping                 bool
	target, interval, maxMTU float64
}

func (c *rfcCodel) doDequeue(now float64) (p *Packet, okToDrop bool) {
	if len(c.queue) == 0 {
		c.firstAbove = 0
		return nil, false
	}
	p = &c.queue[0]
	c.queue = c.queue[1:]
	c.bytes -= p.Bytes
	if now-float64(p.Entered) < c.target || float64(c.bytes) <= c.maxMTU {
		c.firstAbove = 0
	} else if c.firstAbove == 0 {
		c.firstAbove = now + c.interval
	} else if now >= c.firstAbove {
		okToDrop = true
	}
	return p, okToDrop
}

func (c *rfcCodel) dequeue(now float64, drop func(Packet)) *Packet {
	// The root is rounded as in controlLaw, so that no drop falls on the other side of a dequeue.
	law := func(t float64) float64 { return t + math.Floor(c.interval*1024/math.Floor(math.Sqrt(c.count*(1<<20)))) }
	p, okToDrop := c.doDequeue(now)
	if c.dropping {
		if !okToDrop {
			c.dropping = false
		}
		for now >= c.dropNext && c.dropping {
			drop(*p)
			c.count++
			if p, okToDrop = c.doDequeue(now); !okToDrop {
				c.dropping = false
			} else {
				c.dropNext = law(c.dropNext)
			}
		}
	} else if okToDrop {
		drop(*p)
		p, _ = c.doDequeue(now)
		c.dropping = true
		delta := c.count - c.lastCount
		c.count = 1
		if delta > 1 && now-c.dropNext < 16*c.interval {
			c.count = delta
		}
		c.dropNext = law(now)
		c.lastCount = c.count
	}
	return p
}

// CoDel drops the packets that the pseudocode of RFC 8289 drops.
func TestCodelMatchesRFC(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		q := newQueue(t, "codel", 0)
		ref := &rfcCodel{target: float64(5 * ms), interval: float64(100 * ms), maxMTU: 1514}
		var got, want []uint64
		now, line := time.Duration(0), time.Duration(0)
		for n := range uint64(20_000) {
			load := 0.5 + float64(n/2000%4)/2 // 0.5 to 2
			now += time.Duration(rnd.ExpFloat64() * float64(ms) / load)
			for line < now && q.waiting.Packets > 0 { // a packet leaves every 1.003 ms: no multiple of it is an interval
				line += 1_003_001
				if p, ok := q.Dequeue(line); ok {
					_ = p
					q.Sent()
				}
				for _, p := range q.Dropped {
					got = append(got, p.ID)
				}
				ref.dequeue(float64(line), func(p Packet) { want = append(want, p.ID) })
			}
			line = max(line, now)
			p := Packet{ID: n, Bytes: 100 + rnd.Int64N(1400)}
			q.Enqueue(now, p)
			p.Entered = now
			ref.queue, ref.bytes = append(ref.queue, p), ref.bytes+p.Bytes
		}
		if !slices.Equal(got, want) || len(got) < 100 {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("seed %d: %d dropped, want %d; drop %d differs", seed, len(got), len(want), i)
		}
	}
}

// The control law is interval/sqrt(count).
func TestControlLaw(t *testing.T) {
	for count := uint32(1); count < 1<<20; count += 1 + count/7 {
		c := codel{count: count}
		got, want := float64(c.controlLaw(0, 100*ms)), float64(100*ms)/math.Sqrt(float64(count))
		if math.Abs(got/want-1) > 0.001 {
			t.Errorf("count %d: %v, want %v", count, got, want)
		}
	}
}

// serve sends packets for d at 600 bytes per ms and returns the bytes sent by owner.
func serve(q *Queue, now *time.Duration, d time.Duration) map[int]int64 {
	sent := map[int]int64{}
	for end := *now + d; *now < end; {
		p, ok := q.Dequeue(*now)
		if !ok {
			return sent
		}
		q.Sent()
		sent[p.Owner] += p.Bytes
		*now += time.Duration(p.Bytes * int64(ms) / 600)
	}
	return sent
}

// fq_codel gives flows equal shares whatever the sizes of their packets, and serves a packet of a new flow at once.
func TestFQShares(t *testing.T) {
	q := newQueue(t, "fq_codel", 0)
	now := time.Duration(0)
	for i := range uint64(4000) {
		q.Enqueue(now, Packet{Owner: 1, ID: i, Bytes: 1500})
		q.Enqueue(now, Packet{Owner: 2, ID: 2 * i, Bytes: 700})
		q.Enqueue(now, Packet{Owner: 2, ID: 2*i + 1, Bytes: 800})
	}
	sent := serve(q, &now, time.Second)
	if d := sent[1] - sent[2]; max(d, -d) > 2*1514 {
		t.Errorf("flows sent %d and %d bytes", sent[1], sent[2])
	}
	for range 20 {
		q.Enqueue(now, Packet{Owner: 0, ID: 7, Bytes: 400})
		if p, _ := q.Dequeue(now); p.Owner != 0 {
			t.Fatal("a packet of a new flow waits for others")
		}
		q.Sent()
		serve(q, &now, 20*ms)
	}
}

// A full fq_codel drops from the head of the longest flow, half of it or 64 packets.
func TestFQOverload(t *testing.T) {
	q := newQueue(t, "fq_codel", 300_000)
	q.Enqueue(0, Packet{Owner: 0, ID: 1, Bytes: 500})
	dropped := 0
	for i := range uint64(400) {
		q.Enqueue(0, Packet{Owner: 1, ID: i, Bytes: 1500})
		for k, p := range q.Dropped {
			if p.Owner != 1 || p.ID != uint64(dropped+k) {
				t.Fatalf("packet %d of flow %d was dropped", p.ID, p.Owner)
			}
		}
		if n := len(q.Dropped); n != 0 && n != 64 {
			t.Errorf("%d packets dropped at once", n)
		}
		dropped += len(q.Dropped)
	}
	if dropped == 0 || q.Owned(0).Packets != 1 {
		t.Errorf("%d packets dropped, %d of flow 0 left", dropped, q.Owned(0).Packets)
	}
}

// Under random operations and changes of the discipline, every packet leaves once or is dropped once, the counts agree,
// packets of an owner keep their order, and a copy does the same as the original.
func TestConservation(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		q := newQueue(t, Texts()[seed%3], 40_000)
		var entered, left, dropped int
		next := [5]uint64{}
		now := time.Duration(0)
		record := func(q *Queue) {
			dropped += len(q.Dropped)
		}
		for range 5000 {
			now += time.Duration(rnd.IntN(3_000_000))
			switch rnd.IntN(20) {
			case 0:
				p, _ := Policies.Parse(Texts()[rnd.IntN(3)])
				q.Set(Limit{Bytes: 20_000 + rnd.Int64N(40_000), Packets: rnd.IntN(60)}, p)
			case 1:
				q = q.Fork()
			case 2, 3, 4, 5, 6, 7, 8:
				if p, ok := q.Dequeue(now); ok {
					left++
					if p.ID < next[p.Owner] {
						t.Fatalf("seed %d: packet %d of owner %d leaves after %d", seed, p.ID, p.Owner, next[p.Owner]-1)
					}
					next[p.Owner] = p.ID + 1
					q.Sent()
				}
				record(q)
			default:
				q.Enqueue(now, Packet{Owner: rnd.IntN(5), ID: uint64(entered), Bytes: 60 + rnd.Int64N(1440)})
				entered++
				record(q)
			}
			var sum length
			for owner := range 5 {
				x := q.Owned(owner)
				sum.add(x.Packets, x.Bytes)
			}
			if entered != left+dropped+q.Len().Packets || sum != q.Len() || len(q.packets()) != q.Len().Packets {
				t.Fatalf("seed %d: %d entered, %d left, %d dropped, %v in the queue, %v by owner", seed, entered, left, dropped, q.Len(), sum)
			}
		}
		a, b := q, q.Fork()
		for i := range 2000 {
			now += time.Duration(rnd.IntN(3_000_000))
			for _, x := range []*Queue{a, b} {
				x.Enqueue(now, Packet{Owner: i % 5, ID: uint64(i), Bytes: 1000})
			}
			if !slices.Equal(a.Dropped, b.Dropped) {
				t.Fatalf("seed %d: a copy drops other packets", seed)
			}
			if i%3 > 0 {
				pa, _ := a.Dequeue(now)
				pb, _ := b.Dequeue(now)
				if pa != pb || !slices.Equal(a.Dropped, b.Dropped) {
					t.Fatalf("seed %d: a copy sends other packets", seed)
				}
				if a.sending.Bytes > 0 {
					a.Sent()
					b.Sent()
				}
			}
		}
	}
}

// In steady state no discipline allocates.
func TestAllocations(t *testing.T) {
	for _, text := range Texts() {
		q := newQueue(t, text, 30_000)
		now, i := time.Duration(0), 0
		step := func() {
			now += ms
			i++
			q.Enqueue(now, Packet{Owner: i % 3, Bytes: 1000})
			if i%10 > 0 {
				if _, ok := q.Dequeue(now); ok {
					q.Sent()
				}
			}
		}
		for range 5000 {
			step()
		}
		if n := testing.AllocsPerRun(2000, step); n > 0 {
			t.Errorf("%s: %g allocations per packet", text, n)
		}
	}
}
