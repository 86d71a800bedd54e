package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// transmit sends packet p on the downlink and records it. A modelled link reports at once whether the
// packet and each of its copies are lost; those outcomes are recorded here. With a remote receiver
// (Verdict.Pending) the fate of a packet is unknown until its arrival is reported, and a packet that
// waits in a queue (Verdict.Waiting) arrives later or is dropped later. l.budget is the bit budget of
// the packet. rec describes how the packet was encoded; transmit completes it. source is the frame that
// was encoded if the sender stored it unchanged, else nil.
func (l *lane) transmit(now time.Duration, p *endpoint.Packet, rec packetlog.Record, source *frame.Shared) {
	f := l.flights.add(p.Frame(), source, &l.digest)
	rec.Seq, rec.Sent = p.Seq, now
	rec.Encoder, rec.Epoch = p.Codec, p.Epoch
	rec.Baseline, rec.Payload = p.Baseline, p.Payload
	f.rec = rec
	verdict := l.sendPacket(now, p.Datagram, f)
	f.rec.Wire = verdict.Wire
	if verdict.Lost == lossmodel.None && !verdict.Pending && !verdict.Waiting {
		f.rec.Due = verdict.Due
	}
	baselineTicks := p.Baseline * l.cadence.TickHz / l.cadence.RateHz // the distance is in packets
	if l.meter.Swaps.Begins(p.Epoch) {
		l.meter.Swaps.Begin(p.Epoch, now, l.name())
	}
	l.meter.CountPacket(&f.rec, baselineTicks, &l.budget)
	if l.snd.Encoding().Codec.Standalone {
		l.meter.Now.Standalone++
	}
	f.record = l.log.Add(f.rec)
	l.meter.Network.CountSent(verdict.Lost != lossmodel.None)
	link := l.paths.downLink
	if f.inStream {
		link = nil // the link carries segments
	}
	if !verdict.Pending && !f.inStream && l.inspector != nil { // link stretches are shown only in sessions with an inspector
		f.linkStretch = l.meter.Link.CountSent(now, &verdict)
	}
	f.trails = l.inspector.Sent(f.record, p, &l.budget, &verdict, link, f.trails)
	f.fateUnknown, f.copies = verdict.Pending, verdict.Copies
	f.leftAt = max(now, verdict.Due) // with a peer, Due is when it has passed the modelled links and enters the network
	if verdict.Pending {
		l.expireOverdue(now)
	}
	l.meter.Now.Duplicated += int64(verdict.Copies)
	for n := 0; n <= verdict.Copies; n++ { // the packet itself, then its copies
		lost := verdict.Lost
		if n > 0 {
			lost = verdict.CopyLost[n-1]
		}
		if lost == lossmodel.None || n == 0 && f.awaitRepair(lost) {
			f.arriving++
			continue
		}
		l.recordUnreceived(now, f, n, packetlog.Lost, lost)
	}
	if f.arriving == 0 {
		l.releaseFlight(f)
	}
}

// recordOutcome passes l.outcomeRec, the record of one copy of the packet of f, to the meter, the
// log, the inspector and the observer. Copy 0, the packet itself, completes the record that transmit added
// to the log; a copy made by the link gets a separate record.
func (l *lane) recordOutcome(now time.Duration, f *flight) {
	r := &l.outcomeRec
	l.meter.CountOutcome(r)
	f.endedCopies |= 1 << r.Copy
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
	l.observer.Packet(r, l.withConfig(l.inspector.Problem(r)))
}

// recordUnreceived records outcome o of a copy that never reached the receiver. cause is the stage
// of the link that dropped it, or lossmodel.None.
func (l *lane) recordUnreceived(now time.Duration, f *flight, copyNumber int, o packetlog.Outcome, cause lossmodel.Cause) {
	rec := l.beginOutcome(f, copyNumber)
	rec.Outcome, rec.Cause = o, cause
	l.recordOutcome(now, f)
}

// beginOutcome makes l.outcomeRec the record of one copy of the packet of f, whose outcome is determined
// next, and returns it.
func (l *lane) beginOutcome(f *flight, copyNumber int) *packetlog.Record {
	l.outcomeRec = f.rec
	l.outcomeRec.Copy = copyNumber
	l.inspector.Begin(f.record, copyNumber, f.trails)
	return &l.outcomeRec
}

// handleDrop records that a queue dropped a packet after it was sent.
func (l *lane) handleDrop(now time.Duration, d *lossmodel.Delivery) {
	f := l.flights.get(d.Tag)
	if f == nil {
		return // the packet was abandoned as Unknown
	}
	if d.Copy == 0 {
		l.meter.Network.CountDropped(f.tag)
		if !f.fateUnknown && l.inspector != nil {
			l.meter.Link.CountDropped(f.linkStretch)
		}
	}
	if d.Copy == 0 && f.repair != container.NotRepaired { // repaired before its own datagram was dropped
		f.ownEnded = true
		l.endArrival(f)
		return
	}
	if d.Copy == 0 && f.awaitRepair(d.Lost) {
		return
	}
	rec := l.beginOutcome(f, d.Copy)
	rec.Outcome, rec.Cause = packetlog.Lost, d.Lost
	l.inspector.Served(d)
	l.recordOutcome(now, f)
	l.endArrival(f)
}

// networkTimeout is the time after which a packet that left for a remote receiver is overdue.
const networkTimeout = 3 * time.Second

// expireOverdue abandons the packets that are overdue, oldest first, up to the first packet that is not
// overdue or whose fate is known.
func (l *lane) expireOverdue(now time.Duration) {
	for f := l.flights.oldest(); f != nil && f.fateUnknown && now-f.leftAt > networkTimeout; f = l.flights.oldest() {
		l.abandon(now, f)
	}
}

// abandon releases a packet of unknown fate. Its copies that have not arrived get the outcome
// packetlog.Unknown, unless a modelled link lost or damaged them.
func (l *lane) abandon(now time.Duration, f *flight) {
	// At the end of the session a packet may still be in a modelled link.
	mayArrive := f.leftAt > now && !f.awaitsRepair
	if !f.ownEnded && (f.endedCopies&1 == 0 || f.repair != container.NotRepaired) { // the packet's own datagram has not arrived
		l.meter.Network.CountUnknown()
	}
	if f.awaitsRepair {
		l.recordUnrepaired(now, f)
	}
	for n := range f.openCopies() {
		l.recordUnreceived(now, f, n, packetlog.Unknown, lossmodel.None)
	}
	if mayArrive {
		l.flights.release(f)
		return
	}
	l.releaseFlight(f)
}

// endFlights runs at the end of the session. It abandons the packets of unknown fate, and reports
// all other packets in flight to the observer.
func (l *lane) endFlights(now time.Duration) {
	for tag := l.flights.queue.First(); tag < l.flights.queue.Next(); tag++ {
		f := l.flights.get(tag)
		switch {
		case f == nil:
		case f.fateUnknown:
			l.abandon(now, f)
		case l.observer != nil:
			for n := range f.openCopies() {
				l.outcomeRec = f.rec
				l.outcomeRec.Copy = n
				l.observer.Packet(&l.outcomeRec, nil)
			}
		}
	}
}
