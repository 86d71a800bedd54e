package engine

import (
	"errors"
	"fmt"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/lossmodel"
)

// receiveAll handles all arrivals at or before now: first the packets at the receiver, then the acks at
// the sender, because an ack of one of these packets arrives at once if the uplink has no delay. Then it
// sends the datagrams other than packets that are due.
func (l *lane) receiveAll(now time.Duration) {
	for d, ok := l.paths.down.Receive(now); ok; d, ok = l.paths.down.Receive(now) {
		l.readReport(now)
		if d.Lost == lossmodel.None {
			wire, _ := lossmodel.WireBytes(len(d.Data), l.liveConfig.Down.MTU)
			l.meter.Now.Transport.ArrivedBits += int64(wire) * 8
		}
		switch {
		case d.Tag == inheritedTag:
			l.handleInherited(now, d.Flipped > 0 || d.Lost != lossmodel.None)
		case d.Tag&streamTag != 0 && d.Tag&containerTag != 0:
			l.receiveSegment(now, &d)
		case d.Tag&containerTag != 0:
			l.receiveContainer(now, &d)
		case d.Lost != lossmodel.None:
			l.handleDrop(now, &d)
		default:
			l.handleArrival(now, &d)
		}
	}
	if peer := l.paths.peer; peer != nil {
		// Record the round-trip times that the network has measured since the last call.
		for rtt, ok := peer.RoundTrip(); ok; rtt, ok = peer.RoundTrip() {
			l.paths.remote.RoundTrip(rtt)
		}
	}
	for d, ok := l.paths.up.Receive(now); ok; d, ok = l.paths.up.Receive(now) {
		if d.Flipped > 0 || d.Lost != lossmodel.None || d.Tag == inheritedTag { // discarded, or an ack of another lane's packet
			continue
		}
		if err := l.passAck(now, &d); err != nil {
			l.lastErr = fmt.Errorf("ack: %w", err)
		}
		if l.messenger != nil && l.messenger.stream != nil { // the ack is the stream's, not of a packet
			continue
		}
		l.inspector.AckRead(now, l.snd)
		l.meter.CountAck(now, l.snd)
	}
	if l.carrier != nil {
		l.sendDue(now)
	}
}

// readReport reads the peer's report, if there is a peer, of the datagram that is handled at now.
func (l *lane) readReport(now time.Duration) {
	l.report, l.packetReport = nil, nil
	if l.paths.peer == nil {
		return
	}
	l.report = l.paths.peer.Reported()
	if l.report == nil {
		return
	}
	l.paths.reportDelay.Add(now, now-l.report.Arrived, playout.OffsetPeriod)
	if len(l.report.Packets) > 0 {
		l.packetReport = &l.report.Packets[0]
	}
}

// arrivalTime returns when the datagram that is handled at now arrived at the receiver, which may be remote.
func (l *lane) arrivalTime(now time.Duration) time.Duration {
	if l.report != nil {
		return l.report.Arrived
	}
	return now
}

// passAck passes an ack to the sender of frames, or of the file's blocks.
func (l *lane) passAck(now time.Duration, d *lossmodel.Delivery) error {
	if l.delivery != nil {
		return l.delivery.HandleAck(now, d.Data)
	}
	ack := d.Data
	if l.messenger != nil {
		rest, err := l.handleMessageAck(now, ack)
		if err != nil || len(rest) == 0 {
			return err
		}
		ack = rest
	}
	if l.paths.peer != nil { // its acks have arrival times from the start or never
		return l.snd.HandleAckAt(now, ack, l.control.arrivals)
	}
	return l.snd.HandleAckAt(now, ack, d.Tag == arrivalTag)
}

// reception is the receiver's result for a datagram, and what the lab adds to it.
type reception struct {
	endpoint.Reception
	decodeNS int64 // wall time of the decoder in nanoseconds
}

// passToReceiver passes a datagram to the receiver of frames, or of the file's blocks.
func (l *lane) passToReceiver(d *lossmodel.Delivery) (rx reception) {
	if l.delivery != nil {
		block, ns := l.delivery.Receive(d.Data)
		return reception{Reception: block.Reception, decodeNS: ns}
	}
	l.decoding.NS = 0 // stays 0 if the datagram does not reach a decoder
	rx.Reception = l.rcv.Receive(d.Data)
	rx.decodeNS = l.decoding.NS
	return rx
}

// receiveAbandoned passes a packet that was abandoned, and that the remote receiver reports now, to the
// receiver in this process. Both receivers must get the same packets, or their results differ from then
// on.
func (l *lane) receiveAbandoned(d *lossmodel.Delivery) {
	if l.packetReport != nil {
		l.passToReceiver(d)
	}
}

// handleArrival passes a datagram to the receiver, compares the result with the frame that the sender
// stored, sends the ack, and records the outcome. A damaged datagram, whose checksum fails, is not
// passed to the receiver. If the receiver is remote, the datagram has arrived there; the receiver in
// this process decodes it too, but the outcome is the remote receiver's.
//
// Modelled links number the copies of a packet. A remote receiver reports each arrival.
//
// A packet that was repaired arrives as if from its own datagram; see handleRepaired. acked reports
// whether an ack was sent.
func (l *lane) handleArrival(now time.Duration, d *lossmodel.Delivery) (acked bool) {
	f := l.flights.get(d.Tag)
	if f == nil { // the packet was abandoned as Unknown
		l.receiveAbandoned(d)
		return false
	}
	wasRepaired := d.Copy == 0 && f.repair != container.NotRepaired
	arrived := l.arrivalTime(now)
	switch {
	case wasRepaired && f.endedCopies&1 == 1: // the packet was repaired before its own datagram arrived
		if d.Flipped == 0 {
			l.meter.Network.CountArrival(f.rec.Seq, arrived-f.rec.Sent)
		}
		f.ownEnded = true
		l.endArrival(f)
		return false
	case d.Flipped > 0 && d.Copy == 0 && f.awaitRepair(lossmodel.None):
		f.rec.Arrived, f.flipped = now, d.Flipped
		return false
	}
	if l.packetReport != nil && f.endedCopies>>d.Copy&1 == 1 {
		return false // this copy was reported before
	}
	l.outcomeRec = f.rec
	rec := &l.outcomeRec
	rec.Copy, rec.Arrived = d.Copy, arrived
	if wasRepaired {
		rec.Repair, rec.RepairedFrom, rec.Cause = f.repair, f.repairedFrom, f.lostAt
	}
	l.countArrival(now, f, d, wasRepaired)
	if d.Flipped > 0 {
		rec.Outcome = packetlog.Corrupt
		l.inspector.Arrived(rec, &endpoint.Reception{Outcome: endpoint.Corrupt}, d.Flipped)
	} else {
		acked = l.decodeArrival(now, f, d)
	}
	l.recordOutcome(now, f)
	if wasRepaired && !f.awaitsRepair {
		return acked // its own datagram is still in flight
	}
	f.awaitsRepair = f.awaitsRepair && !wasRepaired
	l.endArrival(f)
	return acked
}

// countArrival passes the arrival of l.outcomeRec, a packet of flight f, to the meters, and begins its
// record in the inspector.
func (l *lane) countArrival(now time.Duration, f *flight, d *lossmodel.Delivery, wasRepaired bool) {
	rec := &l.outcomeRec
	if l.packetReport != nil && !wasRepaired {
		l.paths.remote.CountArrival(l.report.ReportedAt-rec.Sent, l.report.Slower)
	}
	l.inspector.Begin(f.record, rec.Copy, f.trails)
	l.inspector.Served(d)
	if rec.Copy == 0 && !wasRepaired {
		l.meter.Network.CountArrival(rec.Seq, rec.Arrived-rec.Sent)
		if l.liveConfig.Sender.Control.Name() != "" {
			l.control.steps.Arrived(now, rec.Arrived-rec.Sent)
		}
		if !f.fateUnknown && !f.inStream && l.inspector != nil {
			l.meter.Link.CountArrival(f.linkStretch, now, rec)
		}
	}
}

// decodeArrival passes an undamaged packet of flight f to the receiver, sets the outcome of
// l.outcomeRec, and sends the ack unless it is withheld.
func (l *lane) decodeArrival(now time.Duration, f *flight, d *lossmodel.Delivery) (acked bool) {
	rec := &l.outcomeRec
	if l.carrier != nil && !f.known {
		f.known = true
		l.carrier.meter.CountKnown(rec.Arrived - rec.Sent)
	}
	rx := l.passToReceiver(d)
	rec.DecodeNS = rx.decodeNS
	if f.inStream && l.messenger.sum != nil {
		l.messenger.sum.AddPacket(l.resultOf(&rx))
	}
	if report := l.packetReport; report != nil {
		rec.Outcome = l.judge(&rx, l.compareRemote(f, &rx, report))
	} else {
		rec.Outcome = l.judge(&rx, l.compare(f, &rx))
	}
	l.inspector.Arrived(rec, &rx.Reception, d.Flipped)
	l.measureArrival(now, &rx)
	l.unpackFile(now, rec)
	if l.withholdAck {
		return false
	}
	l.sendAck(now)
	l.acks.add(rec.Seq, l.ackScratch)
	return true
}

// recordDamaged records that a copy of a packet arrived damaged and was discarded, because its checksum
// failed.
func (l *lane) recordDamaged(now time.Duration, f *flight, copyNumber, flipped int) {
	rec := l.beginOutcome(f, copyNumber)
	rec.Outcome = packetlog.Corrupt
	l.inspector.Arrived(rec, &endpoint.Reception{Outcome: endpoint.Corrupt}, flipped)
	l.recordOutcome(now, f)
}

// comparison compares the frame that a receiver decoded with the frame that the sender stored.
type comparison struct {
	outcome endpoint.Outcome // the receiver's
	decoded bool             // the receiver decoded a frame
	equal   bool             // that frame equals the sender's, bit for bit
}

// compare compares the result of the receiver in this process with the sender's frame. It adds a decoded
// frame to the digest, and records whether it is known to equal the source's frame. After an outage of
// more than 60,000 packets, the receiver's sequence number may differ from the sender's by a multiple of
// 65,536.
func (l *lane) compare(f *flight, rx *reception) comparison {
	c := comparison{outcome: rx.Outcome, decoded: rx.Frame != nil}
	if !c.decoded {
		return c
	}
	c.equal = f.matches(rx.Frame, &l.digest) && !l.showsUnsent(rx)
	isSame := c.equal && rx.Seq == f.rec.Seq
	l.digest.addDecoded(f, rx.Frame, isSame)
	// If the codec does not quantise, a frame that equals the sender's equals the source's too.
	if isSame && f.unquantised && rx.Entry != nil {
		l.exact.set(rx.Seq)
	}
	return c
}

// compareRemote compares the frame in report, which the remote receiver sent, with the sender's frame, by
// fingerprints. rx is the result of the receiver in this process for the same datagram. A difference
// between the two receivers is counted. The digest gets the frame that the remote receiver decoded, or its
// fingerprint if the receiver in this process did not decode the same frame.
func (l *lane) compareRemote(f *flight, rx *reception, report *PacketReport) comparison {
	local := l.resultOf(rx)
	if report.Outcome != local.Outcome || report.Decoded != local.Decoded || report.Frame != local.Frame {
		l.paths.remote.Differs++
	}
	c := comparison{outcome: report.Outcome, decoded: report.Decoded,
		equal: report.Frame == f.fingerprint(&l.digest) && report.Number == uint16(f.rec.Seq)}
	switch {
	case !c.decoded:
	case report.Frame == local.Frame:
		l.digest.addDecoded(f, rx.Frame, c.equal)
	default:
		l.digest.add('R', report.Frame[:])
	}
	return c
}

// resultOf returns the result of the receiver in this process as a remote receiver would report it.
func (l *lane) resultOf(rx *reception) *PacketReport {
	x := &PacketReport{Outcome: rx.Outcome, Decoded: rx.Frame != nil, Number: uint16(rx.Seq)}
	if x.Decoded {
		x.Frame = l.digest.fingerprint(rx.Frame)
	}
	return x
}

// judge returns the outcome of an arrival: Wrong if the decoded frame differs from the sender's. It
// counts packets that the decoder rejected.
func (l *lane) judge(rx *reception, c comparison) packetlog.Outcome {
	switch {
	case !c.decoded && rx.Frame == nil && rx.Err != nil: // the receiver in this process failed
		l.recordRefusal(rx)
	case c.decoded && !c.equal:
		return packetlog.Wrong
	}
	return labOutcome(c.outcome)
}

// labOutcome converts a receiver's outcome to the type of the packet log.
func labOutcome(o endpoint.Outcome) packetlog.Outcome {
	return [...]packetlog.Outcome{endpoint.Decoded: packetlog.Decoded, endpoint.Stale: packetlog.Stale,
		endpoint.Duplicate: packetlog.Duplicate, endpoint.NoBaseline: packetlog.NoBaseline,
		endpoint.Corrupt: packetlog.Corrupt, endpoint.UnknownCodec: packetlog.UnknownCodec}[o]
}

// recordRefusal records that a decoder rejected the bytes of its encoder: an error of its codec.
func (l *lane) recordRefusal(rx *reception) {
	if rx.Outcome != endpoint.Corrupt {
		return
	}
	l.meter.Now.DecodeRefused++
	l.lastErr = fmt.Errorf("packet %d: %w", rx.Seq, rx.Err)
	if errors.Is(rx.Err, encoders.ErrBroken) {
		l.brokenCodec = l.outcomeRec.Encoder
	}
}

// measureArrival passes a decoded frame to the meter and to the display. Files are not displayed.
func (l *lane) measureArrival(now time.Duration, rx *reception) {
	if rx.Reordered && rx.Outcome != endpoint.Duplicate {
		l.meter.Now.Reordered++
	}
	if rx.Frame == nil {
		return
	}
	l.meter.AddDecodeTime(rx.decodeNS)
	if l.delivery != nil {
		return
	}
	l.compared.Arrive(now, rx.Seq)
	if late := l.display.Arrive(now, rx.Seq); late > 0 && l.paths.peer == nil {
		l.meter.CountLate(late)
		l.outcomeRec.Late = late
	}
}

// sendAck sends the receiver's ack on the uplink. It sends nothing until the receiver has decoded a packet.
func (l *lane) sendAck(now time.Duration) {
	tag := uint64(0)
	switch {
	case l.delivery != nil:
		l.ackScratch = l.delivery.AppendAck(l.ackScratch[:0])
	case l.control.arrivals:
		tag = arrivalTag
		l.ackScratch = l.rcv.AppendAckAt(l.ackScratch[:0], now)
	default:
		l.ackScratch = l.rcv.AppendAck(l.ackScratch[:0])
	}
	ack := l.ackScratch
	if l.messenger != nil {
		l.ackDatagram = l.messenger.appendAck(l.ackDatagram[:0])
		if l.messenger.stream == nil {
			l.ackDatagram = append(l.ackDatagram, ack...)
		}
		ack = l.ackDatagram
	}
	if len(ack) == 0 {
		return
	}
	verdict := l.paths.up.Send(now, ack, tag)
	l.inspector.AckSent(&verdict)
	l.meter.Now.FeedbackBits += int64(verdict.Wire) * 8
}
