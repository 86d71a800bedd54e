package engine

import (
	"errors"
	"fmt"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// receiveAll handles all arrivals at or before now: packets, then acks.
func (l *lane) receiveAll(now time.Duration) {
	for d, ok := l.paths.down.Receive(now); ok; d, ok = l.paths.down.Receive(now) {
		if d.Tag == inheritedTag {
			l.arriveInherited(now, d.Damaged)
		} else {
			l.arrive(now, &d)
		}
	}
	if far := l.paths.far; far != nil {
		for rtt, ok := far.RoundTrip(); ok; rtt, ok = far.RoundTrip() {
			l.paths.remote.RoundTrip(rtt)
		}
	}
	for d, ok := l.paths.up.Receive(now); ok; d, ok = l.paths.up.Receive(now) {
		if d.Damaged || d.Tag == inheritedTag {
			continue
		}
		if err := l.learnAck(now, d.Data); err != nil && d.Flipped == 0 {
			l.lastErr = fmt.Errorf("ack: %w", err)
		}
		l.inspector.AckRead(now, l.snd, d.Flipped > 0)
	}
}

// learnAck passes an ack to the sender.
func (l *lane) learnAck(now time.Duration, ack []byte) error {
	if l.delivery != nil {
		return l.delivery.LearnAck(now, ack)
	}
	return l.snd.HandleAck(ack)
}

// reception is what the receiver made of a datagram, with what only the lab knows.
type reception struct {
	endpoint.Reception
	tainted bool  // depends on damaged bytes, or was taken for another packet
	ns      int64 // time that the decoder took
}

// receive passes a datagram to the receiver.
func (l *lane) receive(d *lossmodel.Delivery) (rx reception) {
	if l.delivery != nil {
		block, ns := l.delivery.Receive(d.Data)
		return reception{block.Reception, l.taint.followBlock(&block, d.Flipped > 0), ns}
	}
	l.decoding.NS = 0
	rx.Reception = l.rcv.Receive(d.Data)
	rx.tainted, rx.ns = l.taint.follow(&rx.Reception, d.Flipped > 0), l.decoding.NS
	return rx
}

// arrive passes a datagram to the receiver, compares the result with what the sender stored, and
// sends the ack.
func (l *lane) arrive(now time.Duration, d *lossmodel.Delivery) {
	f := l.flights.get(d.Tag)
	if f == nil {
		return // it was given up as Unknown
	}
	var report Delivery
	reported := false
	if l.paths.far != nil {
		report, reported = l.paths.far.Reported()
	}
	if reported && f.ended>>d.Copy&1 == 1 {
		return // a report of it came before
	}
	l.ending = f.rec
	rec := &l.ending
	rec.Copy, rec.Arrived = d.Copy, now
	if reported {
		rec.Arrived = report.Arrived
		l.paths.remote.Arrive(report.ReportedAt-rec.Sent, report.Slower)
	} else if f.fateUnknown && l.paths.far == nil {
		rec.Copy = l.copyNumber(f)
	}
	l.inspector.Begin(f.record, rec.Copy, f.trails)
	if rec.Copy == 0 {
		l.meter.Network.Arrive(rec.Seq, rec.Arrived-rec.Sent)
		if !f.fateUnknown && l.inspector != nil {
			l.meter.Link.Arrive(f.stretch, now, rec)
		}
	}
	if d.Damaged {
		rec.Outcome = packetlog.Corrupt
		l.inspector.Arrived(rec, &endpoint.Reception{Outcome: endpoint.Corrupt}, false, d.Flipped)
	} else {
		rx := l.receive(d)
		rec.DecodeNS = rx.ns
		if reported {
			rec.Outcome = l.judge(f, &rx, l.compareRemote(f, &rx, &report))
		} else {
			rec.Outcome = l.judge(f, &rx, l.compare(f, &rx))
		}
		l.inspector.Arrived(rec, &rx.Reception, rx.tainted, d.Flipped)
		l.observe(now, &rx)
		l.unpack(now, rec)
		l.acknowledge(now)
	}
	l.recordEnd(now, f)
	if f.fateUnknown && l.paths.far == nil {
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
	l.meter.Duplicated++
	return f.copies
}

// maxCopies is the highest copy number: flight.ended has a bit for each copy.
const maxCopies = 15

// comparison is what a receiver decoded, compared with what the sender stored.
type comparison struct {
	outcome endpoint.Outcome // as the receiver saw it
	decoded bool             // there is a frame
	same    bool             // it equals the sender's, bit for bit
	moved   bool             // it was taken for another packet's
}

// compare compares the result of the receiver here with the sender's frame.
func (l *lane) compare(f *flight, rx *reception) comparison {
	c := comparison{outcome: rx.Outcome, decoded: rx.Frame != nil, moved: rx.Seq != f.rec.Seq}
	if !c.decoded {
		return c
	}
	c.same = f.matches(rx.Frame, &l.digest)
	l.digest.decoded(f, rx.Frame, c.same && !c.moved)
	if c.moved && !rx.tainted { // damage to earlier packets moved the receiver
		rx.tainted = true
		l.taint.setTainted(rx.Seq, true)
	}
	if c.same && f.exact && rx.Entry != nil && !rx.tainted {
		l.taint.setExact(rx.Seq)
	}
	return c
}

// compareRemote compares what the far end reported with the sender's frame, by fingerprints. rx
// is what the receiver here makes of the same datagram.
func (l *lane) compareRemote(f *flight, rx *reception, d *Delivery) comparison {
	here := Fingerprint{}
	if rx.Frame != nil {
		here = l.digest.fingerprint(rx.Frame)
	}
	if d.Outcome != rx.Outcome || d.Decoded != (rx.Frame != nil) || d.Frame != here {
		l.paths.remote.Differs++
	}
	c := comparison{outcome: d.Outcome, decoded: d.Decoded, same: d.Frame == f.fingerprint(&l.digest),
		moved: d.Number != uint16(f.rec.Seq)}
	switch {
	case !c.decoded:
	case d.Frame == here:
		l.digest.decoded(f, rx.Frame, c.same && !c.moved)
	default:
		l.digest.reported(d.Frame)
	}
	return c
}

// judge returns the outcome of an arrival.
func (l *lane) judge(f *flight, rx *reception, c comparison) packetlog.Outcome {
	if !c.decoded {
		if rx.Frame == nil && rx.Err != nil && !rx.tainted {
			l.refused(rx)
		}
		return outcomeOf(c.outcome)
	}
	right := c.same && !c.moved
	if !right {
		l.meter.Undetected++
	}
	switch {
	case rx.tainted:
		if right && rx.Entry != nil && rx.Entry.Memo == nil {
			l.taint.setTainted(rx.Seq, false) // the frame is correct, and no memo depends on the damage
		}
		return packetlog.Tainted
	case !right:
		return packetlog.Wrong
	}
	return outcomeOf(c.outcome)
}

// outcomeOf converts a receiver's outcome to the lab's.
func outcomeOf(o endpoint.Outcome) packetlog.Outcome {
	return [...]packetlog.Outcome{endpoint.Decoded: packetlog.Decoded, endpoint.Stale: packetlog.Stale,
		endpoint.Duplicate: packetlog.Duplicate, endpoint.NoBaseline: packetlog.NoBaseline,
		endpoint.Corrupt: packetlog.Corrupt, endpoint.UnknownCodec: packetlog.UnknownCodec}[o]
}

// refused records that a decoder rejected undamaged bytes, so that its codec cannot read what it
// writes.
func (l *lane) refused(rx *reception) {
	if rx.Outcome != endpoint.Corrupt || errors.Is(rx.Err, endpoint.ErrDoubted) {
		return
	}
	l.meter.DecodeRefused++
	l.lastErr = fmt.Errorf("packet %d: %w", rx.Seq, rx.Err)
	if errors.Is(rx.Err, encoders.ErrBroken) {
		l.broken = l.ending.Encoder
	}
}

// observe passes an arrival to the meter and to the display.
func (l *lane) observe(now time.Duration, rx *reception) {
	if rx.Reordered && rx.Outcome != endpoint.Duplicate {
		l.meter.Reordered++
	}
	if rx.Frame == nil {
		return
	}
	l.meter.Decoded(rx.ns)
	if rx.tainted || l.delivery != nil { // a tainted packet's number may be wrong; files are not displayed
		return
	}
	if late := l.display.Arrive(now, rx.Seq); late > 0 && l.paths.far == nil {
		l.meter.Late(late)
		l.inspector.Late(late)
	}
}

// acknowledge sends the receiver's ack on the uplink.
func (l *lane) acknowledge(now time.Duration) {
	if l.delivery != nil {
		l.ackScratch = l.delivery.AppendAck(l.ackScratch[:0])
	} else {
		l.ackScratch = l.rcv.Ack(l.ackScratch[:0])
	}
	if len(l.ackScratch) == 0 {
		return
	}
	v := l.paths.up.Send(now, l.ackScratch, 0)
	l.inspector.AckSent(&v)
	l.meter.Feedback(v.Wire)
}
