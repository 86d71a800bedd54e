package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/ring"
	"wirelab/lossmodel"
)

// messenger sends reliable messages beside the packets of a lane, and compares each that is delivered
// with what was sent. Their parts travel in containers: in those of packets, or in their own. With a
// stream, packets and messages are units of one ordered stream instead.
type messenger struct {
	settings config.Messages
	seed     uint64
	next     [2]uint64 // numbers of the next messages: of messages.size, of messages.burst
	out      *container.Outbox
	in       *container.Inbox
	digest   *digest
	pending  [container.MaxLanes]ring.Queue[sentMessage] // not delivered, in the order of their lane
	meter    meters.Messages

	stream   *container.StreamSender // nil without a stream
	streamIn container.StreamReceiver
	packets  ring.Queue[uint64] // tags of the flights of packets in the stream
	skips    bool               // no packet is written while bytes wait

	now             time.Duration // arrival of the datagram that is being received
	sum             *DeliverySum  // of what it completes; nil unless the receiver is remote
	content, wanted []byte
	random          rand.PCG
}

// sentMessage is a message that was sent and not delivered yet.
type sentMessage struct {
	number  uint64 // among the messages of its size
	isBurst bool   // its size is messages.burst
	sent    time.Duration
}

// Times of messages within their interval: they are not in phase with packets.
const (
	messagePhase = 7 * time.Millisecond
	burstPhase   = 9 * time.Millisecond // after half the interval
)

// streamTag marks the tags of segments of a stream, with containerTag.
const streamTag = 1 << 62

// startMessages begins the messages of a lane that joins at now. It does nothing if c has no messages.
func (l *lane) startMessages(now time.Duration, c *config.Config) {
	if !c.HasMessages() {
		return
	}
	if l.carrier == nil {
		l.carrier = &carrier{snd: container.NewSender()}
	}
	m := &messenger{settings: c.Messages, seed: c.Seed, digest: &l.digest, out: container.NewOutbox(c.Messages.Delivery, c.Messages.Pace)}
	m.in = container.NewInbox(c.Messages.Lanes, m.delivered)
	if c.Messages.IsStream() {
		m.stream, m.skips = container.NewStreamSender(c.Messages.Delivery.Int("coalesce") == 0), c.Messages.Delivery.Int("skip") == 1
	}
	for kind := range m.next { // the lane sends no messages that were due before it joined
		for isBurst := kind == 1; m.hasKind(isBurst) && m.dueAt(isBurst) < now; {
			m.next[kind]++
		}
	}
	l.messenger = m
}

// hasKind reports whether messages of messages.size are sent, or with isBurst those of messages.burst.
func (m *messenger) hasKind(isBurst bool) bool {
	if isBurst {
		return m.settings.Burst > 0
	}
	return m.settings.RateHz > 0
}

// dueAt returns when the next message of messages.size is due, or with isBurst the next of messages.burst.
func (m *messenger) dueAt(isBurst bool) time.Duration {
	if isBurst {
		return m.settings.BurstEvery/2 + time.Duration(m.next[1])*m.settings.BurstEvery + burstPhase
	}
	n, rate := m.next[0], uint64(m.settings.RateHz)
	return time.Duration(n/rate)*time.Second + time.Duration(n%rate)*time.Second/time.Duration(rate) + messagePhase
}

// fill sets buf to the content of a message, which is pseudorandom, and returns it.
func (m *messenger) fill(buf []byte, number uint64, isBurst bool) []byte {
	size := m.settings.Size
	stream := number << 1
	if isBurst {
		size, stream = m.settings.Burst, stream|1
	}
	m.random.Seed(m.seed, stream)
	buf = buf[:0]
	for int64(len(buf)) < size {
		buf = binary.LittleEndian.AppendUint64(buf, m.random.Uint64())
	}
	return buf[:size]
}

// write writes the messages that are due.
func (m *messenger) write(now time.Duration) {
	for kind := range m.next {
		isBurst := kind == 1
		for m.hasKind(isBurst) && m.dueAt(isBurst) <= now {
			m.content = m.fill(m.content, m.next[kind], isBurst)
			lane := 0
			if isBurst {
				lane = m.settings.Lanes - 1
			}
			if m.out.Write(lane, m.content) {
				m.meter.CountSent()
				*m.pending[lane].Push() = sentMessage{m.next[kind], isBurst, now}
			} else {
				m.meter.CountRefused()
			}
			m.next[kind]++
		}
	}
}

// delivered compares a delivered message with what was sent.
func (m *messenger) delivered(lane int, message []byte) {
	q := &m.pending[lane]
	if q.Len() == 0 {
		m.meter.CountWrong()
		return
	}
	if m.sum != nil {
		m.sum.AddMessage(lane, message)
	}
	sent := *q.At(q.First())
	q.Pop()
	m.wanted = m.fill(m.wanted, sent.number, sent.isBurst)
	if !bytes.Equal(message, m.wanted) {
		m.meter.CountWrong()
	}
	m.meter.CountDelivered(len(message), sent.isBurst, m.now-sent.sent)
	m.digest.add('M', message)
}

// underWay returns the number of messages that are not delivered.
func (m *messenger) underWay() (n int) {
	for i := range m.pending {
		n += m.pending[i].Len()
	}
	return n
}

// nextDue returns when something must be written or sent.
func (m *messenger) nextDue() time.Duration {
	at := never
	for _, isBurst := range [...]bool{false, true} {
		if m.hasKind(isBurst) {
			at = min(at, m.dueAt(isBurst))
		}
	}
	if t, ok := m.out.Next(); ok {
		at = min(at, t)
	}
	if m.stream == nil {
		return at
	}
	if t, ok := m.out.TakeAt(); ok && m.stream.HasRoom(container.MaxPartUnit) {
		at = min(at, t)
	}
	if t, ok := m.stream.Next(); ok {
		at = min(at, t)
	}
	return at
}

// sendMessages writes the messages that are due, and sends the datagrams that carry no packet.
func (l *lane) sendMessages(now time.Duration) {
	m := l.messenger
	m.write(now)
	if m.stream != nil {
		l.sendParts(now)
		return
	}
	c := l.carrier
	for block := m.out.Datagram(now, c.snd.Next()); block != nil; block = m.out.Datagram(now, c.snd.Next()) {
		sealed := c.snd.SealMessages(block)
		k := c.sent.Push()
		*k = sentContainer{}
		verdict := l.sendContainer(now, k, &sealed)
		m.meter.CountDatagram(verdict.Wire)
		l.recordExtra(now, packetlog.Messages, verdict.Wire)
	}
}

// sendParts writes the parts that are due and for which the stream has room, and sends segments.
func (l *lane) sendParts(now time.Duration) {
	m := l.messenger
	for m.stream.HasRoom(container.MaxPartUnit) {
		part := m.out.Take(now)
		if part == nil {
			break
		}
		m.stream.Write(container.MessageUnit, part)
	}
	l.sendSegments(now)
}

// sendSegments sends the segments that the window of the stream allows.
func (l *lane) sendSegments(now time.Duration) {
	m := l.messenger
	for segment := m.stream.Segment(now); segment != nil; segment = m.stream.Segment(now) {
		l.digest.add('D', segment)
		verdict := l.paths.down.Send(now, segment, containerTag|streamTag)
		m.meter.CountDatagram(verdict.Wire)
		l.recordExtra(now, packetlog.Segment, verdict.Wire)
	}
}

// writePacket writes the packet of a flight to the stream. The sender may then build on it, because the
// receiver gets it before any later one. If the stream stores too much, the packet is lost.
func (l *lane) writePacket(now time.Duration, packet []byte, f *flight) lossmodel.Verdict {
	m := l.messenger
	f.inStream = true
	if !m.stream.Write(container.PacketUnit, packet) {
		return lossmodel.Verdict{Lost: lossmodel.Queue, Fragments: 1}
	}
	*m.packets.Push() = f.tag
	l.snd.AssumeDecoded()
	l.sendSegments(now)
	return lossmodel.Verdict{Fragments: 1}
}

// skipPacket counts a packet that is due, and reports whether it is left out because the stream has
// bytes to send.
func (m *messenger) skipPacket() bool {
	if m == nil || m.stream == nil {
		return false
	}
	skipped := m.skips && m.stream.Unsent() > 0
	m.meter.CountDue(skipped)
	return skipped
}

// view returns the state for a snapshot.
func (m *messenger) view() messagesView {
	v := messagesView{UnderWay: m.underWay(), Unacked: m.out.Waiting(), RoundTrip: m.out.RoundTrip()}
	for i := range m.pending {
		if q := &m.pending[i]; q.Len() > 0 && (v.Oldest == 0 || q.At(q.First()).sent < v.Oldest) {
			v.Oldest = q.At(q.First()).sent
		}
	}
	if m.stream != nil {
		v.Unacked, v.RoundTrip = m.stream.Unacked(), m.stream.RoundTrip()
	}
	return v
}

// figures returns the figures of a run of duration d.
func (m *messenger) figures(d time.Duration) *figures.Messages {
	f := m.meter.Figures(d)
	f.Delivery = m.settings.Delivery.String()
	out := m.out.Stats()
	f.Parts, f.PartSends, f.Resent = out.Parts, out.Sends, out.Resent
	switch {
	case m.stream != nil:
		var timeouts int64
		f.Resent, timeouts = m.stream.Resent()
		f.Timeouts = figures.Known(float64(timeouts))
	case m.settings.Delivery.Name() != "all-unacked": // which has no timer
		f.Timeouts = figures.Known(float64(out.Timeouts))
	}
	return f
}

// receiveSegment handles a segment of the stream that has arrived, and sends its ack.
func (l *lane) receiveSegment(now time.Duration, d *lossmodel.Delivery) {
	if d.Flipped > 0 || d.Lost != lossmodel.None {
		return
	}
	m := l.messenger
	m.now = l.arrivalTime(now)
	l.withholdAck = true // the stream has its own acks
	if l.report != nil {
		l.paths.remote.CountArrival(l.report.ReportedAt-d.Sent, l.report.Slower)
	}
	err := m.streamIn.Accept(d.Data, func(kind byte, unit []byte) {
		if kind == container.MessageUnit {
			l.noteMalformed(m.in.Accept(unit))
			return
		}
		tag := m.packets.At(m.packets.First())
		if tag == nil {
			l.lastErr = errors.New("stream: a packet that was not sent")
			return
		}
		m.packets.Pop()
		l.handleArrival(now, &lossmodel.Delivery{Data: unit, Sent: d.Sent, Due: now, Tag: *tag})
	})
	l.withholdAck = false
	if err != nil {
		l.lastErr = fmt.Errorf("stream: %w", err)
	}
	l.compareDeliveries()
	l.sendAck(now)
}

// receiveMessages passes the parts of messages in a container, which Open returned without an error, to
// the receiver.
func (l *lane) receiveMessages(now time.Duration, opened *container.Opened) {
	m := l.messenger
	if m == nil {
		return
	}
	m.now = l.arrivalTime(now)
	l.noteMalformed(m.in.AcceptContainer(opened))
	l.compareDeliveries()
}

// compareDeliveries compares what the datagram has completed with what a remote receiver, if any, reports.
func (l *lane) compareDeliveries() {
	if l.report != nil && l.messenger.sum.Take() != l.report.Delivered {
		l.paths.remote.Differs++
		l.messenger.meter.CountWrong()
	}
}

// noteMalformed stores an error about parts of messages, if any, as the last error.
func (l *lane) noteMalformed(err error) {
	if err != nil {
		l.lastErr = fmt.Errorf("messages: %w", err)
	}
}

// DeliverySum is a fingerprint of delivered messages and of received packets. The zero value is ready to use.
type DeliverySum struct{ buf []byte }

// AddPacket adds the result of a packet.
func (s *DeliverySum) AddPacket(x *PacketReport) {
	s.buf = append(s.buf, 0xff, byte(x.Outcome)) // a lane is less than 0xff
	s.buf = append(binary.LittleEndian.AppendUint16(s.buf, x.Number), x.Frame[:]...)
}

func (s *DeliverySum) AddMessage(lane int, message []byte) {
	s.buf = binary.LittleEndian.AppendUint32(append(s.buf, byte(lane)), uint32(len(message)))
	s.buf = append(s.buf, message...)
}

// Take returns the fingerprint of all that was added after the last call of Take; zero if nothing was.
func (s *DeliverySum) Take() (f Fingerprint) {
	if len(s.buf) > 0 {
		sum := sha256.Sum256(s.buf)
		f, s.buf = Fingerprint(sum[:len(f)]), s.buf[:0]
	}
	return f
}

// appendAck appends the ack of containers or of the stream, which precedes that of packets; nothing without
// messages.
func (m *messenger) appendAck(dst []byte) []byte {
	switch {
	case m == nil:
		return dst
	case m.stream != nil:
		return m.streamIn.AppendAck(dst)
	}
	return m.in.AppendAck(dst)
}

// ackSize returns the size of appendAck's result.
func (m *messenger) ackSize() int {
	switch {
	case m == nil:
		return 0
	case m.stream != nil:
		return container.StreamAckSize
	}
	return m.in.AckSize()
}

// handleMessageAck handles the ack at the beginning of a datagram on the uplink, and returns the rest.
func (l *lane) handleMessageAck(now time.Duration, ack []byte) (rest []byte, err error) {
	m := l.messenger
	if m.stream == nil {
		return m.out.HandleAck(now, l.carrier.snd.Next(), m.settings.Lanes, ack)
	}
	err = m.stream.HandleAck(now, ack)
	l.sendParts(now)
	return nil, err
}
