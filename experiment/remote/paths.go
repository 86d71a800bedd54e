package remote

import (
	"encoding/binary"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
)

// event is an arrival, an ack or a count that the far end reported.
type event struct {
	at         time.Duration // virtual time of the event
	number     uint32        // of the datagram
	took       time.Duration // of an ack: the round-trip time; of an arrival: the delay beyond the fastest
	timed      bool          // took is known
	data       []byte        // of an ack
	record     record        // of an arrival
	reportedAt time.Duration // when the report of the event arrived here

	isCounts bool // the event carries display and is not an arrival
	display  meters.DisplayCounts
}

// queue holds events in the order of their times.
type queue struct {
	events []event
	head   int
	last   time.Duration // of the newest event
	bytes  int           // of the events' data
	free   [][]byte
}

// Limits of a queue. It is drained as virtual time advances. While virtual time is paused,
// the limits bound the memory that messages from the far end take.
const (
	maxQueued      = 1 << 15
	maxQueuedBytes = 8 << 20
)

// push appends an event. If the queue is full, push drops the event, as if the network had lost it.
// If the event and the newest queued event both carry display counts, the event replaces that one.
func (q *queue) push(e event) {
	n := len(q.events) - q.head
	if n >= maxQueued || q.bytes+len(e.data) > maxQueuedBytes {
		return
	}
	q.last = max(q.last, e.at)
	if e.isCounts && n > 0 && q.events[len(q.events)-1].isCounts {
		q.events[len(q.events)-1] = e
		return
	}
	q.bytes += len(e.data)
	if q.head > 0 && len(q.events) == cap(q.events) {
		q.events = q.events[:copy(q.events, q.events[q.head:])]
		q.head = 0
	}
	q.events = append(q.events, e)
}

// due returns the next event if its time is at or before now; nil otherwise.
func (q *queue) due(now time.Duration) *event {
	if q.head == len(q.events) || q.events[q.head].at > now {
		return nil
	}
	return &q.events[q.head]
}

// pop removes the next event. The event that due returned stays valid until the next push.
func (q *queue) pop() {
	e := &q.events[q.head]
	if e.data != nil {
		q.bytes -= len(e.data)
		q.free = append(q.free, e.data[:0])
	}
	q.head++
	if q.head == len(q.events) {
		q.events, q.head = q.events[:0], 0
	}
}

// next returns the time of the next event; false if the queue is empty.
func (q *queue) next() (time.Duration, bool) {
	if q.head == len(q.events) {
		return 0, false
	}
	return q.events[q.head].at, true
}

// limitTimes sets the time of all events later than t to t.
func (q *queue) limitTimes(t time.Duration) {
	for i := q.head; i < len(q.events); i++ {
		q.events[i].at = min(q.events[i].at, t)
	}
	q.last = min(q.last, t)
}

// spare returns an empty buffer for an event's data, reused if possible.
func (q *queue) spare() []byte {
	n := len(q.free)
	if n == 0 {
		return make([]byte, 0, 64)
	}
	b := q.free[n-1]
	q.free = q.free[:n-1]
	return b
}

// earlier returns the earlier of two times; okA and okB report whether a and b are valid.
func earlier(a time.Duration, okA bool, b time.Duration, okB bool) (time.Duration, bool) {
	if !okA || okB && b < a {
		return b, okB
	}
	return a, okA
}

// downPath is the path of a link to the far end: through the loss model, then the socket.
type downPath Link

// Send implements engine.Path. The model decides which packets are lost; the far end reports the
// outcome of the others later.
func (p *downPath) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	v := p.down.Send(now, datagram, tag)
	v.Open = true
	return v
}

// Next implements engine.Path.
func (p *downPath) Next() (time.Duration, bool) {
	a, okA := p.down.Next()
	b, okB := p.arrivals.next()
	return earlier(a, okA, b, okB)
}

// Receive implements engine.Path.
func (p *downPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	p.reported = false
	for d, ok := p.down.Receive(now); ok; d, ok = p.down.Receive(now) {
		if d.Damaged {
			return d, true // a real receiver would discard it at the checksum
		}
		p.transmit(now, &d)
	}
	for e := p.arrivals.due(now); e != nil; e = p.arrivals.due(now) {
		p.records.arrival(now, e)
		if e.isCounts {
			p.display = e.display
			p.arrivals.pop()
			continue
		}
		x := p.flying.get(e.number)
		p.latest = engine.Delivery{Outcome: e.record.outcome, Decoded: e.record.decoded, Frame: e.record.frame, Number: e.record.taken, Slower: e.took,
			ReportedAt: e.reportedAt}
		p.arrivals.pop()
		if x == nil || x.arrived {
			continue
		}
		x.arrived, p.reported = true, true
		p.latest.Arrived = x.left + p.latest.Slower
		return lossmodel.Delivery{Data: p.flying.take(x), Sent: x.left, Due: now, Tag: x.tag, Copy: x.copied, Flipped: x.flipped}, true
	}
	return lossmodel.Delivery{}, false
}

// transmit sends a datagram that the model delivered through the socket.
func (p *downPath) transmit(now time.Duration, d *lossmodel.Delivery) {
	x := p.flying.add(d.Data)
	x.left, x.tag, x.copied, x.flipped = now, d.Tag, d.Copy, d.Flipped
	if p.conn == nil {
		return
	}
	p.msg = binary.LittleEndian.AppendUint32(append(p.msg[:0], p.session), x.number)
	p.msg = append(p.msg, d.Data...)
	x.wall = time.Now()
	p.traffic.Cover += cover
	_ = p.conn.Send(streamGame, p.msg) // an error counts as a loss
}

// Reported implements engine.FarEnd.
func (p *downPath) Reported() (engine.Delivery, bool) { return p.latest, p.reported }

// RoundTrip implements engine.FarEnd. It removes and returns the oldest round-trip time not yet read; ok
// is false if there is none.
func (p *downPath) RoundTrip() (rtt time.Duration, ok bool) {
	if len(p.rtts) == 0 {
		return 0, false
	}
	rtt = p.rtts[0]
	p.rtts = p.rtts[:copy(p.rtts, p.rtts[1:])]
	return rtt, true
}

// Counts implements engine.FarEnd.
func (p *downPath) Counts() (meters.DisplayCounts, meters.LabTraffic) { return p.display, p.traffic }

// upPath is the path of a link back from the far end: from the socket, then through the loss model.
type upPath Link

// Send implements engine.Path. It sends nothing: the receiver at the far end sends the same
// ack.
func (p *upPath) Send(_ time.Duration, ack []byte, _ uint64) lossmodel.Verdict {
	v := lossmodel.Verdict{Open: true}
	v.Wire, v.Fragments = lossmodel.WireBytes(len(ack), p.up.Spec().MTU)
	return v
}

// Next implements engine.Path.
func (p *upPath) Next() (time.Duration, bool) {
	a, okA := p.up.Next()
	b, okB := p.acks.next()
	return earlier(a, okA, b, okB)
}

// Receive implements engine.Path.
func (p *upPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	for e := p.acks.due(now); e != nil; e = p.acks.due(now) {
		p.records.ack(now, e)
		if e.timed {
			p.rtts = append(p.rtts, e.took)
		}
		p.up.Send(now, e.data, 0)
		p.acks.pop()
	}
	return p.up.Receive(now)
}
