package remote

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
)

// event is an ack, or the arrival of a datagram at the receiver, that takes effect at a virtual time.
type event struct {
	at       time.Duration       // virtual time
	delivery lossmodel.Delivery  // of the datagram that arrived, or of the ack
	report   engine.RemoteReport // of an arrival
	rtt      time.Duration       // of the datagram that an ack answers
}

// eventQueue holds events in the order of their times. It holds at most one of each kind for each datagram
// in flight, so that it is bounded also while virtual time stands still.
type eventQueue []event

// take removes and returns the next event if its time is at or before now; nil otherwise.
func (q *eventQueue) take(now time.Duration) *event {
	if len(*q) == 0 || (*q)[0].at > now {
		return nil
	}
	e := &(*q)[0]
	*q = (*q)[1:]
	return e
}

// next returns the time of the next event or delivery of l, whichever is earlier; false if there is neither.
func (q eventQueue) next(l *lossmodel.Link) (time.Duration, bool) {
	at, ok := l.Next()
	if len(q) > 0 && (!ok || q[0].at < at) {
		return q[0].at, true
	}
	return at, ok
}

// last returns the time of the last event; 0 if the queue is empty.
func (q eventQueue) last() time.Duration {
	if len(q) == 0 {
		return 0
	}
	return q[len(q)-1].at
}

// limitTimes sets the time of all events later than t to t.
func (q eventQueue) limitTimes(t time.Duration) {
	for i := range q {
		q[i].at = min(q[i].at, t)
	}
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

// Next implements engine.Path.
func (p *downPath) Next() (time.Duration, bool) { return p.arrivals.next(p.down) }

// Receive implements engine.Path. It writes the datagrams that the modelled downlink delivers by
// now to the socket, and returns the next due arrival that the receiver reported, or false if none
// is due. A datagram that the model damaged or dropped is returned at once.
func (p *downPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	p.reported = nil
	for d, ok := p.down.Receive(now); ok; d, ok = p.down.Receive(now) {
		if d.Flipped > 0 || d.Lost != lossmodel.None {
			return d, true // not written to the socket: a real receiver would discard it at the checksum
		}
		p.transmit(now, &d)
	}
	e := p.arrivals.take(now)
	if e == nil {
		return lossmodel.Delivery{}, false
	}
	p.reported = &e.report
	e.delivery.Due = now
	return e.delivery, true
}

// transmit writes a datagram that the model delivered to the socket.
func (p *downPath) transmit(now time.Duration, d *lossmodel.Delivery) {
	number := p.inFlight.add(sentDatagram{sentAt: now, sentWall: time.Now(), tag: d.Tag, copyNumber: d.Copy,
		data: d.Data})
	p.out = appendGame(p.out[:0], p.session, number)
	p.out = append(p.out, d.Data...)
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

// Reported implements engine.RemotePath.
func (p *downPath) Reported() *engine.RemoteReport { return p.reported }

// RoundTrip implements engine.RemotePath. It removes and returns the oldest round-trip time not yet
// read; ok is false if none.
func (p *downPath) RoundTrip() (rtt time.Duration, ok bool) {
	if len(p.rtts) == 0 {
		return 0, false
	}
	rtt = p.rtts[0]
	p.rtts = p.rtts[1:]
	return rtt, true
}

// Counts implements engine.RemotePath. It returns the newest counters of the receiver's display and the
// traffic that the lab itself added.
func (p *downPath) Counts() (meters.DisplayCounts, meters.LabTraffic) {
	return p.display, meters.LabTraffic{Reports: p.conn.traffic.bytes.Load() - p.control, Cover: p.covered}
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

// Next implements engine.Path.
func (p *upPath) Next() (time.Duration, bool) { return p.acks.next(p.up) }

// Receive implements engine.Path. It passes the acks that are due through the modelled uplink.
func (p *upPath) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	for e := p.acks.take(now); e != nil; e = p.acks.take(now) {
		p.rtts = append(p.rtts, e.rtt)
		p.up.Send(now, e.delivery.Data, 0)
	}
	return p.up.Receive(now)
}
