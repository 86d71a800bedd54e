package engine

import (
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// made is what the lab knows of how a packet was made.
type made struct {
	items, changed int
	ns             int64 // the encoder took
	seam           bool  // it is the first after a seam of the source
}

// launch gives a packet to the network, and books what becomes of it if that is known
// at once. The bits of its payload are in the lane's budget.
func (l *lane) transmit(now time.Duration, p *endpoint.Packet, m made) {
	l.digest.datagram(p.Datagram)
	tag, f := l.flights.take()
	f.note(p.Stored, &l.digest)
	f.rec = PacketRecord{
		Seq: p.Seq, Sent: now, Encoder: p.Codec, Epoch: p.Epoch, Baseline: p.Baseline,
		Payload: p.Payload, Items: m.items, Changed: m.changed, EncodeNS: m.ns, Seam: m.seam,
	}
	v := l.down.Send(now, p.Datagram, tag)
	f.rec.Wire = v.Wire
	if v.Lost == lossmodel.None && !v.Open {
		f.rec.Due = v.Due
	}
	l.meter.packet(p, &m, v.Wire, p.Baseline*l.cadence.TickHz/l.cadence.RateHz, &l.budget)
	f.record = l.records.add(f.rec)
	l.meter.net.leave(v.Lost != lossmodel.None)
	l.watch.sent(l, f, p, &m, &v)
	f.fateUnknown, f.arriving, f.copies, f.ended = v.Open, 0, v.Copies, 0
	if v.Open {
		l.flights.wait(tag)
		l.expire(now, p.Seq)
		return
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
		l.flights.release(tag)
	}
}

// finish books the end of one copy of a packet, as l.rec has it.
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
		l.observer.Packet(rec)
	}
}

// book ends one copy of a packet that never reached the receiver.
func (l *lane) bookEnd(now time.Duration, f *flight, number int, o Outcome, cause lossmodel.Cause) {
	l.rec = f.rec
	l.rec.Copy, l.rec.Outcome, l.rec.Cause = number, o, cause
	l.watch.begin(f, number, l.records.held(f.record))
	l.finish(now, f)
}

// expireAfter is how many packets later one of whose fate nothing was heard is given up.
const expireAfter = 1024

// expire gives up packets whose fate the network never told.
func (l *lane) expire(now time.Duration, newest uint64) {
	for f := l.flights.oldestWaiting(); f != nil && f.rec.Seq+expireAfter < newest; f = l.flights.oldestWaiting() {
		l.giveUp(now, f)
	}
}

// giveUp lets go of the packet that has waited longest, and books it as unknown if
// nothing was heard of it.
func (l *lane) giveUp(now time.Duration, f *flight) {
	if f.ended&1 == 0 {
		l.bookEnd(now, f, 0, Unknown, lossmodel.None)
	}
	l.flights.dropOldest()
}

// leaveOpen ends the fates that the network never told, and tells the observer of what
// is still under way when the session ends.
func (l *lane) closeFlights(now time.Duration) {
	for f := l.flights.oldestWaiting(); f != nil; f = l.flights.oldestWaiting() {
		l.giveUp(now, f)
	}
	if l.observer == nil {
		return
	}
	for _, f := range l.flights.all {
		for number := 0; f.arriving > 0 && number <= f.copies; number++ {
			if f.ended>>number&1 == 0 {
				l.rec = f.rec
				l.rec.Copy = number
				l.observer.Packet(&l.rec)
			}
		}
	}
}
