package traffic

import (
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// tcp is a TCP sender with unlimited data, and its path back: each packet that leaves the line is acked one base
// round trip later. Packets are numbered again when they are retransmitted, as in QUIC, and the path keeps their
// order. A loss is detected by three acks of later packets or by a timeout. Acks of packets that a timeout gave up
// undo the timeout (F-RTO, RFC 5682). Without delayed acks, TLP and RACK.
//
// Windows are in units of 1/1024 packet.
type tcp struct {
	cubic, fastConvergence, canMark bool
	baseRTT                         time.Duration
	startAt                         time.Duration // never once the flow has started

	window, threshold int64 // congestion window; slow-start threshold
	curve             cubicCurve

	packets     ring.Queue[sentPacket] // from the oldest one of unknown fate, by number
	inFlight    int
	lostPackets int64  // to be retransmitted
	recovery    uint64 // losses of earlier packets belong to the last reduction of the window
	acks        ring.Queue[ack]
	rtt         roundTrip
	timer       time.Duration // of the retransmission timeout; never if nothing is in flight
	backoff     int           // timeouts since the last ack
	beforeRTO   saved
}

// saved is the state before a timeout, to undo it.
type saved struct {
	valid             bool
	window, threshold int64
	recovery          uint64
	curve             cubicCurve
}

// sentPacket is a packet that was sent.
type sentPacket struct {
	at   time.Duration
	fate fate
}

// fate is what the sender knows about a packet.
type fate uint8

const (
	flying fate = iota
	acked
	lost    // detected by acks of later packets
	givenUp // by a timeout
)

// ack is an ack on its way to the sender.
type ack struct {
	at     time.Duration
	number uint64
	marked bool // reports an ECN mark
}

// Constants of TCP.
const (
	packetUnit    = 1 << 10 // one packet in the unit of windows
	tcpPayload    = 1448    // bytes, with timestamps
	tcpPacket     = 1500    // with IPv4 and TCP headers
	initialWindow = 10 * packetUnit
	minWindow     = 2 * packetUnit
	maxWindow     = 4096 * packetUnit // 6 MB, Linux's default receive window
	reorderLimit  = 3                 // acks of later packets that reveal a loss
	minTimeout    = 200 * time.Millisecond
	firstTimeout  = time.Second // before the first round trip
	maxBackoff    = 6
)

// newTCP returns a flow that starts at the given time.
func newTCP(k policy.Policy, start time.Duration) *tcp {
	t := &tcp{cubic: k.Name() == "cubic", canMark: k.Int("ecn") == 1, baseRTT: k.Duration("rtt"), startAt: start,
		window: initialWindow, threshold: maxWindow, timer: never}
	t.fastConvergence = t.cubic && k.Int("fast_convergence") == 1
	return t
}

func (t *tcp) next() time.Duration {
	at := min(t.startAt, t.timer)
	if a := t.acks.At(t.acks.First()); a != nil {
		at = min(at, a.at)
	}
	return at
}

func (t *tcp) run(now time.Duration, stopped bool, s *Stats, dst []Packet) []Packet {
	if t.startAt <= now {
		t.startAt = never
	}
	for a := t.acks.At(t.acks.First()); a != nil && a.at <= now; a = t.acks.At(t.acks.First()) {
		t.handleAck(now, *a, s)
		t.acks.Pop()
	}
	if t.timer <= now {
		t.timeOut(s)
		t.restartTimer(now)
	}
	if stopped {
		t.timer = never
		return dst
	}
	if t.startAt != never {
		return dst
	}
	for int64(t.inFlight)*packetUnit < t.window {
		dst = append(dst, Packet{Number: t.packets.Next(), Bytes: tcpPacket, CanMark: t.canMark})
		*t.packets.Push() = sentPacket{at: now}
		if t.inFlight == 0 {
			t.restartTimer(now)
		}
		t.inFlight++
		if t.lostPackets > 0 {
			t.lostPackets--
			s.Retransmitted++
		}
	}
	if t.timer == never {
		t.restartTimer(now)
	}
	return dst
}

func (t *tcp) left(now time.Duration, number uint64, marked bool, _ *Stats) {
	*t.acks.Push() = ack{now + t.baseRTT, number, marked}
}

// handleAck handles an ack. The path keeps the order of packets, so all packets before the acked one are acked or
// lost.
func (t *tcp) handleAck(now time.Duration, a ack, s *Stats) {
	p := t.packets.At(a.number)
	if p == nil || p.fate == acked || p.fate == lost {
		return
	}
	if p.fate == givenUp {
		t.undoTimeout(a.number, s)
	}
	p.fate = acked
	t.inFlight--
	t.backoff, t.beforeRTO.valid = 0, false
	s.Delivered++
	s.Bytes += tcpPayload
	rtt := now - p.at
	t.rtt.add(rtt)
	s.RTT += rtt
	s.Acked++
	if a.marked {
		s.Marked++
	}
	isNewEvent := t.detectLosses(a.number)
	switch {
	case isNewEvent || a.marked && a.number >= t.recovery:
		t.reduce()
	case a.number >= t.recovery: // the window limits the flow, which always has data
		t.grow(now, rtt)
	}
	t.timer = never // restarted by run
}

// detectLosses marks packets as lost that are at least reorderLimit before the newest acked one, and forgets
// packets of known fate. It reports whether one of them was sent after the last reduction of the window.
func (t *tcp) detectLosses(newest uint64) (isNewEvent bool) {
	for n := t.packets.First(); n <= newest; n++ {
		p := t.packets.At(n)
		if p.fate == flying && n+reorderLimit <= newest {
			p.fate = lost
			t.inFlight--
			t.lostPackets++
			isNewEvent = isNewEvent || n >= t.recovery
		}
	}
	for t.packets.Len() > 0 && t.packets.First() <= newest && t.packets.At(t.packets.First()).fate != flying {
		t.packets.Pop()
	}
	return isNewEvent
}

// timeOut gives up all packets in flight and begins again with one packet.
func (t *tcp) timeOut(s *Stats) {
	if t.inFlight == 0 {
		return
	}
	s.Timeouts++
	if t.backoff == 0 {
		t.beforeRTO = saved{true, t.window, t.threshold, t.recovery, t.curve}
	}
	for n := t.packets.First(); n < t.packets.Next(); n++ {
		if p := t.packets.At(n); p.fate == flying {
			p.fate = givenUp
			t.lostPackets++
		}
	}
	t.inFlight = 0
	t.backoff = min(t.backoff+1, maxBackoff)
	t.threshold = max(minWindow, t.window/2)
	t.curve.restart(t.window)
	t.window, t.recovery = packetUnit, t.packets.Next()
}

// undoTimeout handles the ack of a packet that was given up. It and later ones were not lost, so they are in
// flight again, and the window is restored.
func (t *tcp) undoTimeout(number uint64, s *Stats) {
	for n := number; n < t.packets.Next(); n++ {
		p := t.packets.At(n)
		if p.fate != givenUp {
			continue
		}
		p.fate = flying
		t.inFlight++
		if t.lostPackets > 0 {
			t.lostPackets--
			continue
		}
		s.Delivered-- // was retransmitted before: the copy arrives too
		s.Bytes -= tcpPayload
	}
	if b := &t.beforeRTO; b.valid {
		s.Spurious++
		t.window, t.threshold, t.recovery, t.curve = b.window, b.threshold, b.recovery, b.curve
	}
}

// restartTimer starts the timer of the retransmission timeout (RFC 6298).
func (t *tcp) restartTimer(now time.Duration) {
	t.timer = never
	if t.inFlight > 0 {
		t.timer = now + t.rtt.timeout()<<t.backoff
	}
}

// reduce reduces the window after a loss.
func (t *tcp) reduce() {
	t.recovery = t.packets.Next()
	peak := t.window
	if t.cubic {
		if t.window < t.curve.peak && t.fastConvergence {
			peak = t.window * 85 / 100
		}
		t.window = t.window * 7 / 10
	} else {
		t.window /= 2
	}
	t.curve.restart(peak)
	t.window = max(minWindow, t.window)
	t.threshold = t.window
}

// grow increases the window for an acked packet.
func (t *tcp) grow(now, rtt time.Duration) {
	switch {
	case t.window < t.threshold:
		t.window += packetUnit
		// HyStart: leave slow start when the round trip has grown by an eighth, 4 to 16 ms.
		const ms = time.Millisecond
		if rtt > t.rtt.least+max(4*ms, min(16*ms, t.rtt.least/8)) && t.window > 16*packetUnit {
			t.threshold = t.window
		}
	case t.cubic:
		t.window = t.curve.grow(now, t.rtt.smoothed, t.window)
	default:
		t.window += packetUnit * packetUnit / t.window
	}
	t.window = min(t.window, maxWindow)
}

func (t *tcp) fork() sender {
	c := *t
	c.packets, c.acks = t.packets.Clone(), t.acks.Clone()
	return &c
}

// cubicCurve is the window of CUBIC as a function of time (RFC 9438): C (t-K)^3 + peak, with C = 0.4 packets per
// second cubed, but at least the window that Reno would have.
type cubicCurve struct {
	peak     int64         // window before the last reduction
	k        int64         // time from the begin of the epoch to peak, in ms
	began    bool          // the epoch has begun
	epoch    time.Duration // when the epoch began
	estimate int64         // of the window of Reno
}

// restart ends the epoch.
func (c *cubicCurve) restart(peak int64) { c.peak, c.began = peak, false }

// grow returns the window after a packet was acked at now.
func (c *cubicCurve) grow(now, rtt time.Duration, window int64) int64 {
	if !c.began {
		c.began, c.epoch, c.estimate = true, now, window
		c.k = 0
		if c.peak < window {
			c.peak = window
		} else {
			// K = cbrt((peak-window)/C) seconds: 1e9/0.4 converts to ms cubed.
			c.k = int64(icbrt(uint64(c.peak-window) * 2_500_000_000 >> 10))
		}
	}
	t := int64((now-c.epoch+rtt)/time.Millisecond) - c.k
	t = min(max(t, -maxCurveTime), maxCurveTime) // no overflow below
	target := c.peak + t*t/1000*t*410/1_000_000  // 0.4 * 1024 / 1e9
	target = max(window, min(target, window*3/2))
	next := window + (target-window)*packetUnit/window
	c.estimate += 529 * packetUnit / 1000 * packetUnit / window // alpha = 3 (1-0.7)/(1+0.7) = 0.529 packets per round trip
	return max(next, c.estimate)
}

// maxCurveTime limits the time in cubicCurve.grow, in ms. The window has reached its maximum before.
const maxCurveTime = 1_000_000

// icbrt returns the integer cube root.
func icbrt(n uint64) uint64 {
	var root uint64
	for bit := uint64(1) << 20; bit > 0; bit >>= 1 {
		if t := root | bit; t*t*t <= n {
			root = t
		}
	}
	return root
}

// roundTrip estimates the round trip (RFC 6298).
type roundTrip struct{ smoothed, variation, least time.Duration }

// add adds a measurement.
func (r *roundTrip) add(rtt time.Duration) {
	if r.smoothed == 0 {
		r.smoothed, r.variation, r.least = rtt, rtt/2, rtt
		return
	}
	deviation := rtt - r.smoothed
	r.variation += (max(deviation, -deviation) - r.variation) / 4
	r.smoothed += deviation / 8
	r.least = min(r.least, rtt)
}

// timeout returns the retransmission timeout without backoff.
func (r *roundTrip) timeout() time.Duration {
	if r.smoothed == 0 {
		return firstTimeout
	}
	return max(minTimeout, r.smoothed+4*r.variation)
}
