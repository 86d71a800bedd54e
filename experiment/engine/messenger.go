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
	"wirelab/experiment/endpoint"
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
	kinds    []messageKind
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
	content, wanted []byte        // scratch space
}

// messageKind describes the messages of messages.size or those of messages.burst.
type messageKind struct {
	isBurst bool
	size    int64
	lane    int
	dueAt   func(n uint64) time.Duration // when message n is due
	next    uint64                       // number of the next message
}

// messageKinds returns the kinds of messages that c sends.
func messageKinds(c *config.Messages) (kinds []messageKind) {
	if c.RateHz > 0 {
		dueAt := func(n uint64) time.Duration { return endpoint.TickTime(n, c.RateHz) + messagePhase }
		kinds = append(kinds, messageKind{size: c.Size, dueAt: dueAt})
	}
	if c.Burst > 0 {
		first := c.BurstEvery/2 + burstPhase
		dueAt := func(n uint64) time.Duration { return first + time.Duration(n)*c.BurstEvery }
		kinds = append(kinds, messageKind{isBurst: true, size: c.Burst, lane: c.Lanes - 1, dueAt: dueAt})
	}
	return kinds
}

// content sets buf to the content of message n, which is pseudorandom, and returns it.
func (k *messageKind) content(buf []byte, n, seed uint64) []byte {
	var random rand.PCG
	number := n << 1
	if k.isBurst {
		number |= 1
	}
	random.Seed(seed, number)
	buf = buf[:0]
	for int64(len(buf)) < k.size {
		buf = binary.LittleEndian.AppendUint64(buf, random.Uint64())
	}
	return buf[:k.size]
}

// sentMessage is a message that was sent and not delivered yet.
type sentMessage struct {
	kind   *messageKind
	number uint64 // among the messages of its kind
	sent   time.Duration
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
	m := &messenger{settings: c.Messages, seed: c.Seed, digest: &l.digest}
	m.kinds = messageKinds(&m.settings)
	m.out = container.NewOutbox(c.Messages.Delivery, c.Messages.Pace)
	m.in = container.NewInbox(c.Messages.Lanes, m.delivered)
	if c.Messages.IsStream() {
		m.stream = container.NewStreamSender(c.Messages.Delivery.Int("coalesce") == 0)
		m.skips = c.Messages.Delivery.Int("skip") == 1
	}
	for i := range m.kinds { // the lane sends no messages that were due before it joined
		for k := &m.kinds[i]; k.dueAt(k.next) < now; {
			k.next++
		}
	}
	l.messenger = m
}

// write writes the messages that are due.
func (m *messenger) write(now time.Duration) {
	for i := range m.kinds {
		for k := &m.kinds[i]; k.dueAt(k.next) <= now; k.next++ {
			m.content = k.content(m.content, k.next, m.seed)
			if !m.out.Write(k.lane, m.content) {
				m.meter.Refused++
				continue
			}
			m.meter.Sent++
			*m.pending[k.lane].Push() = sentMessage{k, k.next, now}
		}
	}
}

// delivered compares a delivered message with what was sent.
func (m *messenger) delivered(lane int, message []byte) {
	q := &m.pending[lane]
	if q.Len() == 0 {
		m.meter.Wrong++
		return
	}
	if m.sum != nil {
		m.sum.AddMessage(lane, message)
	}
	sent := *q.At(q.First())
	q.Pop()
	m.wanted = sent.kind.content(m.wanted, sent.number, m.seed)
	if !bytes.Equal(message, m.wanted) {
		m.meter.Wrong++
	}
	m.meter.CountDelivered(len(message), sent.kind.isBurst, m.now-sent.sent)
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
	at := orNever(m.out.Next())
	for i := range m.kinds {
		k := &m.kinds[i]
		at = min(at, k.dueAt(k.next))
	}
	if m.stream == nil {
		return at
	}
	if m.stream.HasRoom(container.MaxPartUnit) {
		at = min(at, orNever(m.out.TakeAt()))
	}
	return min(at, orNever(m.stream.Next()))
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
		l.messenger.meter.Wrong++
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
