package endpoint

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/testkit"
	"wirelab/internal/window"
)

// testLine is a line with a drop-tail queue, a delay in each direction and jitter that reorders packets
// and acks, independent of package lossmodel. A change of its rate applies to the queue at once.
type testLine struct {
	rate, queueLimit int // bits per second, bytes
	delay, jitter    time.Duration
	lossPer1000      int          // of packets and of acks
	ackLossPer1000   int          // of further acks, such as damaged ones whose checksum fails
	queue            []testPacket // the first one is being sent
	queued           int          // bytes in the queue
	sentBits         int64        // of the first packet, times 1000
	flying           []testPacket // packets that have left the queue
	acks             []testAck
}

type testPacket struct {
	seq         uint64
	at, arrives time.Duration
	bytes       int
}

type testAck struct {
	due     time.Duration
	newest  uint64
	mask    uint32
	arrived uint16
}

// testGame is a sender of snapshots with a control over a testLine. A snapshot is larger the older its
// baseline is, as delta snapshots are.
type testGame struct {
	c             *controller
	line          testLine
	rng           *rand.Rand
	window        window.Recent[uint64]
	acked         uint64 // newest acked packet
	hasAck        bool
	newestAt      time.Duration // when the newest snapshot that arrived was sent
	longest       time.Duration // longest time without a packet sent
	lastSent      time.Duration
	sent          int
	clockZero     time.Duration // of the receiver's clock
	newestArrival time.Duration // when packet window.Newest arrived

	onSent   func(now time.Duration, seq uint64, bytes int) // called before the control handles a packet; nil for nothing
	onAck    func(now time.Duration, a testAck)             // called before the control handles an ack
	afterAck func()
}

const (
	testSlot = time.Second / 60
	testStep = time.Millisecond
)

func newTestGame(t *testing.T, text string, seed uint64) *testGame {
	t.Helper()
	p, err := Controls.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	g := &testGame{c: &controller{}, rng: rand.New(rand.NewPCG(seed, 5)), clockZero: time.Duration(seed) * 7777 * time.Millisecond}
	g.c.set(p, testSlot)
	g.line = testLine{rate: 2_000_000, queueLimit: 64_000, delay: 25 * time.Millisecond}
	return g
}

// size returns the size of the snapshot with the given number.
func (g *testGame) size(seq uint64) int {
	if !g.hasAck || seq-g.acked > 255 {
		return 8800
	}
	return 400 + int(seq-g.acked)*12
}

// run plays from from to to.
func (g *testGame) run(from, to time.Duration) {
	for now := from; now < to; now += testStep {
		g.moveLine(now)
		var due []testAck
		for due, g.line.acks = takeDue(g.line.acks, func(a *testAck) bool { return a.due <= now }); len(due) > 0; due = due[1:] {
			a := due[0]
			if !g.hasAck || a.newest > g.acked {
				g.acked, g.hasAck = a.newest, true
			}
			if g.onAck != nil {
				g.onAck(now, a)
			}
			g.c.acked(now, a.newest, a.mask, a.arrived, NeedsArrivals(g.c.policy))
			if g.afterAck != nil {
				g.afterAck()
			}
		}
		if slot := uint64(now / testSlot); now%testSlot < testStep {
			g.offer(now, slot)
		}
	}
}

// offer sends the snapshot of a slot, if the control sends it.
func (g *testGame) offer(now time.Duration, slot uint64) {
	if !g.c.due(now) {
		g.longest = max(g.longest, now-g.lastSent)
		return
	}
	n := g.size(slot)
	if g.onSent != nil {
		g.onSent(now, slot, n)
	}
	g.c.sent(now, slot, n)
	g.sent++
	g.longest, g.lastSent = max(g.longest, now-g.lastSent), now
	l := &g.line
	if l.queued+n <= l.queueLimit && g.rng.IntN(1000) >= l.lossPer1000 {
		l.queue, l.queued = append(l.queue, testPacket{seq: slot, at: now, bytes: n + 28}), l.queued+n+28
	}
}

// moveLine sends what the line can send in one step, and delivers packets.
func (g *testGame) moveLine(now time.Duration) {
	l := &g.line
	l.sentBits += int64(l.rate) // in 1 ms, times 1000
	for len(l.queue) > 0 && l.sentBits >= int64(l.queue[0].bytes)*8000 {
		p := l.queue[0]
		l.sentBits -= int64(p.bytes) * 8000
		p.arrives = now + l.delay + g.jitter()
		l.queue, l.queued, l.flying = l.queue[1:], l.queued-p.bytes, append(l.flying, p)
	}
	if len(l.queue) == 0 {
		l.sentBits = 0
	}
	var arrived []testPacket
	for arrived, l.flying = takeDue(l.flying, func(p *testPacket) bool { return p.arrives <= now }); len(arrived) > 0; arrived = arrived[1:] {
		p := arrived[0]
		g.newestAt = max(g.newestAt, p.at)
		if g.window.Add(p.seq); g.window.Newest == p.seq {
			g.newestArrival = p.arrives
		}
		if g.rng.IntN(1000) >= l.lossPer1000 && g.rng.IntN(1000) >= l.ackLossPer1000 {
			l.acks = append(l.acks, testAck{now + l.delay + g.jitter(), g.window.Newest, uint32(g.window.Mask), uint16((g.newestArrival + g.clockZero) / arrivalUnit)})
		}
	}
}

// jitter returns the jitter of one packet or ack.
func (g *testGame) jitter() time.Duration {
	return time.Duration(g.rng.Int64N(int64(g.line.jitter) + 1))
}

// takeDue returns the items that are due, and those that are not.
func takeDue[T any](items []T, isDue func(*T) bool) (due, later []T) {
	later = items[:0]
	for i := range items {
		if isDue(&items[i]) {
			due = append(due, items[i])
		} else {
			later = append(later, items[i])
		}
	}
	return due, later
}

// allControls are the policies with their defaults, and some with other parameters.
var allControls = append(Controls.Names(), "good-bad good=30 bad=10", "ack-clock slack=100ms least=1", "gcc start=5mbit least=1kbit")

// promising are the policies that promise to recover within 10 s.
var promising = []string{"ack-clock", "ack-clock slack=100ms", "gcc"}

// playBadLine plays 20 s on a line that changes all the time: rates, queues, outages of seconds, losses,
// delays, reordering, and lost acks. maxQueue is the largest queue in bytes. In half of the games the
// control changes too, and is that of the game in the end.
func (g *testGame) playBadLine(seed uint64, maxQueue int) (end time.Duration) {
	last, slot := g.c.policy, g.c.slot
	for end < 20*time.Second {
		l := &g.line
		l.rate = []int{1, 20_000, 100_000, 250_000, 1_000_000}[g.rng.IntN(5)]
		l.queueLimit = max(maxQueue/[]int{1, 4, 16}[g.rng.IntN(3)], 16_000) // at least a snapshot without a baseline
		l.lossPer1000 = []int{0, 0, 20, 200, 1000}[g.rng.IntN(5)]
		l.ackLossPer1000 = []int{0, 0, 100, 900}[g.rng.IntN(4)]
		l.delay = time.Duration(5+g.rng.IntN(100)) * time.Millisecond
		l.jitter = time.Duration(g.rng.IntN(3)*g.rng.IntN(30)) * time.Millisecond
		if seed%2 == 0 && g.rng.IntN(2) == 0 {
			g.c.set(Controls.Default(Controls.Names()[g.rng.IntN(len(Controls))]), slot)
		}
		next := end + time.Duration(200+g.rng.IntN(4000))*time.Millisecond
		g.run(end, next)
		end = next
	}
	if g.c.policy != last {
		g.c.set(last, slot)
	}
	return end
}

// worstAge plays from from to to, and returns the largest age of the newest snapshot at the receiver.
func (g *testGame) worstAge(from, to time.Duration) (worst time.Duration) {
	for at := from; at < to; at += testSlot.Truncate(testStep) {
		g.run(at, at+testSlot.Truncate(testStep))
		worst = max(worst, at-g.newestAt)
	}
	return worst
}

// After any 20 s on a bad line, the policies that promise it have fresh snapshots at the receiver within
// 10 s of a good line, and keep them. On the same lines, sending everything does not recover from each.
func TestControlRecovers(t *testing.T) {
	seeds := testkit.ChooseLong[uint64](1000, 120, 24)
	fixedIsStuck := false
	for _, text := range append([]string{"fixed"}, promising...) {
		for seed := range seeds {
			g := newTestGame(t, text, seed)
			rate := []int{500_000, 700_000, 1_000_000, 2_000_000}[seed/2%4]
			queueSeconds := 3
			if text == "gcc" { // it drains a queue with 15 % of the rate of the line
				queueSeconds = 1
			}
			good := g.playBadLine(seed, rate/8*queueSeconds)
			g.line.rate, g.line.lossPer1000, g.line.ackLossPer1000, g.line.delay, g.line.jitter = rate, 0, 0, 25*time.Millisecond, 0
			g.run(good, good+10*time.Second)
			switch worst := g.worstAge(good+10*time.Second, good+12*time.Second); {
			case worst <= 250*time.Millisecond:
			case text == "fixed":
				fixedIsStuck = true
			default:
				t.Errorf("%s, seed %d: 10 s after the line became good, the newest snapshot is up to %v old", text, seed, worst)
			}
		}
	}
	if !fixedIsStuck {
		t.Error("every snapshot was sent and all lines recovered: they are too good to test anything")
	}
}

// On a line that is better than needed, no control holds back a tenth of the snapshots once it has
// started, unless its rate is lower. That is also so on a path with a long round trip, after the delay
// became longer, and after a live change.
func TestControlSendsOnGoodLine(t *testing.T) {
	for _, text := range append(allControls, "good-bad good=45 bad=7 rtt=10s") {
		want := 540 // of 600
		if fields := strings.Fields(text); len(fields) > 1 && strings.HasPrefix(fields[1], "good=") {
			want, _ = strconv.Atoi(fields[1][len("good="):])
			want = want*10 - 1
		}
		for _, delays := range [][2]time.Duration{{25 * time.Millisecond, 25 * time.Millisecond}, {25 * time.Millisecond, 100 * time.Millisecond},
			{600 * time.Millisecond, 600 * time.Millisecond}} {
			if delays[1] > 100*time.Millisecond && strings.HasPrefix(text, "good-bad") {
				continue // a round trip above its limit
			}
			g := newTestGame(t, text, 1)
			g.line.delay = delays[0]
			g.run(0, 15*time.Second)
			p := g.c.policy
			g.c.set(Controls.Default("fixed"), testSlot)
			g.run(15*time.Second, 16*time.Second)
			g.c.set(p, testSlot)
			g.line.delay = delays[1]
			g.run(16*time.Second, 35*time.Second)
			before := g.sent
			g.run(35*time.Second, 45*time.Second)
			if n := g.sent - before; n < want || want < 540 && n > want+2 {
				t.Errorf("%s sent %d of 600 snapshots with delays %v, want %d", text, n, delays, want)
			}
		}
	}
}

// Arrival times are unwrapped correctly while the delay changes by less than half of their range between
// two acks.
func TestArrivalClock(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var a arrivalClock
		now, zero, first := time.Duration(0), time.Duration(rng.Int64N(int64(1000*time.Hour))), time.Duration(-1)
		for range 1000 {
			now += time.Duration(rng.Int64N(int64(20 * time.Second)))
			arrived := zero + now - time.Duration(rng.Int64N(int64(7*time.Second)))
			a.unwrap(now, uint16(arrived/arrivalUnit))
			got := a.arrived
			if first < 0 {
				first = arrived.Truncate(arrivalUnit) - got
			}
			if arrived.Truncate(arrivalUnit)-got != first {
				t.Fatalf("seed %d: %v, want %v", seed, got, arrived.Truncate(arrivalUnit)-first)
			}
		}
	}
}

// lossCounter is a rule that counts lost packets.
type lossCounter struct {
	ackClock
	losses int
}

func (l *lossCounter) lost(time.Duration, *controller) { l.losses++ }

// Packets that were sent while all snapshots were sent do not count as lost after that.
func TestControlForgetsPacketsOfFixed(t *testing.T) {
	c := &controller{}
	counter := &lossCounter{}
	now := time.Duration(0)
	for seq := range uint64(150) {
		if seq%50 == 0 {
			c.set(Controls.Default([]string{"ack-clock", "fixed", "ack-clock"}[seq/50]), testSlot)
			if c.rule != nil {
				c.rule = counter
			}
		}
		now += testSlot
		c.sent(now, seq, 100)
		if seq >= 10 && seq%50 < 40 {
			c.acked(now, seq-3, 0xffffffff, 0, false)
		}
	}
	if counter.losses != 0 {
		t.Errorf("%d packets count as lost although all arrived", counter.losses)
	}
}

// Acks with any arrival times neither panic nor stop a control, and its memory stays bounded.
func TestControlSurvivesWrongArrivalTimes(t *testing.T) {
	for _, text := range allControls {
		g := newTestGame(t, text, 3)
		last := time.Duration(0)
		for seq := range uint64(20_000) {
			now := time.Duration(seq) * testSlot
			if g.c.due(now) {
				if now-last > maxSilence+testSlot {
					t.Fatalf("%s: nothing was sent for %v", text, now-last)
				}
				last = now
				g.c.sent(now, seq, 1+g.rng.IntN(60_000))
			}
			arrival := uint16(g.rng.Uint32())
			if seq%3000 > 1500 { // time goes back
				arrival = uint16(now/arrivalUnit) - uint16(seq*29_000)
			}
			g.c.acked(now, seq-uint64(g.rng.IntN(int(min(seq, 40))+1)), g.rng.Uint32(), arrival, true)
		}
		if n := g.c.received.bytes.Len(); n > maxInFlight || g.c.inFlight.Len() > maxInFlight || len(g.c.log.newest) > maxDecisions {
			t.Errorf("%s: %d packets stored", text, n)
		}
	}
}

// A control allocates nothing once its buffers have grown, also while it holds snapshots back.
func TestControlDoesNotAllocate(t *testing.T) {
	for _, text := range allControls {
		g := newTestGame(t, text, 2)
		g.line.rate = 100_000
		g.run(0, 20*time.Second)
		seq, now := uint64(20*60), 20*time.Second
		n := testing.AllocsPerRun(2000, func() {
			seq++
			now += testSlot
			if g.c.due(now) {
				g.c.sent(now, seq, 500)
			}
			g.c.acked(now, seq-3, 0xff, uint16(now/arrivalUnit), NeedsArrivals(g.c.policy))
		})
		if n > 0 {
			t.Errorf("%s: %g allocations", text, n)
		}
	}
}

// Texts of decisions name the measured value and the limit.
func TestDecisionText(t *testing.T) {
	ms := int64(time.Millisecond)
	for want, d := range map[string]Decision{
		"held back: oldest unacked snapshot is 214 ms old, limit 150":                                      {Why: heldByUnacked, Measured: 214 * ms, Limit: 150 * ms},
		"held back: the target of 120 kbps was used up":                                                    {Why: HeldByRate, Measured: 35 * ms, Limit: 120_000},
		"held back: the target of 43 to 120 kbps was used up":                                              {Why: HeldByRate, Measured: 35 * ms, Limit: 120_000, From: 43_000},
		"rate cut from 600 to 510 kbps: 30 % of the packets were lost":                                     {Why: CutByLoss, Measured: 300, From: 600_000, To: 510_000},
		"rate cut from 600 to 255 kbps: the delay has grown for 12 ms, limit 10":                           {Why: cutByOveruse, Measured: 12 * ms, Limit: 10 * ms, From: 600_000, To: 255_000},
		"20 snapshots a second instead of 60: round trip 312 ms, limit 250":                                {Why: becameBad, Measured: 312 * ms, Limit: 250 * ms, From: 60, To: 20},
		"60 snapshots a second instead of 20: round trip 40 ms, limit 250":                                 {Why: becameGood, Measured: 40 * ms, Limit: 250 * ms, From: 20, To: 60},
		"held back: fewer snapshots are sent, since the round trip is or was long; it is 90 ms, limit 250": {Why: heldByRoundTrip, Measured: 90 * ms, Limit: 250 * ms},
	} {
		if got := d.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var log decisionLog
	for i := range 1000 {
		log.add(Decision{At: time.Duration(i) * 3 * time.Second, Until: time.Duration(i) * 3 * time.Second, Held: 1, Why: HeldByRate})
	}
	if len(log.newest) != maxDecisions || log.held[HeldByRate] != 1000 || log.newest[maxDecisions-1].At != 2997*time.Second {
		t.Errorf("%d decisions, %d held back", len(log.newest), log.held[HeldByRate])
	}
	if got := numDecisionReasons.String(); got != "reason(8)" {
		t.Errorf("a reason without a name is %s", got)
	}
}

// Snapshots held back for one reason within two seconds are one decision, unless the rate changes in between.
func TestDecisionLogMerges(t *testing.T) {
	var log decisionLog
	at := time.Duration(0)
	hold := func(why DecisionReason, after time.Duration) {
		at += after
		log.add(Decision{At: at, Until: at, Held: 1, Why: why, Measured: int64(at), Limit: 1000 + int64(at)})
	}
	hold(HeldByRate, 0)
	hold(HeldByRate, mergePeriod-1)
	hold(HeldByRate, mergePeriod)
	hold(HeldToDrain, 1)
	hold(HeldByRate, 1)
	log.add(Decision{At: at, Until: at, Why: becameBad, From: 60, To: 20})
	log.add(Decision{At: at, Until: at, Why: becameGood, From: 20, To: 60})
	hold(becameGood, 1)
	want := []Decision{{Held: 2, Until: mergePeriod - 1, Measured: int64(mergePeriod) - 1}, {Held: 1}, {Held: 1, Why: HeldToDrain},
		{Held: 1}, {Why: becameBad}, {Why: becameGood}, {Held: 1, Why: becameGood}}
	for i, d := range log.newest {
		if i >= len(want) || d.Held != want[i].Held || d.Why != want[i].Why {
			t.Fatalf("decision %d is %+v", i, d)
		}
	}
	if first := log.newest[0]; len(log.newest) != len(want) || first.Until != want[0].Until || first.Measured != want[0].Measured || first.From != 1000 || log.cuts != 1 {
		t.Errorf("%+v, %d cuts", log.newest, log.cuts)
	}
}

// SetControl keeps the state of a policy that stays the same, and none means that everything is sent.
func TestSetControl(t *testing.T) {
	s := &Sender{}
	if !s.Due(0) || s.Control() != nil {
		t.Error("a sender without a control holds something back")
	}
	p := Controls.Default("gcc")
	s.SetControl(p, testSlot)
	s.control.sent(0, 0, 1e6)
	s.SetControl(p, testSlot)
	if s.Due(testSlot) || s.Control().TargetBps != 600_000 || s.Control().Held[HeldByRate] != 1 {
		t.Errorf("the control began again: %+v", s.Control())
	}
	// Another slot or policy keeps the packets in flight, and the rate received if both need arrival times.
	s.control.received.add(0, 100)
	for i, other := range []string{"gcc", "ack-clock"} {
		s.SetControl(Controls.Default(other), 2*testSlot)
		if c := s.control; c.inFlight.Len() != 1 || c.received.bytes.Len() != 1-i {
			t.Errorf("%s: %d packets in flight, %d in the rate", other, c.inFlight.Len(), c.received.bytes.Len())
		}
	}
	if s.SetControl(policy.Policy{}, testSlot); !s.Due(2 * testSlot) {
		t.Error("the control is still there")
	}
}
