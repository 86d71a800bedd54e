package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// made describes how a packet was encoded.
type made struct {
	items, changed int
	ns             int64 // time that the encoder took
	seam           bool  // first packet after a seam of the source
	across         bool  // builds on a frame from before the seam, or is the first after it

	source *frame.Shared // the frame that was encoded, if the sender stored it as it is; else nil
}

// transmit sends a packet, and records its fate if the network knows it at once. The
// lane's budget holds the bits of its payload.
func (l *lane) transmit(now time.Duration, p *endpoint.Packet, m made) {
	l.digest.datagram(p.Datagram)
	tag, f := l.flights.take()
	f.note(p.Stored, m.source, &l.digest)
	f.rec = PacketRecord{
		Seq: p.Seq, Sent: now, Encoder: p.Codec, Epoch: p.Epoch, Baseline: p.Baseline,
		Payload: p.Payload, Items: m.items, Changed: m.changed, EncodeNS: m.ns,
		Seam: m.seam, Across: m.across,
	}
	v := l.down.Send(now, p.Datagram, tag)
	f.rec.Wire = v.Wire
	if v.Lost == lossmodel.None && !v.Open {
		f.rec.Due = v.Due
	}
	l.meter.packet(p, &m, v.Wire, p.Baseline*l.cadence.TickHz/l.cadence.RateHz, &l.budget)
	f.record = l.records.add(f.rec)
	l.meter.net.leave(v.Lost != lossmodel.None)
	if !v.Open && l.watch != nil { // nobody asks of the others
		f.asked = l.meter.asked.leave(now, &v)
	}
	l.watch.sent(l, f, p, &m, &v)
	f.fateUnknown, f.arriving, f.copies, f.ended = v.Open, 0, v.Copies, 0
	f.leaves = max(now, v.Due)
	if v.Open {
		l.expire(now, p.Seq)
	}
	l.meter.duplicated += int64(v.Copies)
	for number := 0; number <= v.Copies; number++ {
		lost := v.Lost
		if number > 0 {
			lost = v.CopyLost[number-1]
		}
		if lost == lossmodel.None {
			f.arriving++
			continue
		}
		l.bookEnd(now, f, number, Lost, lost)
	}
	if f.arriving == 0 {
		l.flights.release(f)
	}
}

// finish records the outcome of one copy of a packet, which is in l.rec.
func (l *lane) finish(now time.Duration, f *flight) {
	rec := &l.rec
	l.meter.end(rec.Outcome, rec.Cause)
	f.ended |= 1 << rec.Copy
	if rec.Copy == 0 {
		if l.records.set(f.record, rec) {
			l.watch.ended(f.record, rec, now)
		}
	} else {
		l.watch.ended(l.records.add(*rec), rec, now)
	}
	if l.observer != nil {
		if asks, ok := l.observer.(TroubleObserver); ok && l.watch != nil {
			l.tellTrouble(asks, rec, &l.watch.cur)
		}
		l.observer.Packet(rec)
	}
}

// tellTrouble tells an observer what was wrong with a packet, if anything was.
func (l *lane) tellTrouble(o TroubleObserver, r *PacketRecord, in *Inside) {
	if failureReason(r, in) != NoReason || spikeReason(r, in) != NoReason {
		l.watch.told = Opened{ID: r.ID(), Record: *r, Inside: *in}
		o.Trouble(&l.watch.told, l.live)
	}
}

// bookEnd records the outcome of a copy that never reached the receiver.
func (l *lane) bookEnd(now time.Duration, f *flight, number int, o Outcome, cause lossmodel.Cause) {
	l.rec = f.rec
	l.rec.Copy, l.rec.Outcome, l.rec.Cause = number, o, cause
	l.watch.begin(f, number, l.records.held(f.record))
	l.finish(now, f)
}

// expireAfter is how many packets later a packet of unknown fate is given up.
const expireAfter = 1024

// expire gives up packets whose fate is still unknown after expireAfter more.
func (l *lane) expire(now time.Duration, newest uint64) {
	for f := l.flights.oldest; f != nil && f.fateUnknown && l.overdue(now, f, newest); f = l.flights.oldest {
		l.giveUp(now, f)
	}
}

// overdue reports whether nothing more is expected of a packet of unknown fate.
func (l *lane) overdue(now time.Duration, f *flight, newest uint64) bool {
	if l.far != nil {
		return now-f.leaves > patience
	}
	return f.rec.Seq+expireAfter < newest
}

// giveUp releases a packet of unknown fate. What never arrived of it ends as Unknown.
func (l *lane) giveUp(now time.Duration, f *flight) {
	if f.ended&1 == 0 {
		l.meter.net.lost++
	}
	for number := 0; number <= f.copies; number++ {
		if f.ended>>number&1 == 0 {
			l.bookEnd(now, f, number, Unknown, lossmodel.None)
		}
	}
	l.flights.release(f)
}

// closeFlights runs at the end of the session. It gives up the packets of unknown
// fate, and reports those still in flight to the observer.
func (l *lane) closeFlights(now time.Duration) {
	for f := l.flights.oldest; f != nil; {
		next := f.newer
		if f.fateUnknown {
			l.giveUp(now, f)
		} else if l.observer != nil {
			l.reportOpen(f)
		}
		f = next
	}
}

// reportOpen reports a packet in flight to the observer, with its copies.
func (l *lane) reportOpen(f *flight) {
	for number := 0; number <= f.copies; number++ {
		if f.ended>>number&1 == 0 {
			l.rec = f.rec
			l.rec.Copy = number
			l.observer.Packet(&l.rec)
		}
	}
}
