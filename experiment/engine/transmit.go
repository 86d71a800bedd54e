package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// encoded describes how a packet was encoded.
type encoded struct {
	items, changed int
	ns             int64 // time that the encoder took
	restarted      bool  // first packet after a restart of the recording
	across         bool  // builds on a frame from before the restart, or is the first after it

	source *frame.Shared // the frame that was encoded, if the sender stored it unchanged; else nil
}

// transmit sends a packet, and records its fate if the network knows it at once. The lane's
// budget holds the bits of its payload.
func (l *lane) transmit(now time.Duration, p *endpoint.Packet, e encoded) {
	l.digest.datagram(p.Datagram)
	f := l.flights.take(p.Stored, e.source, &l.digest)
	f.rec = packetlog.Record{
		Seq: p.Seq, Sent: now, Encoder: p.Codec, Epoch: p.Epoch, Baseline: p.Baseline,
		Payload: p.Payload, Items: e.items, Changed: e.changed, EncodeNS: e.ns,
		Seam: e.restarted, Across: e.across,
	}
	v := l.paths.down.Send(now, p.Datagram, f.tag)
	f.rec.Wire = v.Wire
	if v.Lost == lossmodel.None && !v.Open {
		f.rec.Due = v.Due
	}
	l.meter.Packet(&f.rec, p.Baseline*l.cadence.TickHz/l.cadence.RateHz, &l.budget)
	f.record = l.log.Add(f.rec)
	l.meter.Network.Leave(v.Lost != lossmodel.None)
	if !v.Open && l.inspector != nil { // only the inspector's snapshots have stretches
		f.stretch = l.meter.Link.Leave(now, &v)
	}
	f.trails = l.inspector.Sent(f.record, p, &l.budget, &v, l.paths.downLink, f.trails)
	f.fateUnknown, f.copies = v.Open, v.Copies
	f.leaves = max(now, v.Due)
	if v.Open {
		l.expire(now, p.Seq)
	}
	l.meter.Duplicated += int64(v.Copies)
	for n := 0; n <= v.Copies; n++ {
		lost := v.Lost
		if n > 0 {
			lost = v.CopyLost[n-1]
		}
		if lost == lossmodel.None {
			f.arriving++
			continue
		}
		l.endUnreceived(now, f, n, packetlog.Lost, lost)
	}
	if f.arriving == 0 {
		l.flights.release(f)
	}
}

// recordEnd records the outcome of one copy of a packet, which is in l.ending.
func (l *lane) recordEnd(now time.Duration, f *flight) {
	r := &l.ending
	l.meter.End(r.Outcome, r.Cause)
	f.ended |= 1 << r.Copy
	if r.Copy > 0 {
		l.inspector.Ended(l.log.Add(*r), r, now)
	} else if l.log.Set(f.record, r) {
		l.inspector.Ended(f.record, r, now)
	}
	if l.observer == nil {
		return
	}
	if l.inspector == nil {
		l.observer.Packet(r, nil)
		return
	}
	l.observer.Packet(r, l.problemOf(l.inspector.Problem(r)))
}

// endUnreceived records the outcome of a copy that never reached the receiver.
func (l *lane) endUnreceived(now time.Duration, f *flight, copyNumber int, o packetlog.Outcome, cause lossmodel.Cause) {
	l.ending = f.rec
	l.ending.Copy, l.ending.Outcome, l.ending.Cause = copyNumber, o, cause
	l.inspector.Begin(f.record, copyNumber, f.trails)
	l.recordEnd(now, f)
}

// expireAfter is how many packets later a packet of unknown fate is given up, and
// networkTimeout after how much time one in a real network.
const (
	expireAfter    = 1024
	networkTimeout = 3 * time.Second
)

// expire gives up the packets of unknown fate that are overdue. newest is the newest packet sent.
func (l *lane) expire(now time.Duration, newest uint64) {
	for f := l.flights.oldest(); f != nil && f.fateUnknown; f = l.flights.oldest() {
		overdue := f.rec.Seq+expireAfter < newest
		if l.paths.far != nil {
			overdue = now-f.leaves > networkTimeout
		}
		if !overdue {
			return
		}
		l.giveUp(now, f)
	}
}

// giveUp releases a packet of unknown fate. What never arrived of it ends as Unknown.
func (l *lane) giveUp(now time.Duration, f *flight) {
	if f.ended&1 == 0 {
		l.meter.Network.GiveUp()
	}
	for n := range f.open() {
		l.endUnreceived(now, f, n, packetlog.Unknown, lossmodel.None)
	}
	l.flights.release(f)
}

// closeFlights runs at the end of the session. It gives up the packets of unknown fate, and
// reports those still in flight to the observer.
func (l *lane) closeFlights(now time.Duration) {
	for tag := l.flights.queue.First(); tag < l.flights.queue.Next(); tag++ {
		f := l.flights.get(tag)
		switch {
		case f == nil:
		case f.fateUnknown:
			l.giveUp(now, f)
		case l.observer != nil:
			for n := range f.open() {
				l.ending = f.rec
				l.ending.Copy = n
				l.observer.Packet(&l.ending, nil)
			}
		}
	}
}
