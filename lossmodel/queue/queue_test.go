package queue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/lossmodel/random"
)

const ms = time.Millisecond

// newQueue returns a queue with a policy and a limit in bytes.
func newQueue(t testing.TB, text string, limit int64) *Queue {
	t.Helper()
	p, err := Policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	stream := random.NewStream(1, "test")
	q := New(&stream)
	q.Set(Limit{Bytes: limit}, p)
	return q
}

// fork returns a copy of a queue with a copy of its random stream.
func fork(q *Queue) *Queue {
	stream := *q.stream
	return q.Fork(&stream)
}

// The defaults are those of tc-codel(8), tc-pie(8) and tc-fq_codel(8), but the quantum is without Ethernet header.
func TestDefaults(t *testing.T) {
	want := []string{"droptail", "codel target=5ms interval=100ms ecn=0", "pie target=15ms tupdate=15ms ecn=0",
		"fq_codel target=5ms interval=100ms quantum=1500 ecn=1"}
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

// rfcPIE is the drop probability of RFC 8033, section 4.2, with floating-point numbers.
type rfcPIE struct{ prob, oldDelay float64 }

func (r *rfcPIE) update(delay, target float64) {
	p := 0.125*(delay-target) + 1.25*(delay-r.oldDelay)
	switch {
	case r.prob < 0.000001:
		p /= 2048
	case r.prob < 0.00001:
		p /= 512
	case r.prob < 0.0001:
		p /= 128
	case r.prob < 0.001:
		p /= 32
	case r.prob < 0.01:
		p /= 8
	case r.prob < 0.1:
		p /= 2
	}
	if r.prob >= 0.1 && p > 0.02 {
		p = 0.02
	}
	if delay > 0.25 {
		p += 0.02
	}
	r.prob += p
	if delay == 0 && r.oldDelay == 0 {
		r.prob -= r.prob / 64
	}
	r.prob = min(max(r.prob, 0), 1)
	r.oldDelay = delay
}

// PIE's drop probability follows RFC 8033.
func TestPIEMatchesRFC(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	d, ref := newPIE(), rfcPIE{}
	d.set(Policies.Default("pie"))
	delay := 20.0
	for i := range 20_000 {
		delay = max(0, delay+rnd.NormFloat64()*3-float64(i%500-250)/250)
		d.delay = time.Duration(delay * 1e6)
		d.updateOnce(0)
		ref.update(d.delay.Seconds(), 0.015)
		if got := float64(d.prob) / certain; math.Abs(got-ref.prob) > 1e-6+ref.prob*0.001 {
			t.Fatalf("update %d at %.1f ms: probability %g, want %g", i, delay, got, ref.prob)
		}
		ref.prob = float64(d.prob) / certain // rounding must not add up
	}
}

// linuxPIE is the state of pie_vars in Linux 6 (include/net/pie.h, net/sched/sch_pie.c), with dq_rate_estimator off.
// Its probabilities are in units of 2^-56. Times are in ns.
type linuxPIE struct {
	target, qdelay, qdelayOld, burst, dqStamp int64
	prob, accumulated                         uint64
}

const maxProb = math.MaxUint64 >> 8

func (v *linuxPIE) init() { v.burst, v.dqStamp, v.accumulated = int64(150*ms), -1, 0 }

func (v *linuxPIE) dropEarly(backlog int64, random func() uint64) bool {
	if v.burst > 0 || v.qdelay < v.target/2 && v.prob < maxProb/5 || backlog < 2*1514 {
		return false
	}
	if v.prob == 0 {
		v.accumulated = 0
	} else {
		v.accumulated += v.prob
	}
	if v.accumulated < maxProb/100*85 {
		return false
	}
	if v.accumulated >= maxProb/2*17 {
		return true
	}
	if random()>>8 < v.prob {
		v.accumulated = 0
		return true
	}
	return false
}

// enqueue returns what happens to a packet that finds backlog bytes in the queue.
func (v *linuxPIE) enqueue(backlog int64, ecn bool, random func() uint64) (dropped, marked bool) {
	if !v.dropEarly(backlog, random) {
		return false, false
	}
	if ecn && v.prob <= maxProb/10 {
		return false, true
	}
	v.accumulated = 0
	return true, false
}

// dequeue handles that a packet leaves after a wait, and that backlog bytes remain.
func (v *linuxPIE) dequeue(now, wait, backlog int64) {
	v.qdelay = wait
	elapsed := int64(0)
	if v.dqStamp != -1 {
		elapsed = now - v.dqStamp
	}
	v.dqStamp = now
	if backlog == 0 {
		v.qdelay = 0
	}
	if elapsed != 0 && v.burst > 0 {
		v.burst = max(0, v.burst-elapsed)
	}
}

// calculate is pie_calculate_probability, which a timer calls.
func (v *linuxPIE) calculate(backlog int64) {
	update := v.qdelay != 0 || backlog == 0
	alpha, beta := uint64(2)*(maxProb/1_000_000_000)>>4, uint64(20)*(maxProb/1_000_000_000)>>4
	if v.prob < maxProb/10 {
		alpha, beta = alpha>>1, beta>>1
		for power := uint64(100); v.prob < maxProb/power && power <= 1_000_000; power *= 10 {
			alpha, beta = alpha>>2, beta>>2
		}
	}
	delta := int64(alpha)*(v.qdelay-v.target) + int64(beta)*(v.qdelay-v.qdelayOld)
	if delta > maxProb/50 && v.prob >= maxProb/10 {
		delta = maxProb / 100 * 2
	}
	if v.qdelay > int64(250*ms) {
		delta += maxProb / 50
	}
	before := v.prob
	v.prob += uint64(delta)
	if delta <= 0 && v.prob > before {
		v.prob = 0
	}
	v.prob = min(v.prob, maxProb) // in Linux up to 2^64-1; then it drops all packets too
	if v.qdelay == 0 && v.qdelayOld == 0 && update {
		v.prob -= v.prob / 64
	}
	if v.qdelay < v.target/2 && v.qdelayOld < v.target/2 && v.prob == 0 {
		v.init()
	}
	v.qdelayOld = v.qdelay
}

// PIE drops and marks the packets that Linux does, under load, overload and pauses, with large and very small targets.
func TestPIEMatchesLinux(t *testing.T) {
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		target := []time.Duration{15 * ms, 10 * time.Microsecond, 40 * ms}[seed%3]
		q := newQueue(t, "pie ecn=1 target="+target.String(), 0)
		d := q.discipline.(*pie)
		ref := linuxPIE{target: int64(target)}
		ref.init()
		words := *q.stream
		var dropped, marked, idleRestarts int
		now, line, timer := time.Duration(0), time.Duration(0), time.Duration(0)
		refTimer := func(backlog int64) {
			for ; timer <= now; timer += 15 * ms {
				ref.calculate(backlog)
			}
		}
		for n := range uint64(20_000) {
			arrival := now + time.Duration(rnd.ExpFloat64()*float64(ms)/(0.4+float64(n/1500%4)/2.5)) // 0.4 to 1.6 packets per ms
			if n%1500 == 0 && n > 0 {
				arrival += time.Duration(rnd.IntN(20)) * time.Second
			}
			for line <= arrival && q.waiting.Packets > 0 { // a packet leaves every 1.003 ms
				now = line
				refTimer(q.waiting.Bytes)
				p, _ := q.Dequeue(now)
				ref.dequeue(int64(now), int64(now-p.Entered), q.waiting.Bytes)
				q.Sent()
				line += 1_003_001
			}
			now = arrival
			line = max(line, now)
			backlog := q.waiting.Bytes
			refTimer(backlog)
			p := Packet{ID: n, Bytes: 100 + rnd.Int64N(1400), CanMark: n%2 == 0}
			wantDropped, wantMarked := ref.enqueue(backlog, p.CanMark, func() uint64 { return words.Next(0) })
			q.Enqueue(now, p)
			isMarked := false
			if f := d.fifo; f.Len() > 0 && len(q.Dropped) == 0 {
				isMarked = f.At(f.Next() - 1).Congested
			}
			if gotDropped := len(q.Dropped) > 0; gotDropped != wantDropped || isMarked != wantMarked {
				t.Fatalf("seed %d, packet %d at %v: dropped %v, marked %v, Linux %v, %v", seed, n, now, gotDropped, isMarked, wantDropped, wantMarked)
			}
			got, want := float64(d.prob)/certain, float64(ref.prob)/maxProb
			accumulated, wantAccumulated := float64(d.accumulated)/certain, float64(ref.accumulated)/maxProb
			if math.Abs(got-want) > 1e-7 || math.Abs(accumulated-wantAccumulated) > 1e-7 || int64(d.burst) != ref.burst {
				t.Fatalf("seed %d, packet %d at %v: probability %g, sum %g, burst %v, Linux %g, %g, %v", seed, n, now, got, accumulated, d.burst, want, wantAccumulated, ref.burst)
			}
			ref.prob, ref.accumulated = uint64(got*maxProb), uint64(accumulated*maxProb) // rounding must not add up
			if wantDropped {
				dropped++
			}
			if wantMarked {
				marked++
			}
			if n > 3000 && d.burst == maxBurst {
				idleRestarts++
			}
		}
		if dropped == 0 || marked == 0 || idleRestarts == 0 {
			t.Errorf("seed %d: %d dropped, %d marked, %d packets after the burst allowance was renewed", seed, dropped, marked, idleRestarts)
		}
	}
}

// PIE drops the share of packets that its probability states, and nothing in the first 150 ms.
func TestPIEDrops(t *testing.T) {
	q := newQueue(t, "pie", 0)
	d := q.discipline.(*pie)
	for i := range uint64(10) {
		q.Enqueue(0, Packet{ID: i, Bytes: 1000})
	}
	dropped := 0
	const n = 100_000
	for i := range uint64(n) {
		d.prob, d.delay, d.delayBefore, d.nextUpdate = certain/20, 20*ms, 20*ms, time.Hour
		if i == 0 && d.burst != maxBurst {
			t.Errorf("the burst allowance is %v", d.burst)
		}
		d.burst = 0
		q.Enqueue(time.Duration(i)*ms, Packet{ID: i, Bytes: 1000})
		dropped += len(q.Dropped)
	}
	// De-randomisation (RFC 8033, section 5.1) drops only after 0.85/p packets and then one of 1/p: 37 of 1000 for p = 5 %.
	if got := float64(dropped) / n; got < 0.025 || got > 0.05 {
		t.Errorf("%.2f %% dropped with a probability of 5 %%", got*100)
	}
}

// serve sends packets for d at a rate in bytes per ms and returns the bytes sent by owner.
func serve(q *Queue, now *time.Duration, d time.Duration, bytesPerMS int64) map[int]int64 {
	sent := map[int]int64{}
	for end := *now + d; *now < end; {
		p, ok := q.Dequeue(*now)
		if !ok {
			return sent
		}
		q.Sent()
		sent[p.Owner] += p.Bytes
		*now += time.Duration(p.Bytes * int64(ms) / bytesPerMS)
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
	sent := serve(q, &now, time.Second, 600)
	if d := sent[1] - sent[2]; max(d, -d) > 2*1514 {
		t.Errorf("flows sent %d and %d bytes", sent[1], sent[2])
	}
	for range 20 {
		q.Enqueue(now, Packet{Owner: 0, ID: 7, Bytes: 400})
		if p, _ := q.Dequeue(now); p.Owner != 0 {
			t.Fatal("a packet of a new flow waits for others")
		}
		q.Sent()
		serve(q, &now, 20*ms, 600)
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

// ECN-capable packets are marked where others would be dropped, if the policy uses ECN.
func TestECN(t *testing.T) {
	for text, marks := range map[string]bool{"codel": false, "codel ecn=1": true, "fq_codel": true, "fq_codel ecn=0": false, "pie": false, "pie ecn=1": true} {
		q := newQueue(t, text, 0)
		marked, dropped := 0, 0
		now := time.Duration(0)
		for i := range uint64(3000) {
			now += ms
			q.Enqueue(now, Packet{Owner: 1, ID: i, Bytes: 1000, CanMark: true})
			dropped += len(q.Dropped)
			if i%10 == 0 {
				continue // the line is a tenth too slow
			}
			if p, ok := q.Dequeue(now); ok {
				q.Sent()
				if p.Congested {
					marked++
				}
			}
			dropped += len(q.Dropped)
		}
		if (marked > 0) != marks || (dropped > 0) == marks && text != "pie ecn=1" { // PIE drops above 10 %
			t.Errorf("%s: %d marked, %d dropped", text, marked, dropped)
		}
	}
}

// Under random operations and changes of the discipline, every packet leaves once or is dropped once, the counts agree,
// packets of an owner keep their order, and a copy does the same as the original.
func TestConservation(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		q := newQueue(t, Texts()[seed%4], 40_000)
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
				p, _ := Policies.Parse(Texts()[rnd.IntN(4)])
				q.Set(Limit{Bytes: 20_000 + rnd.Int64N(40_000), Packets: rnd.IntN(60)}, p)
			case 1:
				q = fork(q)
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
				q.Enqueue(now, Packet{Owner: rnd.IntN(5), ID: uint64(entered), Bytes: 60 + rnd.Int64N(1440), CanMark: rnd.IntN(2) == 0})
				entered++
				record(q)
			}
			var sum Length
			for owner := range 5 {
				x := q.Owned(owner)
				sum.add(x.Packets, x.Bytes)
			}
			if entered != left+dropped+q.Len().Packets || sum != q.Len() || len(q.packets()) != q.Len().Packets {
				t.Fatalf("seed %d: %d entered, %d left, %d dropped, %v in the queue, %v by owner", seed, entered, left, dropped, q.Len(), sum)
			}
		}
		a, b := q, fork(q)
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
