package endpoint

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Second implementations of the controls, which keep lists of all events or use floating point, run
// beside the real ones on random lines. A checkedRule compares both after each event.
type checkedRule struct {
	rule
	reference
	t      *testing.T
	acks   []ackedPacket // of the current ack
	losses int           // of the current ack
	events int
}

// reference is a second implementation of a rule.
type reference interface {
	// before is called before the rule handles an event.
	before()
	// acked and sent return a text that describes a difference, or "".
	acked(p *ackedPacket, c *controller) string
	sent(now time.Duration, bytes int) string
	// due returns what the rule is to return. unsure means that rounding decides.
	due(now time.Duration, c *controller) (ok bool, why Decision, unsure bool)
}

func (x *checkedRule) acked(p *ackedPacket, c *controller) {
	x.acks = append(x.acks, *p)
	x.before()
	x.rule.acked(p, c)
	x.check(x.reference.acked(p, c))
}

func (x *checkedRule) lost(now time.Duration, c *controller) {
	x.losses++
	x.rule.lost(now, c)
}

func (x *checkedRule) due(now time.Duration, c *controller) (bool, Decision) {
	x.before()
	decisions := len(c.log.newest)
	ok, why := x.rule.due(now, c)
	c.log.newest = c.log.newest[:min(decisions, len(c.log.newest))] // so that it does not become full
	wantOK, want, unsure := x.reference.due(now, c)
	if ok {
		why, want = Decision{}, Decision{}
	}
	if !unsure && (ok != wantOK || why != want) {
		x.t.Fatalf("at %v: due is %t, %+v; expected %t, %+v", now, ok, why, wantOK, want)
	}
	return ok, why
}

func (x *checkedRule) sent(now time.Duration, bytes int) {
	x.before()
	x.rule.sent(now, bytes)
	x.check(x.reference.sent(now, bytes))
}

func (x *checkedRule) target() int64 { return x.rule.target() }

func (x *checkedRule) check(problem string) {
	if x.events++; problem != "" {
		x.t.Fatalf("event %d: %s", x.events, problem)
	}
}

// ackReference knows from a list of all packets which are acked or lost.
type ackReference struct {
	packets         []unackedPacket
	ended           map[uint64]bool // acked or lost
	newest, lastSeq uint64
	hasNewest       bool
	roundTrip       time.Duration
	draining        bool
	drainFrom       uint64
}

// handle returns the packets that an ack acks, in order, and how many are lost.
func (x *ackReference) handle(now time.Duration, a testAck) (acks []ackedPacket, losses int) {
	isNewer := !x.hasNewest || a.newest > x.newest
	if isNewer {
		x.newest, x.hasNewest = a.newest, true
	}
	if x.newest == x.lastSeq {
		x.draining = false
	}
	later := 0 // packets up to the newest one
	for i := len(x.packets) - 1; i >= 0; i-- {
		p := x.packets[i]
		isAcked := p.seq == a.newest
		for bit := range uint64(32) {
			isAcked = isAcked || p.seq+1+bit == a.newest && a.mask&(1<<bit) != 0
		}
		if isAcked && !x.ended[p.seq] {
			isNewest := isNewer && p.seq == a.newest
			acks = append([]ackedPacket{{now: now, sent: p.at, bytes: p.bytes, isNewest: isNewest}}, acks...)
			x.ended[p.seq] = true
			if isNewest {
				if p.seq >= x.drainFrom && now-p.at >= x.roundTrip-20*time.Millisecond {
					x.draining = false
				}
				x.roundTrip = now - p.at
			}
		}
		if p.seq > x.newest {
			continue
		}
		if !x.ended[p.seq] && (later >= 3 || x.newest-p.seq > 32) {
			losses++
			x.ended[p.seq] = true
		}
		later++
	}
	return acks, losses
}

// drain begins a drain, unless no packet is in flight.
func (x *ackReference) drain() {
	if len(x.packets) > 0 && !(x.hasNewest && x.newest == x.lastSeq) {
		x.draining, x.drainFrom = true, x.lastSeq+1
	}
}

// oldest returns when the oldest packet was sent that is newer than all acked ones.
func (x *ackReference) oldest() (time.Duration, bool) {
	for _, p := range x.packets {
		if !x.hasNewest || p.seq > x.newest {
			return p.at, true
		}
	}
	return 0, false
}

// plainAckClock is a second implementation of ack-clock.
type plainAckClock struct {
	*ackReference
	slack       time.Duration
	least       time.Duration // between two packets that are sent in any case
	trips       []ackedPacket
	base, first time.Duration
	isMeasured  bool
}

func (x *plainAckClock) before() {}

func (x *plainAckClock) acked(p *ackedPacket, c *controller) string {
	if !p.isNewest {
		return ""
	}
	x.trips = append(x.trips, *p)
	minimum := time.Duration(math.MaxInt64)
	x.trips = slices.DeleteFunc(x.trips, func(trip ackedPacket) bool { return trip.now < p.now-10*time.Second })
	for _, trip := range x.trips {
		minimum = min(minimum, trip.now-trip.sent)
	}
	tolerance := max(x.slack, 20*time.Millisecond)
	if x.isMeasured && (minimum-x.base > tolerance || x.first-minimum > tolerance) {
		x.drain()
		x.isMeasured = false
	}
	if !x.draining {
		if !x.isMeasured {
			x.first = minimum
		}
		x.base, x.isMeasured = minimum, true
	}
	if x.draining != c.isDraining {
		return "the queue is drained, or not"
	}
	return ""
}

func (x *plainAckClock) sent(time.Duration, int) string { return "" }

func (x *plainAckClock) due(now time.Duration, _ *controller) (bool, Decision, bool) {
	oldest, isWaiting := x.oldest()
	last := x.packets[len(x.packets)-1].at
	switch {
	case now >= last+x.least:
		return true, Decision{}, false
	case x.draining:
		return false, Decision{Why: HeldToDrain}, false
	}
	age, limit := now-oldest, x.base+x.slack
	ok := !isWaiting || !x.isMeasured || age < limit
	return ok, Decision{Why: heldByUnacked, Measured: int64(age), Limit: int64(limit)}, false
}

// plainGoodBad is a second implementation of good-bad.
type plainGoodBad struct {
	good, bad int64
	limit     time.Duration
	smoothed  time.Duration
	slots     int64
	penalty   time.Duration
	isBad     bool
	// When conditions changed, when they were last bad while bad, and when the penalty was halved.
	changed, lastLong, halved time.Duration
}

func (x *plainGoodBad) before() {}

func (x *plainGoodBad) acked(p *ackedPacket, _ *controller) string {
	if p.isNewest {
		x.smoothed += (p.now - p.sent - x.smoothed) / 10
	}
	return ""
}

func (x *plainGoodBad) sent(time.Duration, int) string { return "" }

func (x *plainGoodBad) due(now time.Duration, _ *controller) (bool, Decision, bool) {
	if x.slots == 0 {
		x.changed, x.halved, x.penalty = now, now, 4*time.Second
	}
	isLong := x.smoothed > x.limit
	switch {
	case x.isBad && isLong:
		x.lastLong = now
	case x.isBad && now > x.lastLong+x.penalty:
		x.isBad, x.changed, x.halved = false, now, now
	case !x.isBad && isLong:
		if now < x.changed+10*time.Second {
			x.penalty = min(time.Minute, x.penalty*2)
		}
		x.isBad, x.lastLong = true, now
	case !x.isBad && now > x.halved+10*time.Second:
		x.penalty, x.halved = max(time.Second, x.penalty/2), now
	}
	rate := x.good
	if x.isBad {
		rate = x.bad
	}
	// One snapshot of each 60/rate slots: the first of them.
	n := x.slots
	x.slots++
	isFirst := n == 0 || n*rate/60 != (n-1)*rate/60 || rate >= 60
	if n*rate%60 == 0 {
		isFirst = true
	}
	return isFirst, Decision{Why: heldByRoundTrip, Measured: int64(x.smoothed), Limit: int64(x.limit)}, false
}

// draft is gcc in floating point, after draft-ietf-rmcat-gcc-02. Each step begins with the state of the
// real one, so that the rounding of that does not add up. Times are in milliseconds.
type draft struct {
	real                          *gcc
	was                           gcc // before the event
	slope, variance, noise, limit float64
	rate, ceiling, lossLimit      float64
	state                         gccState
	isOverused                    bool
	overusedSince, grownAt        float64
	rounding                      float64          // largest error of the slope by rounding
	arrivals                      []receivedPacket // of all packets
	lost, cuts, increases         int
}

func (x *draft) before() {
	x.was = *x.real
	x.slope, x.variance, x.noise = fixed(x.was.slope), fixed(x.was.variance), fixed(x.was.noise)
	x.limit, x.state, x.isOverused = fixed(x.was.threshold), x.was.state, x.was.isOverused
	x.rate, x.ceiling, x.lossLimit = float64(x.was.rate), float64(x.was.ceiling), float64(x.was.lossLimit)
	x.overusedSince, x.grownAt = millis(x.was.overusedSince), millis(x.was.grownAt)
}

// fixed returns a number of gcc in fixed point.
func fixed(v int64) float64 { return float64(v) / 65536 }

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

func (x *draft) acked(p *ackedPacket, c *controller) string {
	if c.arrivals.started {
		x.arrivals = append(x.arrivals, receivedPacket{c.arrivals.arrived, int64(p.bytes)})
		if want := x.receivedRate(); want != p.receivedRate {
			return "another rate is received"
		}
	}
	received := float64(p.receivedRate)
	if p.receivedRate == 0 {
		received = x.rate
	}
	unsure := false
	if p.hasArrival && x.was.started {
		gradient := millis(p.arrived-x.was.arrivedBefore) - millis(p.sent-x.was.sentBefore)
		x.filter(min(max(gradient, -1000), 1000))
		elapsed := math.Floor(min(max(millis(p.arrived-x.was.arrivedBefore), 0), 100))
		unsure = x.detect(millis(p.now), elapsed)
		if unsure {
			return "" // rounding decides between two states
		}
		x.control(p, received)
	}
	x.loseRate(p.now)
	return x.difference()
}

// receivedPacket is a packet that has arrived.
type receivedPacket struct {
	at    time.Duration
	bytes int64
}

// receivedRate returns the rate of the last half second, if packets have arrived for half a second
// without a pause.
func (x *draft) receivedRate() int64 {
	newest := x.arrivals[len(x.arrivals)-1].at
	x.arrivals = x.arrivals[max(0, len(x.arrivals)-1000):]
	since, bytes := newest, int64(0)
	for i := len(x.arrivals) - 1; i >= 0 && since-x.arrivals[i].at <= 500*time.Millisecond; i-- {
		since = x.arrivals[i].at
		if newest-since <= 500*time.Millisecond {
			bytes += x.arrivals[i].bytes
		}
	}
	if newest-since < 500*time.Millisecond {
		return 0
	}
	return bytes * 16
}

// filter is the Kalman filter of section 5.3.
func (x *draft) filter(gradient float64) {
	const q = 1e-3
	z := gradient - x.slope
	x.rounding = 0.001 + math.Abs(z)/30_000 // of the gain, 16 bits, times the difference
	outlier := 3 * math.Sqrt(x.noise)
	bounded := min(max(z, -outlier), outlier)
	x.noise = max(1, 0.98*x.noise+0.02*bounded*bounded)
	gain := (x.variance + q) / (x.noise + x.variance + q)
	x.slope += gain * z
	x.variance = (1 - gain) * (x.variance + q)
}

// detect is the detector of overuse of section 5.4. It returns whether rounding decides.
func (x *draft) detect(now, elapsed float64) (unsure bool) {
	trend := x.slope * float64(min(60, x.was.samples+1))
	before := fixed(x.was.previous)
	overuse := millis(x.real.overuse)
	isNear := func(a, b float64) bool { return math.Abs(a-b) < 0.02+60*x.rounding }
	unsure = isNear(math.Abs(trend), x.limit) || isNear(trend, before) || isNear(math.Abs(trend), x.limit+15)
	if trend > x.limit {
		if !x.isOverused {
			x.isOverused, x.overusedSince = true, now
		}
		if trend >= before && now-x.overusedSince >= overuse {
			x.state = decrease
		}
	} else {
		x.isOverused = false
		if trend < -x.limit {
			x.state = hold
		} else if x.state != increase {
			x.state, x.grownAt = increase, now
		}
	}
	if size := math.Abs(trend); size < x.limit+15 {
		speed := 0.01
		if size < x.limit {
			speed = 0.00018
		}
		x.limit = min(600, max(6, x.limit+elapsed*speed*(size-x.limit)))
	}
	return unsure
}

// control is the rate control of section 5.5.
func (x *draft) control(p *ackedPacket, received float64) {
	now := millis(p.now)
	switch x.state {
	case decrease:
		x.setRate(min(x.rate, 0.85*received))
		x.ceiling, x.state, x.isOverused = received, hold, false
		x.cuts++
	case increase:
		elapsed := math.Floor(min(now-x.grownAt, 1000))
		x.grownAt = now
		x.increases++
		grown := 0.08 * x.rate * elapsed / 1000
		switch ratio := received / x.ceiling; {
		case x.ceiling > 0 && ratio > 0.7 && ratio < 1.3: // additive
			response := 100 + math.Floor(millis(p.now-p.sent))
			grown = float64(p.bytes) * 8 / 2 * elapsed / response
		case received > 1.3*x.ceiling:
			x.ceiling = 0
		}
		rate := x.rate + grown
		if x.was.hasHeld && p.now-x.was.heldAt < 500*time.Millisecond {
			rate = min(rate, max(float64(x.real.minRate), 1.5*received))
		}
		x.setRate(rate)
	}
}

func (x *draft) setRate(rate float64) {
	x.rate = min(max(rate, float64(x.real.minRate)), float64(x.real.maxRate))
}

// loseRate is the rate control by loss of section 6.
func (x *draft) loseRate(now time.Duration) {
	if now < x.was.periodEnd {
		return
	}
	lost, acked := float64(x.was.lostPackets), float64(x.was.ackedPackets+1)
	switch share := math.Floor(1000*lost/(lost+acked)) / 1000; {
	case share < 0.02:
		x.lossLimit = min(float64(x.real.maxRate), 1.05*x.lossLimit)
	case share > 0.1:
		x.lossLimit = max(float64(x.real.minRate), min(x.lossLimit, x.rate)*(1-share/2))
		x.lost++
	}
	x.setRate(min(x.rate, x.lossLimit))
}

// difference compares x with the real one after a packet was acked.
func (x *draft) difference() string {
	g := x.real
	isNear := func(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
	switch {
	case !isNear(x.slope, fixed(g.slope), x.rounding), !isNear(x.variance, fixed(g.variance), 0.001):
		return "another gradient"
	case !isNear(x.noise, fixed(g.noise), 0.001+0.001*x.noise):
		return "another noise"
	case !isNear(x.limit, fixed(g.threshold), 0.02+0.02*math.Abs(x.limit-fixed(x.was.threshold))+60*x.rounding):
		return "another threshold"
	case x.state != g.state, x.isOverused != g.isOverused:
		return "another state"
	case !isNear(x.rate, float64(g.rate), 2+1e-4*x.rate), !isNear(x.lossLimit, float64(g.lossLimit), 2):
		return "another rate"
	case !isNear(x.ceiling, float64(g.ceiling), 1):
		return "another ceiling"
	}
	return ""
}

func (x *draft) sent(_ time.Duration, bytes int) string {
	want := max(float64(x.was.credit)-8*float64(bytes), -x.rate)
	if math.Abs(want-float64(x.real.credit)) > 1 {
		return "another credit"
	}
	return ""
}

func (x *draft) due(now time.Duration, c *controller) (bool, Decision, bool) {
	elapsed := min((now - x.was.filledAt).Seconds(), 1)
	credit := min(float64(x.was.credit)+elapsed*x.rate, x.rate/60)
	if math.Abs(credit-float64(x.real.credit)) > 2 {
		return !c.isDraining, Decision{Why: HeldByRate, Measured: int64(credit)}, false
	}
	if c.isDraining {
		return false, Decision{Why: HeldToDrain}, false
	}
	wait := -x.real.credit * int64(time.Second) / int64(x.rate)
	return credit >= 0, Decision{Why: HeldByRate, Measured: wait, Limit: int64(x.rate)}, math.Abs(credit) < 3
}

// newCheckedGame returns a game whose rule is compared with a reference.
func newCheckedGame(t *testing.T, text string, seed uint64) (*testGame, *checkedRule, *ackReference) {
	g := newTestGame(t, text, seed)
	acks := &ackReference{ended: map[uint64]bool{}}
	x := &checkedRule{rule: g.c.rule, t: t}
	switch rule := g.c.rule.(type) {
	case *ackClock:
		p := g.c.policy
		least := time.Second / time.Duration(p.Int("least"))
		x.reference = &plainAckClock{ackReference: acks, slack: p.Duration("slack"), least: least}
	case *goodBad:
		p := g.c.policy
		x.reference = &plainGoodBad{good: p.Int("good"), bad: p.Int("bad"), limit: p.Duration("rtt")}
	case *gcc:
		x.reference = &draft{real: rule}
	}
	g.c.rule = x
	return g, x, acks
}

// Each decision and each rate is that of the reference, on lines that change all the time. At least one
// packet a second is sent, even if no ack ever arrives again.
func TestControlEqualsReference(t *testing.T) {
	for _, text := range allControls[1:] { // fixed has no rule
		events, cuts, increases, lost := 0, 0, 0, 0
		for seed := range uint64(4) {
			g, x, acks := newCheckedGame(t, text, seed*2+1)
			g.onSent = func(now time.Duration, seq uint64, bytes int) {
				acks.packets = append(acks.packets, unackedPacket{seq: seq, at: now, bytes: bytes + 28})
				acks.lastSeq = seq
				for len(acks.packets) > 400 && acks.ended[acks.packets[0].seq] {
					acks.packets = acks.packets[1:]
				}
			}
			var want []ackedPacket
			wantLost := 0
			g.onAck = func(now time.Duration, a testAck) {
				x.acks, x.losses = nil, 0
				want, wantLost = acks.handle(now, a)
			}
			g.afterAck = func() {
				for i := range x.acks {
					p := &x.acks[i]
					if p.hasArrival != (p.isNewest && NeedsArrivals(g.c.policy)) {
						t.Fatalf("%s: %+v has an arrival time, or not", text, p)
					}
					p.arrived, p.receivedRate, p.hasArrival = 0, 0, false
				}
				if len(want) != len(x.acks) || wantLost != x.losses {
					t.Fatalf("%s: %d packets are acked, %d lost; expected %d and %d", text,
						len(x.acks), x.losses, len(want), wantLost)
				}
				for i, p := range want {
					if x.acks[i] != p {
						t.Fatalf("%s: %+v is acked, expected %+v", text, x.acks[i], p)
					}
				}
			}
			for at := time.Duration(0); at < 90*time.Second; at += 6 * time.Second {
				g.line.rate = []int{150_000, 1_000_000, 3_000_000}[g.rng.IntN(3)]
				g.line.lossPer1000 = []int{0, 0, 0, 0, 20, 200}[g.rng.IntN(6)]
				g.line.delay = time.Duration(5+g.rng.IntN(200)) * time.Millisecond
				g.line.jitter = time.Duration(g.rng.IntN(2)*g.rng.IntN(40)) * time.Millisecond
				g.run(at, at+6*time.Second)
			}
			events += x.events
			g.line.lossPer1000 = 1000
			if g.run(90*time.Second, 110*time.Second); g.longest > maxSilence+testSlot {
				t.Errorf("%s, seed %d: nothing was sent for %v", text, seed, g.longest)
			}
			if d, isDraft := x.reference.(*draft); isDraft {
				cuts, increases, lost = cuts+d.cuts, increases+d.increases, lost+d.lost
			}
		}
		isGCC := strings.HasPrefix(text, "gcc")
		if events < 4000 || isGCC && min(cuts, increases/100, lost) < 4 {
			t.Errorf("%s: only %d events with %d cuts, %d increases and %d losses were compared", text,
				events, cuts, increases, lost)
		}
	}
}

// A value that equals its limit does not exceed it.
func TestControlAtLimits(t *testing.T) {
	c := &controller{isDraining: true, drainFrom: 5, roundTrip: 100 * time.Millisecond}
	if c.measureDrain(5, 80*time.Millisecond); c.isDraining {
		t.Error("a round trip that is shorter by 20 ms continues the drain")
	}
	g := newGCC(Controls.Default("gcc"), testSlot)
	limit := g.lossLimit
	g.lostPackets, g.ackedPackets = 1, 9
	if g.controlByLoss(0, c); g.lossLimit != limit {
		t.Errorf("10 %% lost change the limit from %d to %d", limit, g.lossLimit)
	}
	g.ceiling, g.state = 1000, increase
	rate := g.rate
	if g.control(time.Second, 1300, c); g.ceiling != 1000 || g.rate != rate*108/100 {
		t.Errorf("1.3 times the ceiling change it to %d, and the rate from %d to %d", g.ceiling, rate, g.rate)
	}
	for _, trend := range []int64{g.threshold, -g.threshold} {
		g.samples, g.slope, g.state = 1, trend, decrease
		if g.detect(time.Second, 0); g.state != increase || g.isOverused {
			t.Errorf("a trend of %d at the threshold %d leads to state %d", trend, g.threshold, g.state)
		}
	}
}
