package endpoint

import (
	"math"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// bucket turns a rate into a decision for each snapshot, as Quake III does: a packet may be sent if those before it
// have left the line, at this rate. gcc embeds it.
type bucket struct {
	rate, minRate, maxRate int64         // bits per second
	slot                   time.Duration // between two snapshots
	credit                 int64         // bits that may be sent; negative while the line is busy
	filledAt               time.Duration // when credit was updated
	heldAt                 time.Duration // when it last held a snapshot back
	hasHeld                bool
}

// newBucket returns a bucket with the parameters start, least and most of p.
func newBucket(p policy.Policy, slot time.Duration) bucket {
	return bucket{rate: p.Int("start"), minRate: p.Int("least"), maxRate: p.Int("most"), slot: slot}
}

func (b *bucket) due(now time.Duration, c *controller) (bool, Decision) {
	elapsed := min(now-b.filledAt, time.Second)
	b.credit = min(b.credit+int64(elapsed)*b.rate/1e9, int64(b.slot)*b.rate/1e9)
	b.filledAt = now
	if c.isDraining {
		return false, Decision{Why: HeldToDrain}
	}
	if b.credit >= 0 {
		return true, Decision{}
	}
	b.heldAt, b.hasHeld = now, true
	return false, Decision{Why: HeldByRate, Measured: -b.credit * 1e9 / b.rate, Limit: b.rate}
}

// sent subtracts the bits of a packet from the credit. The credit does not fall below what the rate sends in maxSilence:
// the packets that are sent after each maxSilence, whatever the credit is, would otherwise add up to a debt of minutes.
func (b *bucket) sent(_ time.Duration, bytes int) {
	const seconds = int64(maxSilence / time.Second)
	b.credit = max(b.credit-int64(bytes)*8, -b.rate*seconds)
}

func (b *bucket) target() int64 { return b.rate }

// binds reports whether the rate has held snapshots back in the last half second.
func (b *bucket) binds(now time.Duration) bool {
	return b.hasHeld && now-b.heldAt < 500*time.Millisecond
}

// setRate sets the rate within its limits.
func (b *bucket) setRate(rate int64) { b.rate = min(max(rate, b.minRate), b.maxRate) }

// received returns the rate at which packets arrive; the rate of b if unknown.
func (b *bucket) received(p *ackedPacket) int64 {
	if p.receivedRate == 0 {
		return b.rate
	}
	return p.receivedRate
}

// cut lowers the rate to rate and records the decision. It does nothing if the rate is not higher.
func (b *bucket) cut(now time.Duration, rate int64, c *controller, d Decision) {
	before := b.rate
	b.setRate(min(rate, b.rate))
	if b.rate < before {
		d.At, d.Until, d.From, d.To = now, now, before, b.rate
		c.log.add(d)
	}
}

// noRate is embedded by rules that have no rate and do not depend on losses.
type noRate struct{}

func (noRate) lost(time.Duration, *controller) {}
func (noRate) sent(time.Duration, int)         {}
func (noRate) target() int64                   { return 0 }

// goodBad is the flow control of Fiedler's "Reliability and Congestion Avoidance over UDP" (2008): conditions are
// bad while the smoothed round trip is above a limit. They are good again after a penalty, which doubles if they
// become bad within 10 s, and halves after each 10 s of good conditions.
type goodBad struct {
	noRate
	limit           time.Duration // smoothed round trip above which conditions are bad
	good, bad       int64         // snapshots per second that are sent in good and in bad conditions
	slotRate        int64         // snapshots per second that could be sent
	slots           int64         // snapshots that could be sent so far
	isBad           bool
	roundTrip       time.Duration // smoothed
	penalty         time.Duration // time without long round trips after which bad conditions become good
	since           time.Duration // when conditions became good; in bad conditions, when the round trip was last long
	penaltyHalvedAt time.Duration // also set when conditions become good
}

const (
	firstPenalty  = 4 * time.Second
	minPenalty    = time.Second
	maxPenalty    = 60 * time.Second
	penaltyPeriod = 10 * time.Second
)

func newGoodBad(p policy.Policy, slot time.Duration) *goodBad {
	return &goodBad{limit: p.Duration("rtt"), good: p.Int("good"), bad: p.Int("bad"), slotRate: slotRate(slot), penalty: firstPenalty}
}

// slotRate returns the number of snapshots per second that could be sent.
func slotRate(slot time.Duration) int64 { return int64((time.Second + slot/2) / slot) }

func (g *goodBad) acked(p *ackedPacket, _ *controller) {
	if p.isNewest {
		g.roundTrip += (p.now - p.sent - g.roundTrip) / 10
	}
}

func (g *goodBad) due(now time.Duration, c *controller) (bool, Decision) {
	if g.slots == 0 {
		g.since, g.penaltyHalvedAt = now, now
	}
	isLong := g.roundTrip > g.limit
	switch {
	case !g.isBad && isLong:
		if now-g.since < penaltyPeriod {
			g.penalty = min(maxPenalty, 2*g.penalty)
		}
		g.setBad(now, true, c)
	case !g.isBad: // conditions stay good
		if now-g.penaltyHalvedAt > penaltyPeriod {
			g.penalty = max(minPenalty, g.penalty/2)
			g.penaltyHalvedAt = now
		}
	case isLong: // conditions stay bad
		g.since = now
	case now-g.since > g.penalty:
		g.penaltyHalvedAt = now
		g.setBad(now, false, c)
	}
	rate := g.good
	if g.isBad {
		rate = g.bad
	}
	phase := g.slots * rate % g.slotRate // of slotRate snapshots, rate have a phase below rate
	g.slots++
	return phase < rate, Decision{Why: heldByRoundTrip, Measured: int64(g.roundTrip), Limit: int64(g.limit)}
}

// setBad changes the conditions and records that.
func (g *goodBad) setBad(now time.Duration, bad bool, c *controller) {
	d := Decision{At: now, Until: now, Why: becameGood, Measured: int64(g.roundTrip), Limit: int64(g.limit), From: g.bad, To: g.good}
	if bad {
		d.Why = becameBad
		d.From = g.good
		d.To = g.bad
	}
	c.log.add(d)
	g.isBad = bad
	g.since = now
}

// baseDelay is the round trip of a path without a queue: the minimum of the last 10 s. If the minimum changes by more than a
// tolerance, the path has changed, or the minimum contains a queue or did: then the queue is drained to measure again.
type baseDelay struct {
	recent     ring.Minimum
	value      time.Duration // valid if isMeasured
	first      time.Duration // value when it was measured
	isMeasured bool
}

// baseWindow is the time over which baseDelay takes the minimum.
const baseWindow = 10 * time.Second

// minTolerance is the smallest tolerance of baseDelay, so that jitter does not count as a change of the path.
const minTolerance = 20 * time.Millisecond

// add adds delay, the round trip of a packet that was acked at now. Afterwards b.isMeasured is true, except
// while c drains the queue.
func (b *baseDelay) add(now, delay, tolerance time.Duration, c *controller) {
	b.recent.Add(now, delay)
	b.recent.DropBefore(now - baseWindow)
	tolerance = max(tolerance, minTolerance)
	minimum := b.recent.Value()
	rises := minimum > b.value+tolerance // the path is slower now, or all recent round trips include a queue
	falls := minimum < b.first-tolerance // the path is faster now, or the first value included a queue
	if b.isMeasured && (rises || falls) {
		c.drain()
		b.isMeasured = false
	}
	if c.isDraining {
		return
	}
	if !b.isMeasured {
		b.first = minimum
		b.isMeasured = true
	}
	b.value = minimum
}

// ackClock holds snapshots back while the oldest unacked one is older than the least round trip of ten seconds plus
// a slack.
type ackClock struct {
	noRate
	slack, silence time.Duration
	base           baseDelay // of the round trip
}

func (a *ackClock) acked(p *ackedPacket, c *controller) {
	if p.isNewest {
		a.base.add(p.now, p.now-p.sent, a.slack, c)
	}
}

func (a *ackClock) due(now time.Duration, c *controller) (bool, Decision) {
	oldest, isWaiting := c.oldestUnacked()
	switch {
	case now-c.lastSent >= a.silence:
		return true, Decision{}
	case c.isDraining:
		return false, Decision{Why: HeldToDrain}
	case !a.base.isMeasured || !isWaiting:
		return true, Decision{}
	}
	limit := a.base.value + a.slack
	return now-oldest < limit, Decision{Why: heldByUnacked, Measured: int64(now - oldest), Limit: int64(limit)}
}

// gcc is Google congestion control (draft-ietf-rmcat-gcc-02) in integers, with one difference: the rate is limited to
// 1.5 times the rate received only while it holds snapshots back. Otherwise a sender that needs less than its rate
// would be cut to what it needs. Times of the filter are in 1/65536 ms.
type gcc struct {
	bucket
	overuse                   time.Duration // the delay must grow for this time
	started                   bool
	sentBefore, arrivedBefore time.Duration
	slope, variance, noise    int64 // estimated gradient of the delay, its variance, the variance of the noise
	threshold                 int64
	samples, previous         int64 // at most 60; the trend of the packet before
	isOverused                bool
	overusedSince             time.Duration
	state                     gccState
	grownAt                   time.Duration
	roundTrip                 time.Duration
	ceiling                   int64 // rate received at the last cut; 0 if unknown
	packetBytes               int64
	lossLimit                 int64 // rate of the controller by loss
	lostPackets, ackedPackets int64 // in the current period
	periodEnd                 time.Duration
}

// gccState is the state of the rate control.
type gccState int

const (
	hold gccState = iota
	increase
	decrease
)

const gccOne = 1 << 16 // 1 in the fixed point of gcc

func newGCC(p policy.Policy, slot time.Duration) *gcc {
	b := newBucket(p, slot)
	return &gcc{bucket: b, overuse: p.Duration("overuse"), variance: gccOne / 10, noise: gccOne, threshold: 25 * gccOne / 2, lossLimit: b.maxRate}
}

// gccMul multiplies two numbers in fixed point.
func gccMul(a, b int64) int64 { return a * b >> 16 }

func (g *gcc) acked(p *ackedPacket, c *controller) {
	g.ackedPackets++
	if p.hasArrival {
		g.roundTrip, g.packetBytes = p.now-p.sent, int64(p.bytes)
		if g.started {
			gradient := int64((p.arrived-g.arrivedBefore)-(p.sent-g.sentBefore)) << 16 / int64(time.Millisecond)
			g.filter(min(max(gradient, -1000*gccOne), 1000*gccOne))
			g.detect(p.now, min(max(int64((p.arrived-g.arrivedBefore)/time.Millisecond), 0), 100))
			g.control(p.now, g.received(p), c)
		}
		g.started, g.sentBefore, g.arrivedBefore = true, p.sent, p.arrived
	}
	g.controlByLoss(p.now, c)
}

func (g *gcc) lost(now time.Duration, c *controller) {
	g.lostPackets++
	g.controlByLoss(now, c)
}

// filter updates the estimated gradient by a Kalman filter (section 5.3).
func (g *gcc) filter(gradient int64) {
	const processNoise = 66 // 1e-3 ms²
	residual := gradient - g.slope
	limit := 3 * int64(math.Sqrt(float64(g.noise<<16))) // outliers count as three deviations
	bounded := min(max(residual, -limit), limit)
	g.noise = max(gccOne, g.noise+(gccMul(bounded, bounded)-g.noise)/50)
	gain := (g.variance + processNoise) << 16 / (g.noise + g.variance + processNoise)
	g.slope += gccMul(residual, gain)
	g.variance = gccMul(gccOne-gain, g.variance+processNoise)
	g.samples = min(60, g.samples+1)
}

// detect compares the trend of the delay with a threshold that adapts (section 5.4). elapsedMS is the time between
// the arrivals.
func (g *gcc) detect(now time.Duration, elapsedMS int64) {
	trend := g.slope * g.samples
	switch {
	case trend > g.threshold:
		if !g.isOverused {
			g.isOverused, g.overusedSince = true, now
		}
		if now-g.overusedSince >= g.overuse && trend >= g.previous {
			g.state = decrease
		}
	case trend < -g.threshold:
		g.isOverused, g.state = false, hold
	default:
		g.isOverused = false
		if g.state != increase {
			g.state, g.grownAt = increase, now
		}
	}
	g.previous = trend
	size := max(trend, -trend)
	if size >= g.threshold+15*gccOne {
		return // an outlier
	}
	speed := int64(655) // 0.01
	if size < g.threshold {
		speed = 12 // 0.00018
	}
	g.threshold = min(600*gccOne, max(6*gccOne, g.threshold+elapsedMS*gccMul(speed, size-g.threshold)))
}

// control changes the rate by the state (section 5.5): it grows by 8 % a second, or near the last ceiling by half a
// packet in each response time; a cut is to 85 % of the rate received.
func (g *gcc) control(now time.Duration, received int64, c *controller) {
	switch g.state {
	case decrease:
		g.cut(now, received*85/100, c, Decision{Why: cutByOveruse, Measured: int64(now - g.overusedSince), Limit: int64(g.overuse)})
		g.ceiling, g.state, g.isOverused = received, hold, false
	case increase:
		elapsedMS := int64(min(now-g.grownAt, time.Second) / time.Millisecond)
		g.grownAt = now
		grown := g.rate * 8 / 100 * elapsedMS / 1000
		if g.ceiling > 0 && received > g.ceiling*7/10 && received < g.ceiling*13/10 {
			grown = g.packetBytes * 4 * elapsedMS / (100 + int64(g.roundTrip/time.Millisecond))
		} else if received > g.ceiling*13/10 {
			g.ceiling = 0
		}
		rate := g.rate + grown
		if g.binds(now) {
			rate = min(rate, max(g.minRate, received*3/2))
		}
		g.setRate(rate)
	}
}

// controlByLoss limits the rate by the share of lost packets (section 6): less than 2 % raise the limit by 5 %, more
// than 10 % lower it by half of the share.
func (g *gcc) controlByLoss(now time.Duration, c *controller) {
	if now < g.periodEnd {
		return
	}
	g.periodEnd = now + 200*time.Millisecond
	if total := g.lostPackets + g.ackedPackets; total > 0 {
		switch share := g.lostPackets * 1000 / total; {
		case share < 20:
			g.lossLimit = min(g.maxRate, g.lossLimit*21/20)
		case share > 100:
			g.lossLimit = max(g.minRate, min(g.lossLimit, g.rate)*(2000-share)/2000)
			g.cut(now, g.lossLimit, c, Decision{Why: CutByLoss, Measured: share, Limit: total})
		}
	}
	g.lostPackets, g.ackedPackets = 0, 0
	g.setRate(min(g.rate, g.lossLimit))
}
