package remote

import (
	"encoding/binary"
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
	events      []event
	head        int           // index of the next event
	last        time.Duration // time of the newest event
	bytes       int           // total size of the events' data
	freeBuffers [][]byte      // data buffers of popped events, for reuse
}

// Limits of an eventQueue. The queue drains as virtual time advances. While virtual time is
// paused, the limits bound the memory that messages of the receiver take.
const (
	maxQueued      = 1 << 15
	maxQueuedBytes = 8 << 20
	maxFreeBuffer  = 1024 // bytes; larger buffers are not reused, so that large acks do not occupy memory for ever
)

// push appends an event. If the queue is full, push drops the event, as if the network had lost it.
// If the event and the newest queued event both carry display counts, the event replaces that one.
func (q *eventQueue) push(e event) {
	queued := len(q.events) - q.head // events before head were popped
	if queued >= maxQueued || q.bytes+len(e.data) > maxQueuedBytes {
		return
	}
	q.last = max(q.last, e.at)
	if e.isDisplay && queued > 0 && q.events[len(q.events)-1].isDisplay {
		q.events[len(q.events)-1] = e
		return
	}
	q.bytes += len(e.data)
	if q.head > 0 && len(q.events) == cap(q.events) {
		q.events = q.events[:copy(q.events, q.events[q.head:])] // reuse the room of popped events
		q.head = 0
	}
	q.events = append(q.events, e)
}

// due returns the next event if its time is at or before now; nil otherwise.
func (q *eventQueue) due(now time.Duration) *event {
	if q.head == len(q.events) || q.events[q.head].at > now {
		return nil
	}
	return &q.events[q.head]
}

// pop removes the next event. The event that due returned stays valid until the next push.
func (q *eventQueue) pop() {
	e := &q.events[q.head]
	if e.data != nil {
		q.bytes -= len(e.data)
		if cap(e.data) <= maxFreeBuffer {
			q.freeBuffers = append(q.freeBuffers, e.data[:0])
		}
	}
	q.head++
	if q.head == len(q.events) {
		q.events, q.head = q.events[:0], 0
	}
}

// next returns the time of the next event; false if the queue is empty.
func (q *eventQueue) next() (time.Duration, bool) {
	if q.head == len(q.events) {
		return 0, false
	}
	return q.events[q.head].at, true
}

// limitTimes sets the time of all events later than t to t.
func (q *eventQueue) limitTimes(t time.Duration) {
	for i := q.head; i < len(q.events); i++ {
		q.events[i].at = min(q.events[i].at, t)
	}
	q.last = min(q.last, t)
}

// takeBuffer returns an empty buffer for an event's data, reused if possible.
func (q *eventQueue) takeBuffer() []byte {
	n := len(q.freeBuffers)
	if n == 0 {
		return make([]byte, 0, 64)
	}
	b := q.freeBuffers[n-1]
	q.freeBuffers = q.freeBuffers[:n-1]
	return b
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
		p.recorded.recordArrival(now, e)
		if e.isDisplay {
			p.display = e.display
			p.arrivals.pop()
			continue
		}
		sent := p.inFlight.lookup(e.number)
		wasSent := (*Link)(p).wasSent(&e.record)
		p.lastReport = engine.RemoteReport{Packets: e.record.packets, Delivered: e.record.delivered, Slower: e.delay, ReportedAt: e.reportedAt}
		if !e.record.isContainer {
			p.lastPacket[0], p.lastReport.Packets = e.record.packet, p.lastPacket[:]
		}
		p.arrivals.pop()
		if sent == nil || sent.delivered || !wasSent {
			continue // its data are no longer stored, the report is a repetition, or the recording was forged
		}
		sent.delivered, p.hasReport = true, true
		p.lastReport.Arrived = sent.sentAt + p.lastReport.Slower
		return lossmodel.Delivery{Data: p.inFlight.takeData(sent), Sent: sent.sentAt, Due: now, Tag: sent.tag, Copy: sent.copyNumber}, true
	}
	return lossmodel.Delivery{}, false
}

// transmit writes a datagram that the model delivered to the socket. In a replay it only stores
// the datagram.
func (p *downPath) transmit(now time.Duration, d *lossmodel.Delivery) {
	sent := p.inFlight.add(d.Data)
	sent.sentAt, sent.tag, sent.copyNumber = now, d.Tag, d.Copy
	if p.conn == nil {
		return
	}
	p.out = binary.LittleEndian.AppendUint32(append(p.out[:0], p.session), sent.number)
	p.out = append(p.out, d.Data...)
	sent.sentWall = time.Now()
	p.traffic.Cover += gameOverhead    // bytes that the lab adds to the packet
	_ = p.conn.Send(streamGame, p.out) // an error counts as a loss
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
func (p *downPath) Counts() (meters.DisplayCounts, meters.LabTraffic) { return p.display, p.traffic }

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

// Receive implements engine.Path. It passes the acks that are due through the modelled uplink,
// and records them for a replay.
func (p *upPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	for e := p.acks.due(now); e != nil; e = p.acks.due(now) {
		p.recorded.recordAck(now, e)
		if e.rttKnown {
			p.rtts = append(p.rtts, e.rtt)
		}
		p.up.Send(now, e.data, 0)
		p.acks.pop()
	}
	return p.up.Receive(now)
}
