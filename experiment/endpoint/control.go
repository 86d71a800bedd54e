package endpoint

import (
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// Controls are the policies that decide which snapshots a sender sends. Snapshots that a policy holds
// back are skipped, not delayed: the next one contains newer state.
//
// ack-clock and gcc recover: the receiver has fresh snapshots within 10 s once the line is good, if the
// line can drain its full queue in 3 s, with gcc in 1 s. The rate of gcc then grows by only 8 % a
// second. fixed and good-bad do not promise it: large queues can keep round trips long, which makes
// snapshots larger, which keeps the queue full.
var Controls = policy.Set{
	{Name: "fixed", Summary: "send every snapshot"},
	{Name: "good-bad", Summary: "two rates: good, and bad while the round trip is long (Fiedler, Reliability and Congestion Avoidance over UDP)",
		Params: []policy.Param{
			policy.Count("good", 60, 1, 1000, "snapshots a second in good conditions"),
			policy.Count("bad", 20, 1, 1000, "snapshots a second in bad conditions"),
			policy.Time("rtt", 250*time.Millisecond, time.Millisecond, 10*time.Second, "smoothed round trip above which conditions are bad"),
		}, Ascending: []string{"bad", "good"}},
	{Name: "gcc", Summary: "Google congestion control: a rate from the trend of the delay and the loss (draft-ietf-rmcat-gcc-02)",
		Params: []policy.Param{
			policy.Time("overuse", 10*time.Millisecond, time.Millisecond, time.Second, "time for which the delay must grow before the rate is cut"),
			policy.Rate("start", 600_000, 1000, 1_000_000_000, "rate at first"),
			policy.Rate("least", 30_000, 1000, 1_000_000_000, "lowest rate"),
			policy.Rate("most", 10_000_000, 1000, 1_000_000_000, "highest rate"),
		}, Ascending: []string{"least", "start", "most"}},
	{Name: "ack-clock", Summary: "nothing is sent while the oldest unacked snapshot is older than the least round trip and a slack",
		Params: []policy.Param{
			policy.Time("slack", 50*time.Millisecond, time.Millisecond, 10*time.Second, "time above the least round trip of the last 10 s"),
			policy.Count("least", 4, 1, 60, "snapshots a second that are sent in any case"),
		}},
}

// NeedsArrivals reports whether a control needs the times at which packets arrived, which cost 2 bytes
// in each ack; see Receiver.AppendAckAt.
func NeedsArrivals(control policy.Policy) bool { return control.Name() == "gcc" }

// maxSilence is the time after which a snapshot is sent whatever a policy decides. Otherwise a policy
// could wait forever for acks.
const maxSilence = time.Second

// lossThreshold is the number of packets sent later that must have arrived before an unacked packet
// counts as lost, as in QUIC (RFC 9002, section 6.1.1).
const lossThreshold = 3

// maxInFlight is the maximum number of unacked packets that are stored; older ones count as lost.
const maxInFlight = 1024

// controller decides which snapshots a sender sends, and records its decisions. A nil *controller sends all.
type controller struct {
	policy    policy.Policy
	slot      time.Duration // between two snapshots that could be sent
	rule      rule          // nil sends everything
	inFlight  ring.Queue[unackedPacket]
	newest    uint64 // newest acked packet, if hasNewest
	lastSeq   uint64 // last packet sent, if hasSent
	arrivals  arrivalClock
	received  receivedRate // by the clock of the receiver, if NeedsArrivals(policy)
	lastSent  time.Duration
	roundTrip time.Duration // of packet newest
	drainFrom uint64        // first packet of the drain
	log       decisionLog

	hasNewest, hasSent bool
	isDraining         bool // snapshots are held back until no packets are in flight; see drain
}

// unackedPacket is a packet whose ack is expected.
type unackedPacket struct {
	seq   uint64
	at    time.Duration
	bytes int  // with the headers of IPv4 and UDP
	acked bool // it stays in the queue while an older packet is unacked
}

// rule is the policy of a controller.
type rule interface {
	// acked handles a packet that was acked for the first time.
	acked(p *ackedPacket, c *controller)
	// lost handles a packet that was lost.
	lost(now time.Duration, c *controller)
	// due reports whether the snapshot of time now may be sent. If not, it returns the reason.
	due(now time.Duration, c *controller) (ok bool, why Decision)
	// sent handles a packet that was sent.
	sent(now time.Duration, bytes int)
	// target returns the rate in bits per second; 0 if the policy has none.
	target() int64
}

// ackedPacket is a packet that was acked.
type ackedPacket struct {
	now, sent    time.Duration
	arrived      time.Duration // by the clock of the receiver; only if hasArrival
	hasArrival   bool
	isNewest     bool // the first ack of this packet or a later one, so now-sent is a round trip
	bytes        int
	receivedRate int64 // bits per second that arrived in the last half second; 0 if unknown, or without NeedsArrivals
}

// set sets the policy, which begins in its initial state. slot is the time between two snapshots that
// could be sent.
func (c *controller) set(p policy.Policy, slot time.Duration) {
	if c.rule == nil { // the queue does not contain packets that were sent without a rule
		c.inFlight = ring.Queue[unackedPacket]{}
	}
	if NeedsArrivals(p) != NeedsArrivals(c.policy) {
		c.received = receivedRate{}
	}
	c.policy, c.slot, c.rule, c.isDraining = p, slot, nil, false
	switch p.Name() {
	case "good-bad":
		c.rule = newGoodBad(p, slot)
	case "gcc":
		c.rule = newGCC(p, slot)
		c.drain()
	case "ack-clock":
		c.rule = &ackClock{slack: p.Duration("slack"), silence: time.Second / time.Duration(p.Int("least"))}
		c.drain()
	}
}

// drain holds snapshots back until no packets are in flight, so that the delays measured then do not
// contain a queue. BBR does this in its state ProbeRTT.
func (c *controller) drain() {
	if c.hasSent && !c.isDrained() {
		c.isDraining, c.drainFrom = true, c.lastSeq+1
	}
}

// isDrained reports whether all packets are acked or lost.
func (c *controller) isDrained() bool { return c.hasNewest && c.newest == c.lastSeq }

// measureDrain records the round trip of packet seq, the newest acked one. If it exceeds maxSilence, a
// packet is always in flight; the drain then ends when the round trips of packets that were sent during
// it become no shorter.
func (c *controller) measureDrain(seq uint64, roundTrip time.Duration) {
	const step = 20 * time.Millisecond // by which round trips become shorter while a queue drains
	if seq >= c.drainFrom && roundTrip >= c.roundTrip-step {
		c.isDraining = false
	}
	c.roundTrip = roundTrip
}

// due reports whether the snapshot of time now is to be sent.
func (c *controller) due(now time.Duration) bool {
	if c == nil || c.rule == nil || !c.hasSent {
		return true
	}
	ok, why := c.rule.due(now, c)
	if ok || now-c.lastSent >= maxSilence {
		return true
	}
	why.At, why.Until, why.Held = now, now, 1
	c.log.add(why)
	return false
}

// sent records that packet seq was sent.
func (c *controller) sent(now time.Duration, seq uint64, datagramBytes int) {
	if c == nil {
		return
	}
	c.lastSeq, c.lastSent, c.hasSent = seq, now, true
	if c.rule == nil {
		return
	}
	const headers = 28 // of IPv4 and UDP
	bytes := datagramBytes + headers
	if c.inFlight.Len() == maxInFlight {
		c.inFlight.Pop()
		c.rule.lost(now, c)
	}
	*c.inFlight.Push() = unackedPacket{seq: seq, at: now, bytes: bytes}
	c.rule.sent(now, bytes)
}

// acked handles an ack of packet newest and of those packets newest-1-i whose bit i is set in mask.
// arrival is the arrival time of packet newest as in the ack, if hasArrival.
func (c *controller) acked(now time.Duration, newest uint64, mask uint32, arrival uint16, hasArrival bool) {
	if c == nil {
		return
	}
	isNewer := !c.hasNewest || newest > c.newest // acks may be reordered
	if isNewer {
		c.newest, c.hasNewest = newest, true
		c.isDraining = c.isDraining && !c.isDrained()
		if hasArrival {
			c.arrivals.unwrap(now, arrival)
		}
	}
	if c.rule == nil {
		return
	}
	for n := c.inFlight.First(); n < c.inFlight.Next() && c.inFlight.At(n).seq <= newest; n++ {
		p := c.inFlight.At(n)
		behind := newest - p.seq
		if p.acked || behind > 0 && (behind > 32 || mask>>(behind-1)&1 == 0) {
			continue
		}
		p.acked = true
		isNewest := isNewer && behind == 0
		if isNewest {
			c.measureDrain(newest, now-p.at)
		}
		a := ackedPacket{now: now, sent: p.at, arrived: c.arrivals.arrived, hasArrival: hasArrival && isNewest, isNewest: isNewest, bytes: p.bytes}
		if NeedsArrivals(c.policy) && c.arrivals.started {
			a.receivedRate = c.received.add(c.arrivals.arrived, p.bytes)
		}
		c.rule.acked(&a, c)
	}
	c.dropOld(now)
}

// dropOld removes packets from the queue that are acked, and those that count as lost.
func (c *controller) dropOld(now time.Duration) {
	end := c.inFlight.First() // of the packets up to the newest acked one
	for end < c.inFlight.Next() && c.inFlight.At(end).seq <= c.newest {
		end++
	}
	for n := c.inFlight.First(); n < end; n++ {
		if p := c.inFlight.At(n); !p.acked {
			if later := end - 1 - n; later < lossThreshold && c.newest-p.seq <= 32 {
				return // packet p may have been overtaken by the later ones
			}
			c.rule.lost(now, c)
		}
		c.inFlight.Pop()
	}
}

// oldestUnacked returns when the oldest packet was sent that is newer than the newest acked one; false
// if there is none.
func (c *controller) oldestUnacked() (at time.Duration, ok bool) {
	for n := c.inFlight.First(); n < c.inFlight.Next(); n++ {
		if p := c.inFlight.At(n); !c.hasNewest || p.seq > c.newest {
			return p.at, true
		}
	}
	return 0, false
}

// arrivalUnit is the unit of arrival times in acks. 16 bits of it are 16 s, so that times can be
// unwrapped if the delay of the path changes by less than 8 s from one ack to the next.
const arrivalUnit = 250 * time.Microsecond

// arrivalClock converts the arrival times in acks to times of the receiver's clock, whose zero is arbitrary.
type arrivalClock struct {
	started      bool
	arrived, now time.Duration // of the newest ack: arrival time, and time of the ack
}

// unwrap sets the full arrival time of the newest ack, which was received at now. low has the low bits of
// the time; the full one is that closest to the arrival time of the ack before plus the time since then.
func (a *arrivalClock) unwrap(now time.Duration, low uint16) {
	full := int64(low)
	if a.started {
		expected := int64((a.arrived + now - a.now) / arrivalUnit)
		full = expected + int64(int16(low-uint16(expected)))
	}
	*a = arrivalClock{started: true, arrived: time.Duration(full) * arrivalUnit, now: now}
}

// receivedRate measures the rate at which packets arrive, over half a second.
type receivedRate struct {
	bytes ring.Sum
	since time.Duration // packets have arrived since then without a pause of receivedWindow
}

// receivedWindow is the time over which receivedRate measures.
const receivedWindow = 500 * time.Millisecond

// add adds a packet and returns the rate in bits per second; 0 until packets have arrived for receivedWindow.
func (r *receivedRate) add(at time.Duration, bytes int) int64 {
	r.bytes.Add(at, int64(bytes))
	if r.bytes.Len() > maxInFlight { // an ack may contain any time
		r.bytes.DropOldest()
	}
	r.bytes.DropBefore(at - receivedWindow)
	if r.bytes.Len() == 1 {
		r.since = at
	}
	if at-r.since < receivedWindow {
		return 0
	}
	return r.bytes.Value() * 8 * int64(time.Second/receivedWindow)
}
