package traffic

import (
	"time"

	"wirelab/internal/cubic"
	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// tcp is a TCP sender with unlimited data, and its path back: each packet that leaves the line is acked one base
// round trip later. Packets are numbered again when they are retransmitted, as in QUIC, and the path keeps their
// order. A loss is detected by three acks of later packets or by a timeout. Acks of packets that a timeout gave up
// undo the timeout (F-RTO, RFC 5682). Without delayed acks, TLP and RACK.
type tcp struct {
	baseRTT time.Duration
	startAt time.Duration // never once the flow has started
	window  cubic.Window

	packets     ring.Queue[sentPacket] // from the oldest one of unknown fate, by number
	inFlight    int
	lostPackets int64  // to be retransmitted
	recovery    uint64 // losses of earlier packets belong to the last reduction of the window
	acks        ring.Queue[ack]
	rtt         cubic.RoundTrip
	timer       time.Duration // of the retransmission timeout; never if nothing is in flight
	backoff     int           // timeouts since the last ack
	beforeRTO   saved
}

// saved is the state before a timeout, to undo it.
type saved struct {
	valid    bool
	window   cubic.Window
	recovery uint64
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
}

// Constants of TCP.
const (
	tcpPayload = cubic.Payload
	tcpPacket  = 1500 // with IPv4 and TCP headers
)

// newTCP returns a flow that starts at the given time.
func newTCP(k policy.Policy, start time.Duration) *tcp {
	return &tcp{baseRTT: k.Duration("rtt"), startAt: start, window: cubic.New(k.Int("fast_convergence") == 1), timer: never}
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
	for float64(t.inFlight) < t.window.Size() {
		dst = append(dst, Packet{Number: t.packets.Next(), Bytes: tcpPacket})
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

func (t *tcp) left(now time.Duration, number uint64, _ *Stats) {
	*t.acks.Push() = ack{now + t.baseRTT, number}
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
	t.rtt.Add(rtt)
	s.RTT += rtt
	s.Acked++
	switch {
	case t.detectLosses(a.number):
		t.window.Reduce()
		t.recovery = t.packets.Next()
	case a.number >= t.recovery: // the window limits the flow, which always has data
		t.window.Grow(now, rtt, &t.rtt)
	}
	t.timer = never // restarted by run
}

// detectLosses marks packets as lost that are at least cubic.ReorderLimit before the newest acked one, and forgets
// packets of known fate. It reports whether one of them was sent after the last reduction of the window.
func (t *tcp) detectLosses(newest uint64) (isNewEvent bool) {
	for n := t.packets.First(); n <= newest; n++ {
		p := t.packets.At(n)
		if p.fate == flying && n+cubic.ReorderLimit <= newest {
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
		t.beforeRTO = saved{true, t.window, t.recovery}
	}
	for n := t.packets.First(); n < t.packets.Next(); n++ {
		if p := t.packets.At(n); p.fate == flying {
			p.fate = givenUp
			t.lostPackets++
		}
	}
	t.inFlight = 0
	t.backoff = min(t.backoff+1, cubic.MaxBackoff)
	t.window.TimeOut()
	t.recovery = t.packets.Next()
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
		t.window, t.recovery = b.window, b.recovery
	}
}

// restartTimer starts the timer of the retransmission timeout (RFC 6298).
func (t *tcp) restartTimer(now time.Duration) {
	t.timer = never
	if t.inFlight > 0 {
		t.timer = now + t.rtt.Timeout(cubic.MinTimeout, cubic.FirstTimeout)<<t.backoff
	}
}

func (t *tcp) fork() sender {
	c := *t
	c.packets, c.acks = t.packets.Clone(), t.acks.Clone()
	return &c
}
