package remote

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
)

// event is an ack, an arrival or a display update that the receiver reported and that takes
// effect at a virtual time.
type event struct {
	at         time.Duration // virtual time of the event
	number     uint32        // number of the datagram that arrived or that the ack answers
	rtt        time.Duration // acks only, if rttKnown: the round-trip time of the datagram that the ack answers
	rttKnown   bool          // acks only: rtt is valid
	delay      time.Duration // arrivals only: the delay beyond the minimum
	data       []byte        // acks only: the bytes of the ack
	record     record        // arrivals only: what the receiver reported
	reportedAt time.Duration // virtual time at which the report arrived here

	isDisplay bool                 // the event carries display counters and is not an arrival
	display   meters.DisplayCounts // counters of the receiver's display, if isDisplay
}

// eventQueue holds events in the order of their times.
type eventQueue struct {
	events []event
	last   time.Duration // time of the newest event
	bytes  int           // total size of the events' data
}

// Limits of an eventQueue. The queue drains as virtual time advances. While virtual time is
// paused, the limits bound the memory that messages of the receiver take.
const (
	maxQueued      = 1 << 15
	maxQueuedBytes = 8 << 20
)

// push appends an event. If the queue is full, push drops the event, as if the network had lost it.
// If the event and the newest queued event both carry display counts, the event replaces that one.
func (q *eventQueue) push(e event) {
	n := len(q.events)
	if n >= maxQueued || q.bytes+len(e.data) > maxQueuedBytes {
		return
	}
	q.last = max(q.last, e.at)
	if e.isDisplay && n > 0 && q.events[n-1].isDisplay {
		q.events[n-1] = e
		return
	}
	q.bytes += len(e.data)
	q.events = append(q.events, e)
}

// due returns the next event if its time is at or before now; nil otherwise.
func (q *eventQueue) due(now time.Duration) *event {
	if len(q.events) == 0 || q.events[0].at > now {
		return nil
	}
	return &q.events[0]
}

// pop removes the next event. The event that due returned stays valid.
func (q *eventQueue) pop() {
	q.bytes -= len(q.events[0].data)
	q.events = q.events[1:]
}

// next returns the time of the next event; false if the queue is empty.
func (q *eventQueue) next() (time.Duration, bool) {
	if len(q.events) == 0 {
		return 0, false
	}
	return q.events[0].at, true
}

// limitTimes sets the time of all events later than t to t.
func (q *eventQueue) limitTimes(t time.Duration) {
	for i := range q.events {
		q.events[i].at = min(q.events[i].at, t)
	}
	q.last = min(q.last, t)
}

// earlier returns the earlier of two times; okA and okB report whether a and b are valid. The
// result is false if neither is.
func earlier(a time.Duration, okA bool, b time.Duration, okB bool) (time.Duration, bool) {
	if !okA || okB && b < a {
		return b, okB
	}
	return a, okA
}

// downPath is the path to the receiver: through the loss model, then the socket.
type downPath Link

// Send implements engine.Path. The model decides which packets are lost; the outcome of the
// others is reported later, so the verdict is marked as open.
func (p *downPath) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	v := p.down.Send(now, datagram, tag)
	v.Pending = true
	return v
}

// Next implements engine.Path. It returns the time of the next delivery of the modelled downlink or
// of the next reported arrival, whichever is earlier; false if there is neither.
func (p *downPath) Next() (time.Duration, bool) {
	a, okA := p.down.Next()
	b, okB := p.arrivals.next()
	return earlier(a, okA, b, okB)
}

// Receive implements engine.Path. It writes the datagrams that the modelled downlink delivers by
// now to the socket, and returns the next due arrival that the receiver reported, or false if none
// is due. A datagram that the model damaged or dropped is returned at once.
func (p *downPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	p.hasReport = false
	for d, ok := p.down.Receive(now); ok; d, ok = p.down.Receive(now) {
		if d.Flipped > 0 || d.Lost != lossmodel.None {
			return d, true // not written to the socket: a real receiver would discard it at the checksum
		}
		p.transmit(now, &d)
	}
	for e := p.arrivals.due(now); e != nil; e = p.arrivals.due(now) {
		if e.isDisplay {
			p.display = e.display
			p.arrivals.pop()
			continue
		}
		sent := p.inFlight.lookup(e.number)
		r := &e.record
		p.lastReport = engine.RemoteReport{Packets: r.Packets, Delivered: r.Delivered, Slower: e.delay, ReportedAt: e.reportedAt}
		p.arrivals.pop()
		if sent == nil || sent.delivered {
			continue // its data are no longer stored, or the report is a repetition
		}
		sent.delivered, p.hasReport = true, true
		p.lastReport.Arrived = sent.sentAt + p.lastReport.Slower
		data := sent.data
		p.inFlight.releaseData(sent)
		return lossmodel.Delivery{Data: data, Sent: sent.sentAt, Due: now, Tag: sent.tag, Copy: sent.copyNumber}, true
	}
	return lossmodel.Delivery{}, false
}

// transmit writes a datagram that the model delivered to the socket.
func (p *downPath) transmit(now time.Duration, d *lossmodel.Delivery) {
	sent := p.inFlight.add(d.Data)
	sent.sentAt, sent.tag, sent.copyNumber = now, d.Tag, d.Copy
	p.out = appendGame(p.out[:0], p.session, sent.number)
	p.out = append(p.out, d.Data...)
	sent.sentWall = time.Now()
	p.covered += gameOverhead
	_ = p.conn.sendDatagram(p.out) // an error counts as a loss
}

// Layout of a datagram before it is sealed, little endian: number of the session within the connection (1
// byte), number of the datagram (4), packet. An answer has the number of the datagram that it answers,
// and an ack.
const gameHeaderBytes = 1 + 4

// gameOverhead is the number of bytes that the lab adds to each packet and each ack.
const gameOverhead = gameHeaderBytes + Overhead

// appendGame appends the header of a datagram to dst.
func appendGame(dst []byte, session uint8, number uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, session), number)
}

// parseGame returns the number of a datagram and the bytes after its header; nil if it belongs to an earlier
// session.
func parseGame(b []byte, session uint8) (number uint32, rest []byte, err error) {
	if len(b) < gameHeaderBytes {
		return 0, nil, fmt.Errorf("%w: datagram of %d bytes", errProtocol, len(b))
	}
	if b[0] != session {
		return 0, nil, nil
	}
	return binary.LittleEndian.Uint32(b[1:]), b[gameHeaderBytes:], nil
}

func (p *downPath) Reported() *engine.RemoteReport {
	if !p.hasReport {
		return nil
	}
	return &p.lastReport
}

// RoundTrip implements engine.RemotePath. It removes and returns the oldest round-trip time not yet
// read; ok is false if none.
func (p *downPath) RoundTrip() (rtt time.Duration, ok bool) {
	if len(p.rtts) == 0 {
		return 0, false
	}
	rtt = p.rtts[0]
	p.rtts = p.rtts[:copy(p.rtts, p.rtts[1:])]
	return rtt, true
}

// Counts implements engine.RemotePath. It returns the newest counters of the receiver's display and the
// traffic that the lab itself added.
func (p *downPath) Counts() (meters.DisplayCounts, meters.LabTraffic) {
	return p.display, meters.LabTraffic{Reports: p.conn.controlBytes() - p.control, Cover: p.covered}
}

// upPath is the path from the receiver: from the socket, then through the loss model.
type upPath Link

// Send implements engine.Path. It sends nothing, because the remote receiver sends the same ack
// over the socket. The verdict is marked as open and holds only the size on the wire.
func (p *upPath) Send(_ time.Duration, ack []byte, _ uint64) lossmodel.Verdict {
	v := lossmodel.Verdict{Pending: true}
	v.Wire, v.Fragments = lossmodel.WireBytes(len(ack), p.up.Spec().MTU)
	return v
}

// Next implements engine.Path. It returns the time of the next delivery of the modelled uplink or of
// the next received ack, whichever is earlier; false if there is neither.
func (p *upPath) Next() (time.Duration, bool) {
	a, okA := p.up.Next()
	b, okB := p.acks.next()
	return earlier(a, okA, b, okB)
}

// Receive implements engine.Path. It passes the acks that are due through the modelled uplink.
func (p *upPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	for e := p.acks.due(now); e != nil; e = p.acks.due(now) {
		if e.rttKnown {
			p.rtts = append(p.rtts, e.rtt)
		}
		p.up.Send(now, e.data, 0)
		p.acks.pop()
	}
	return p.up.Receive(now)
}
