package container

import (
	"encoding/binary"
	"time"

	"wirelab/internal/cubic"
	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// Limits of messages.
const (
	MaxLanes   = 2
	MaxMessage = 1 << 20 // bytes
	// MaxPart is the largest part of a message in bytes.
	MaxPart     = 1400
	messagePart = 1000 // largest part of NewOutbox
	partHeader  = 5
	// MaxPartUnit is the largest result of Outbox.Take.
	MaxPartUnit = 1 + partHeader + messagePart
	// MaxWindow is the largest number of parts in flight in a lane.
	MaxWindow = 1024
	// maxQueued is the number of parts of a lane that a sender stores until they are acked, and that a
	// receiver accepts after a missing one.
	maxQueued = 4096
	// packetRoom is the room for parts in the container of a packet. As in yojimbo, such a datagram may
	// exceed the MTU.
	packetRoom = 1200
	// maxPartTimeout limits the timeout of a part, which grows with each resend.
	maxPartTimeout = 10 * time.Second
)

// Deliveries are the policies by which messages are delivered, in order and without loss.
var Deliveries = policy.Set{
	{Name: "all-unacked", Summary: "each packet carries all parts that are not acked and fit, the oldest first"},
	{Name: "resend", Summary: "a part is in the next packet, and again when it is not acked after a time, as in yojimbo", Params: []policy.Param{
		policy.Time("after", 100*time.Millisecond, time.Millisecond, 10*time.Second, "until a message of one part is sent again"),
		policy.Time("block_after", 250*time.Millisecond, time.Millisecond, 10*time.Second,
			"until a part of a larger message is sent again; a packet carries one such part")}},
	{Name: "rto", Summary: "a part is sent at once in its own datagram, and again after a timeout or three acks of later ones, as in KCP",
		Params: []policy.Param{
			policy.Time("least", 100*time.Millisecond, time.Millisecond, 10*time.Second, "least timeout"),
			policy.Count("window", 32, 1, MaxWindow, "parts in flight in a lane")}},
	{Name: "stream", Summary: "packets and messages in one ordered stream with CUBIC, as in TCP and WebSocket", Params: []policy.Param{
		policy.Count("coalesce", 1, 0, 1, "1: bytes that wait share segments, as in TCP; 0: what is written keeps its own segments"),
		policy.Count("skip", 0, 0, 1, "1: no packet is written while bytes wait at the sender")}},
}

// Outbox is the sending end of messages. It splits them into parts, which travel in containers, until
// the containers are acked. Each lane keeps its order; a part that is missing in one does not delay the
// other. Create it with NewOutbox.
type Outbox struct {
	policy  policy.Policy
	rto     *rto // nil if parts travel in the containers of packets or in a stream
	part    int  // largest part in bytes
	lanes   [MaxLanes]outLane
	pace    int64         // bit/s at which parts are sent for the first time; 0 means no limit
	paceAt  time.Duration // when the pace allows the next part that was never sent
	carried [1024]carrying
	newest  partID // part in the newest datagram
	rtt     cubic.RoundTrip
	silence silence
	block   []byte
	stats   outboxStats
}

// rto are the rules by which parts that have datagrams of their own are sent again.
type rto struct {
	window      int           // parts in flight in a lane
	least       time.Duration // least timeout
	granularity time.Duration // the timeout exceeds the round trip at least by this (G in RFC 6298)
	first       time.Duration // timeout before the first round trip is measured

	// isKCP makes the rules those of KCP: a part keeps the timeout with which it was sent, each timeout
	// makes the next one of the part half as long again, cubic.ReorderLimit acks of later parts reveal a
	// loss, and acked parts after a missing one count as in flight. Otherwise the present timeout counts;
	// see silence.
	isKCP bool
}

// silence is the time without acks, during which timeouts double (RFC 6298, section 5.5).
type silence struct {
	ackedAt   time.Duration // time of the newest ack
	doubledAt time.Duration // when the timeout was last doubled
	doublings uint          // since the newest ack
}

// outboxStats counts the parts of messages.
type outboxStats struct {
	Parts    int64 // that were written
	Sends    int64 // how often parts were sent, or written to a stream
	Resent   int64 // of Sends, those of a part that was sent before
	Timeouts int64 // of Resent, those due to a timer: none with "all-unacked"
}

// outLane is a lane of an Outbox.
type outLane struct {
	parts ring.Queue[outPart] // that are not acked, or follow one that is not
}

// outPart is a part of a message. Its number in the lane is that in the queue.
type outPart struct {
	bytes   []byte
	last    bool // of its message
	isBlock bool // its message has several parts
	acked   bool
	sends   int
	sentAt  time.Duration
	in      uint64 // number of the container that carried it last
	skipped int    // acks of later parts since then, if rto.isKCP
	timeout time.Duration
}

// carrying lists the parts in a container.
type carrying struct {
	number uint64 // of the container, plus 1; 0 if the entry is empty
	sentAt time.Duration
	acked  bool
	parts  []partID
}

// partID identifies a part.
type partID struct {
	lane   int
	number uint64
}

// NewOutbox returns an outbox with a policy of Deliveries. pace is the rate in bit/s at which parts are
// sent for the first time; 0 means no limit.
func NewOutbox(p policy.Policy, pace int64) *Outbox {
	o := &Outbox{policy: p, part: messagePart, pace: pace}
	if p.Name() == "rto" {
		o.rto = &rto{window: int(p.Int("window")), least: p.Duration("least"), first: cubic.MinTimeout, isKCP: true}
	}
	return o
}

// NewFileOutbox returns an outbox for the blocks of a file: messages of at most part bytes in one lane.
// At most window of them, 1 to MaxWindow, are in flight. beat is the time between two calls of Datagram.
// Parts are sent again after the timeout of RFC 6298.
func NewFileOutbox(part, window int, beat time.Duration) *Outbox {
	return &Outbox{part: part, rto: &rto{window: window, granularity: beat, first: cubic.FirstTimeout}}
}

// Write adds a message to a lane. It returns false, and adds nothing, if too much is waiting.
func (o *Outbox) Write(lane int, message []byte) bool {
	q := &o.lanes[lane].parts
	if q.Len()+len(message)/o.part >= maxQueued {
		return false
	}
	isBlock := len(message) > o.part
	for last := false; !last; {
		n := min(len(message), o.part)
		last = n == len(message)
		p := q.Push()
		*p = outPart{bytes: append(p.bytes[:0], message[:n]...), last: last, isBlock: isBlock}
		message = message[n:]
		o.stats.Parts++
	}
	return true
}

// Waiting returns the number of parts that are not known to have arrived.
func (o *Outbox) Waiting() (n int) {
	for i := range o.lanes {
		n += o.lanes[i].parts.Len()
	}
	return n
}

// Stats returns the counts of parts so far.
func (o *Outbox) Stats() outboxStats { return o.stats }

// RoundTrip returns the smoothed round trip; 0 before the first measurement.
func (o *Outbox) RoundTrip() time.Duration { return o.rtt.Smoothed() }

// Fill returns the parts for the container of a packet, with the given number; nil if it carries none,
// or if the policy does not put them into packets. interval is the time between packets: the pace may
// catch up that much. The result is valid until the next call.
func (o *Outbox) Fill(now, interval time.Duration, number uint64) []byte {
	if o.rto != nil {
		return nil
	}
	o.paceAt = max(o.paceAt, now-interval)
	o.block = append(o.block[:0], 0)
	isAll := o.policy.Name() == "all-unacked"
	room, blocks := packetRoom, 0
	for lane := range o.lanes {
		l := &o.lanes[lane]
		for n := l.parts.First(); n < l.parts.Next(); n++ {
			p := l.parts.At(n)
			size := partHeader + len(p.bytes)
			switch {
			case p.acked:
				continue
			case p.sends == 0 && now < o.paceAt || isAll && size > room:
				n = l.parts.Next() // nothing later in the lane either, to keep the order
				continue
			case size > room || !isAll && (now < o.resendAt(p) || p.isBlock && blocks > 0):
				continue
			}
			if p.isBlock {
				blocks++
			}
			if p.sends > 0 && !isAll {
				o.stats.Timeouts++
			}
			room -= size
			o.add(now, number, lane, n, p)
		}
	}
	if o.block[0] == 0 {
		return nil
	}
	return o.block
}

// resendAt returns when a part must be sent again; 0 if it was never sent.
func (o *Outbox) resendAt(p *outPart) time.Duration {
	switch {
	case p.sends == 0:
		return 0
	case p.isBlock:
		return p.sentAt + o.policy.Duration("block_after")
	}
	return p.sentAt + o.policy.Duration("after")
}

// add adds part n of a lane to o.block, for the container with the given number.
func (o *Outbox) add(now time.Duration, number uint64, lane int, n uint64, p *outPart) {
	c := &o.carried[number%uint64(len(o.carried))]
	if c.number != number+1 {
		*c = carrying{number: number + 1, sentAt: now, parts: c.parts[:0]}
	}
	c.parts = append(c.parts, partID{lane, n})
	if p.sends == 0 {
		o.spend(len(p.bytes) + partHeader)
	} else {
		o.stats.Resent++
	}
	p.sends++
	p.sentAt, p.in, p.skipped = now, number, 0
	o.stats.Sends++
	o.block[0]++
	o.block = appendPart(o.block, lane, n, p.last, p.bytes)
}

// appendPart appends a part: 8 bits lane, the highest set for the last part of a message, 16 bits
// number, 16 bits length, and the bytes.
func appendPart(dst []byte, lane int, number uint64, last bool, b []byte) []byte {
	head := byte(lane)
	if last {
		head |= 0x80
	}
	dst = binary.LittleEndian.AppendUint16(append(dst, head), uint16(number))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(b)))
	return append(dst, b...)
}

// spend advances the pace by a part of n bytes.
func (o *Outbox) spend(n int) {
	if o.pace > 0 {
		o.paceAt += time.Duration(int64(n) * 8 * int64(time.Second) / o.pace)
	}
}

// Next returns when a datagram of parts must be sent, for policies that do not put them into packets; ok
// is false if nothing waits.
func (o *Outbox) Next() (at time.Duration, ok bool) {
	if o.rto == nil {
		return 0, false
	}
	for i := range o.lanes {
		if due, _, any := o.nextDue(&o.lanes[i]); any && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// nextDue returns the part in the window of a lane that is due first, and when.
func (o *Outbox) nextDue(l *outLane) (at time.Duration, number uint64, ok bool) {
	inWindow := 0
	for n := l.parts.First(); n < l.parts.Next() && inWindow < o.rto.window; n++ {
		p := l.parts.At(n)
		if !p.acked || o.rto.isKCP {
			inWindow++
		}
		if p.acked {
			continue
		}
		due := p.sentAt + p.timeout
		switch {
		case p.sends == 0:
			due = o.paceAt
		case p.skipped >= cubic.ReorderLimit:
			due = 0 // lost: at once
		case !o.rto.isKCP:
			due = p.sentAt + o.Timeout()
		}
		if !ok || due < at {
			at, number, ok = due, n, true
		}
	}
	return at, number, ok
}

// Timeout returns the present timeout.
func (o *Outbox) Timeout() time.Duration {
	d := o.rtt.Timeout(max(o.rto.least, o.rtt.Smoothed()+o.rto.granularity), o.rto.first)
	return max(d, min(d<<o.silence.doublings, maxPartTimeout))
}

// setTimeout sets the timeout of a part that is sent at now.
func (o *Outbox) setTimeout(now time.Duration, p *outPart) {
	if p.sends == 0 || p.skipped >= cubic.ReorderLimit {
		p.timeout = o.Timeout()
		return
	}
	o.stats.Timeouts++
	p.timeout = min(p.timeout*3/2, maxPartTimeout)
	s := &o.silence
	if !o.rto.isKCP && p.sentAt >= s.ackedAt && now-s.doubledAt >= o.Timeout() && s.doublings < cubic.MaxBackoff {
		s.doubledAt = now
		s.doublings++
	}
}

// Newest returns the number in its lane of the part in the newest datagram, and whether it was sent before.
func (o *Outbox) Newest() (number uint64, sentBefore bool) {
	p := o.lanes[o.newest.lane].parts.At(o.newest.number)
	return o.newest.number, p.sends > 1
}

// Datagram returns the part of the next datagram, whose container has the given number; nil if none is
// due at now.
func (o *Outbox) Datagram(now time.Duration, number uint64) []byte {
	if o.rto == nil {
		return nil
	}
	for lane := range o.lanes {
		l := &o.lanes[lane]
		at, n, ok := o.nextDue(l)
		if !ok || at > now {
			continue
		}
		p := l.parts.At(n)
		o.paceAt = max(o.paceAt, now)
		o.setTimeout(now, p)
		o.newest = partID{lane, n}
		o.block = append(o.block[:0], 0)
		o.add(now, number, lane, n, p)
		return o.block
	}
	return nil
}

// TakeAt returns when the next part may be written to a stream; false if none waits.
func (o *Outbox) TakeAt() (time.Duration, bool) { return o.paceAt, o.lanes[0].parts.Len() > 0 }

// Take removes the next part, which is written to a stream, and returns it in the form that Inbox.Accept
// expects; nil if none may be written at now. A stream has one lane.
func (o *Outbox) Take(now time.Duration) []byte {
	q := &o.lanes[0].parts
	if at, ok := o.TakeAt(); !ok || at > now {
		return nil
	}
	n := q.First()
	p := q.At(n)
	o.paceAt = max(o.paceAt, now)
	o.spend(len(p.bytes) + partHeader)
	o.stats.Sends++
	o.block = appendPart(append(o.block[:0], 1), 0, n, p.last, p.bytes)
	q.Pop()
	return o.block
}

// HandleAck handles an ack of Inbox.AppendAck at the beginning of src, and returns the rest. next is the
// number of the sender's next container.
func (o *Outbox) HandleAck(now time.Duration, next uint64, lanes int, src []byte) (rest []byte, err error) {
	in := reader{rest: src}
	last := next - 1
	causeBehind, newestBehind := uint64(uint16(last)-in.uint16()), uint64(uint16(last)-in.uint16())
	mask := uint32(in.uint16()) | uint32(in.uint16())<<16
	if in.failed || next <= max(causeBehind, newestBehind) {
		return nil, malformed("ack of %d bytes", len(src))
	}
	if c := o.ackContainer(last - causeBehind); c != nil {
		o.rtt.Add(now - c.sentAt)
	}
	o.silence = silence{ackedAt: now}
	newest := last - newestBehind
	o.ackContainer(newest)
	for i := range min(uint64(32), newest) {
		if mask>>i&1 == 1 {
			o.ackContainer(newest - 1 - i)
		}
	}
	for lane := range lanes {
		l := &o.lanes[lane]
		arrived := uint64(in.uint16() - uint16(l.parts.First())) // parts since the oldest that is not acked
		if in.failed || arrived > 1<<15 {
			continue // an old ack
		}
		for end := l.parts.First() + arrived; l.parts.Len() > 0; l.parts.Pop() {
			n := l.parts.First()
			p := l.parts.At(n)
			hasArrived := n < end && p.sends > 0 // the ack may be forged
			if !p.acked && !hasArrived {
				break
			}
		}
	}
	if in.failed {
		return nil, malformed("ack of %d bytes", len(src))
	}
	return in.rest, nil
}

// ackContainer marks the parts in a container as acked, and counts the parts before them as skipped. It
// returns the container; nil if it was acked before or carried no parts.
func (o *Outbox) ackContainer(number uint64) *carrying {
	c := &o.carried[number%uint64(len(o.carried))]
	if c.number != number+1 || c.acked {
		return nil
	}
	c.acked = true
	for _, id := range c.parts {
		l := &o.lanes[id.lane]
		if p := l.parts.At(id.number); p != nil {
			p.acked = true
		}
		for n := l.parts.First(); o.rto != nil && o.rto.isKCP && n < min(id.number, l.parts.Next()); n++ {
			if p := l.parts.At(n); !p.acked && p.in < number {
				p.skipped++
			}
		}
	}
	return c
}
