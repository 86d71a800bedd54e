package engine

import (
	"errors"
	"fmt"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// deliver handles all arrivals at or before now: packets, then acks.
func (l *lane) deliver(now time.Duration) {
	for {
		d, ok := l.down.Receive(now)
		if !ok {
			break
		}
		if d.Tag == inheritedTag {
			l.arriveInherited(now, d.Damaged)
			continue
		}
		l.arrive(now, &d)
	}
	if l.far != nil {
		l.hearRoundTrips()
	}
	for {
		d, ok := l.up.Receive(now)
		if !ok {
			return
		}
		if !d.Damaged && d.Tag != inheritedTag {
			if err := l.learn(now, d.Data); err != nil && d.Flipped == 0 {
				l.lastErr = fmt.Errorf("ack: %w", err)
			}
			l.watch.learnt(now, l.snd, d.Flipped > 0)
		}
	}
}

// learn passes an ack to the sender.
func (l *lane) learn(now time.Duration, ack []byte) error {
	if l.delivery != nil {
		return l.delivery.snd.LearnBlocks(now, ack)
	}
	return l.snd.Learn(ack)
}

// reception is what the receiver made of a datagram, with what only the lab knows.
type reception struct {
	endpoint.Reception
	tainted bool  // decoded from damaged bytes, from a frame that was, or as another packet
	ns      int64 // time that the decoder took
}

// receive passes a datagram to the receiver.
func (l *lane) receive(d *lossmodel.Delivery) reception {
	if l.delivery != nil {
		start := l.clock.Now()
		rx := l.delivery.rcv.ReceiveBlock(d.Data)
		ns := l.clock.Now() - start
		if rx.Accepted && rx.Outcome == endpoint.Duplicate {
			l.delivery.spurious++
		}
		return reception{rx.Reception, l.taint.block(&rx, d.Flipped > 0), ns}
	}
	l.decoding.ns = 0
	rx := l.rcv.Receive(d.Data)
	return reception{rx, l.taint.follow(&rx, d.Flipped > 0), l.decoding.ns}
}

// arrive passes a datagram to the receiver, compares the result with what the sender
// stored, and sends the ack.
func (l *lane) arrive(now time.Duration, d *lossmodel.Delivery) {
	f := l.flights.get(d.Tag)
	if f == nil {
		return // it was given up as Unknown
	}
	l.rec = f.rec
	rec := &l.rec
	rec.Copy, rec.Arrived = d.Copy, now
	told, remote := l.told()
	switch {
	case remote:
		if f.ended>>d.Copy&1 == 1 {
			return // it was told of before
		}
		rec.Arrived = told.Arrived
		l.remote.heard(rec.Sent, &told)
	case f.fateUnknown && l.far == nil:
		rec.Copy = l.copyNumber(f)
	}
	l.watch.begin(f, rec.Copy, l.records.held(f.record))
	if rec.Copy == 0 {
		l.meter.net.arrive(rec.Seq, rec.Arrived-rec.Sent)
		if !f.fateUnknown && l.watch != nil {
			l.meter.asked.arrive(f.asked, now, rec)
		}
	}
	if d.Damaged {
		rec.Outcome = Corrupt
		l.watch.arrived(l, &reception{Reception: endpoint.Reception{Outcome: endpoint.Corrupt}}, d.Flipped)
	} else {
		rx := l.receive(d)
		if remote {
			rec.Outcome, rec.DecodeNS = l.judgeRemote(f, &rx, &told), rx.ns
		} else {
			rec.Outcome, rec.DecodeNS = l.judge(f, &rx), rx.ns
		}
		l.watch.arrived(l, &rx, d.Flipped)
		l.observe(now, &rx)
		if l.delivery != nil {
			l.unpack(now, rec)
		}
		l.acknowledge(now)
	}
	l.finish(now, f)
	if f.fateUnknown && l.far == nil {
		return
	}
	f.arriving--
	if f.arriving == 0 {
		l.flights.release(f)
	}
}

// copyNumber numbers an arrival of a packet whose number of copies is unknown.
func (l *lane) copyNumber(f *flight) int {
	if f.ended == 0 {
		return 0
	}
	f.copies = min(f.copies+1, maxCopies)
	l.meter.duplicated++
	return f.copies
}

// maxCopies is the highest copy number: flight.ended has a bit for each copy.
const maxCopies = 15

// judge returns the outcome of an arrival. It compares the decoded frame with the
// sender's copy, bit for bit.
func (l *lane) judge(f *flight, rx *reception) Outcome {
	if rx.Frame == nil {
		if rx.Err != nil && !rx.tainted {
			l.refused(rx)
		}
		return outcomeOf(rx.Outcome)
	}
	same, moved := f.matches(rx.Frame, &l.digest), rx.Seq != f.rec.Seq
	l.digest.decoded(f, rx.Frame, same && !moved)
	if !same || moved {
		l.meter.undetected++
	}
	if moved && !rx.tainted { // damage to packets before it moved the receiver
		rx.tainted = true
		l.taint.mark(rx.Seq)
	}
	switch {
	case rx.tainted:
		if same && !moved && rx.Entry != nil && rx.Entry.Memo == nil {
			l.taint.clear(rx.Seq) // the frame is correct, and no memo depends on the damage
		}
		return Tainted
	case !same:
		return Wrong
	case f.exact && rx.Entry != nil:
		l.taint.setExact(rx.Seq)
	}
	return outcomeOf(rx.Outcome)
}

// refused records that a decoder rejected undamaged bytes, so that its codec cannot
// read what it writes.
func (l *lane) refused(rx *reception) {
	if rx.Outcome == endpoint.Corrupt && !errors.Is(rx.Err, endpoint.ErrDoubted) {
		l.meter.decodeRefused++
		l.lastErr = fmt.Errorf("packet %d: %w", rx.Seq, rx.Err)
		if errors.Is(rx.Err, encoders.ErrBroken) {
			l.broke = l.rec.Encoder
		}
	}
}

// observe passes an arrival to the meter and to the playout buffer.
func (l *lane) observe(now time.Duration, rx *reception) {
	if rx.Reordered && rx.Outcome != endpoint.Duplicate {
		l.meter.reordered++
	}
	if rx.Frame == nil {
		return
	}
	l.meter.decoded(rx.ns)
	if rx.tainted || l.delivery != nil { // a tainted packet's number may be wrong; files are not displayed
		return
	}
	if late := l.play.arrive(now, l.cadence.TickTime(l.cadence.Tick(rx.Seq))); late > 0 && l.far == nil {
		l.meter.late(late)
		l.watch.late(late)
	}
}

// acknowledge sends the receiver's ack on the uplink.
func (l *lane) acknowledge(now time.Duration) {
	if l.delivery != nil {
		l.ackBuf = l.delivery.rcv.AckBlocks(l.ackBuf[:0])
	} else {
		l.ackBuf = l.rcv.Ack(l.ackBuf[:0])
	}
	if len(l.ackBuf) == 0 {
		return
	}
	v := l.up.Send(now, l.ackBuf, 0)
	l.watch.acked(&v)
	l.meter.feedback(v.Wire)
}
