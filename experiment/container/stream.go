package container

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"wirelab/internal/cubic"
	"wirelab/internal/ring"
)

// A stream is one ordered sequence of bytes, as a connection of TCP is. Its bytes are units: packets of
// package endpoint and parts of messages, each after 8 bits of kind and 24 bits of length.
//
// A segment consists of 16 bits of its number, 8 bits hasSegment, 8 bits zero, 64 bits of its place in
// the stream, 64 bits of its time, 32 bits CRC of all that and of the bytes, and the bytes. With the
// headers of IPv4 and UDP it is as large as a segment of TCP with timestamps. An ack has 16 bits of the
// newest number, 8 bits hasSegment, 8 bits zero, 64 bits of the first missing byte, 32 bits for the
// segments before the newest, and 64 bits of the time of the segment that caused it.
const (
	hasSegment    = 1 << 5
	segmentHeader = 24
	unitHeader    = 4

	// StreamAckSize is the size of an ack of a stream.
	StreamAckSize = 24

	// maxStreamQueue is the number of bytes that a sender stores, and the largest distance of a segment that
	// a receiver stores.
	maxStreamQueue = 4 << 20
	// maxWaiting is the number of segments that a receiver stores after a missing byte: twice the largest
	// window. A hostile sender can make it store 12 MB.
	maxWaiting = 8192
)

// Kinds of units.
const (
	PacketUnit  byte = 1
	MessageUnit byte = 2
)

// never is later than any event.
const never = time.Duration(math.MaxInt64)

// StreamSender is the sending end of a stream: TCP with CUBIC, selective acks, F-RTO and without Nagle's
// algorithm. Segments are numbered again when they are retransmitted, as in QUIC. Create it with
// NewStreamSender.
type StreamSender struct {
	window     cubic.Window
	rtt        cubic.RoundTrip
	data       []byte             // written bytes from base on
	base       uint64             // place of the first byte that is not acked
	next       uint64             // place of the first byte that was never sent
	cuts       ring.Queue[uint64] // places that no segment crosses, from next on
	keepsUnits bool               // each unit has its own segments

	segments ring.Queue[segment] // from the oldest of unknown fate, by number
	inFlight int
	resend   []span // lost, in the order of detection
	recovery uint64 // losses of earlier segments belong to the last reduction of the window
	newest   uint64 // newest acked segment, plus 1
	timer    time.Duration
	backoff  int
	before   beforeTimeout
	buf      []byte

	resent, timeouts int64
}

// span is a range of bytes of the stream.
type span struct {
	at   uint64
	size int
}

// end returns the place after the span.
func (r span) end() uint64 { return r.at + uint64(r.size) }

// segment is a segment that was sent.
type segment struct {
	span
	fate segmentFate
}

// segmentFate is what the sender knows about a segment.
type segmentFate uint8

const (
	flying segmentFate = iota
	acked
	lost    // detected by acks of later segments
	givenUp // by a timeout
)

// beforeTimeout is the state before a timeout, to undo it.
type beforeTimeout struct {
	valid    bool
	window   cubic.Window
	recovery uint64
}

// NewStreamSender returns the sending end of a new stream. keepsUnits means that units which wait do not
// share segments.
func NewStreamSender(keepsUnits bool) *StreamSender {
	return &StreamSender{window: cubic.New(true), timer: never, keepsUnits: keepsUnits}
}

// HasRoom reports whether Write accepts a unit of n bytes.
func (s *StreamSender) HasRoom(n int) bool { return len(s.data)+n+unitHeader <= maxStreamQueue }

// Write adds a unit to the stream. It returns false, and adds nothing, if too much is waiting.
func (s *StreamSender) Write(kind byte, unit []byte) bool {
	if !s.HasRoom(len(unit)) {
		return false
	}
	s.data = append(s.data, kind, byte(len(unit)), byte(len(unit)>>8), byte(len(unit)>>16))
	s.data = append(s.data, unit...)
	if s.keepsUnits {
		*s.cuts.Push() = s.end()
	}
	return true
}

// end returns the place after the last byte written.
func (s *StreamSender) end() uint64 { return s.base + uint64(len(s.data)) }

// Unsent returns the number of bytes that wait to be sent or sent again.
func (s *StreamSender) Unsent() int {
	n := int(s.end() - s.next)
	for _, r := range s.resend {
		n += r.size
	}
	return n
}

// Unacked returns the number of bytes that are not acked.
func (s *StreamSender) Unacked() int { return len(s.data) }

// Resent returns the numbers of segments sent again and of timeouts.
func (s *StreamSender) Resent() (segments, timeouts int64) { return s.resent, s.timeouts }

// Next returns when Segment must be called because of a timeout; false if nothing is in flight.
func (s *StreamSender) Next() (time.Duration, bool) { return s.timer, s.timer != never }

// Segment returns the next segment to transmit at now; nil if the window is full or nothing waits. It is
// valid until the next call.
func (s *StreamSender) Segment(now time.Duration) []byte {
	if s.timer <= now {
		s.timeOut()
	}
	r := span{s.next, int(min(cubic.Payload, s.end()-s.next))}
	if cut := s.cuts.At(s.cuts.First()); cut != nil {
		r.size = int(min(cubic.Payload, *cut-s.next))
	}
	switch {
	case float64(s.inFlight) >= s.window.Size():
		return nil
	case len(s.resend) > 0:
		r = s.resend[0]
		s.resend = slices.Delete(s.resend, 0, 1)
		s.resent++
	case r.size == 0:
		return nil
	default:
		s.next += uint64(r.size)
		if cut := s.cuts.At(s.cuts.First()); cut != nil && *cut == s.next {
			s.cuts.Pop()
		}
	}
	bytes := s.data[r.at-s.base:][:r.size]
	b := appendHeader(s.buf[:0], s.segments.Next(), hasSegment)
	b = binary.LittleEndian.AppendUint64(b, r.at)
	b = binary.LittleEndian.AppendUint64(b, uint64(now))
	b = binary.LittleEndian.AppendUint32(b, segmentChecksum(b, bytes))
	s.buf = append(b, bytes...)
	*s.segments.Push() = segment{span: r}
	s.inFlight++
	if s.timer == never {
		s.restartTimer(now)
	}
	return s.buf
}

// segmentChecksum returns the CRC of a segment whose header up to the CRC is head.
func segmentChecksum(head, bytes []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, bytes)
}

// restartTimer starts the timer of the retransmission timeout (RFC 6298).
func (s *StreamSender) restartTimer(now time.Duration) {
	s.timer = never
	if s.inFlight > 0 {
		s.timer = now + s.rtt.Timeout(cubic.MinTimeout, cubic.FirstTimeout)<<s.backoff
	}
}

// timeOut gives up all segments in flight and begins again with a window of one.
func (s *StreamSender) timeOut() {
	s.timer = never
	s.timeouts++
	if s.backoff == 0 {
		s.before = beforeTimeout{true, s.window, s.recovery}
	}
	for n := s.segments.First(); n < s.segments.Next(); n++ {
		if g := s.segments.At(n); g.fate == flying {
			g.fate = givenUp
			s.sendAgain(g.span)
		}
	}
	s.inFlight = 0
	s.backoff = min(s.backoff+1, cubic.MaxBackoff)
	s.window.TimeOut()
	s.recovery = s.segments.Next()
}

// HandleAck handles an ack of StreamReceiver.AppendAck.
func (s *StreamSender) HandleAck(now time.Duration, src []byte) error {
	if len(src) != StreamAckSize || src[2] != hasSegment || s.segments.Next() == 0 {
		return malformed("ack of a stream with %d bytes", len(src))
	}
	last := s.segments.Next() - 1
	behind := uint64(uint16(last) - binary.LittleEndian.Uint16(src))
	place, mask, sentAt := binary.LittleEndian.Uint64(src[4:]), binary.LittleEndian.Uint32(src[12:]), binary.LittleEndian.Uint64(src[16:])
	if behind > last || place > s.next || sentAt > uint64(now) {
		return malformed("ack of byte %d and segment -%d, of %d and %d", place, behind, s.next, last)
	}
	newest := last - behind
	isLimited := float64(s.inFlight) >= s.window.Size()*7/8
	anyAcked := s.ackSegment(newest)
	if anyAcked {
		s.rtt.Add(now - time.Duration(sentAt))
	}
	for i := range min(uint64(32), newest) {
		if mask>>i&1 == 1 {
			anyAcked = s.ackSegment(newest-1-i) || anyAcked
		}
	}
	anyAcked = s.ackBytes(place) || anyAcked
	if !anyAcked {
		return nil
	}
	s.newest = max(s.newest, newest+1)
	s.backoff, s.before.valid = 0, false
	switch {
	case s.detectLosses():
		s.window.Reduce()
		s.recovery = s.segments.Next()
	case newest >= s.recovery && isLimited:
		s.window.Grow(now, now-time.Duration(sentAt), &s.rtt)
	}
	s.restartTimer(now)
	return nil
}

// ackSegment records that a segment has arrived. It reports whether that is news.
func (s *StreamSender) ackSegment(number uint64) bool {
	g := s.segments.At(number)
	if g == nil || g.fate == acked {
		return false
	}
	switch g.fate {
	case flying:
		s.inFlight--
	case givenUp: // the timeout was spurious
		s.undoTimeout(number)
		s.inFlight--
	case lost: // it was only delayed
		s.cancelResend(g.span)
	}
	g.fate = acked
	return true
}

// undoTimeout returns segments from number on to their state before the timeout.
func (s *StreamSender) undoTimeout(number uint64) {
	for n := number; n < s.segments.Next(); n++ {
		if g := s.segments.At(n); g.fate == givenUp {
			g.fate = flying
			s.inFlight++
			s.cancelResend(g.span)
		}
	}
	if s.before.valid {
		s.window, s.recovery = s.before.window, s.before.recovery
	}
}

// cancelResend removes a span from those to be sent again. Its begin may have been acked.
func (s *StreamSender) cancelResend(r span) {
	if i := slices.IndexFunc(s.resend, func(x span) bool { return x.end() == r.end() }); i >= 0 {
		s.resend = slices.Delete(s.resend, i, i+1)
	}
}

// ackBytes records that all bytes before place have arrived. It reports whether that is news.
func (s *StreamSender) ackBytes(place uint64) bool {
	if place <= s.base {
		return false
	}
	s.data = s.data[:copy(s.data, s.data[place-s.base:])]
	s.base = place
	for n := s.segments.First(); n < s.segments.Next(); n++ {
		g := s.segments.At(n)
		if g.end() > place {
			continue
		}
		if g.fate == flying {
			s.inFlight--
		}
		g.fate = acked
	}
	again := s.resend
	s.resend = s.resend[:0]
	for _, r := range again {
		s.sendAgain(r)
	}
	return true
}

// sendAgain adds what is not acked of a lost span to those to be sent again.
func (s *StreamSender) sendAgain(r span) {
	if r.at < s.base {
		r.size -= int(min(s.base-r.at, uint64(r.size)))
		r.at = s.base
	}
	if r.size > 0 {
		s.resend = append(s.resend, r)
	}
}

// detectLosses marks segments as lost that are at least cubic.ReorderLimit before the newest acked one,
// and forgets segments of known fate. It reports whether one of them was sent after the last reduction
// of the window.
func (s *StreamSender) detectLosses() (isNewEvent bool) {
	for n := s.segments.First(); n+cubic.ReorderLimit < s.newest; n++ {
		if g := s.segments.At(n); g != nil && g.fate == flying {
			g.fate = lost
			s.inFlight--
			s.sendAgain(g.span)
			isNewEvent = isNewEvent || n >= s.recovery
		}
	}
	for s.segments.Len() > 0 && s.segments.First()+64 < s.newest && s.segments.At(s.segments.First()).fate != flying {
		s.segments.Pop()
	}
	return isNewEvent
}

// StreamReceiver is the receiving end of a stream. Segments may be any bytes. The zero value is ready to use.
type StreamReceiver struct {
	next    uint64   // place of the first missing byte
	ready   []byte   // bytes before next that are not a whole unit yet
	waiting []chunk  // after a missing byte, by place
	free    [][]byte // memory of chunks that have left waiting
	arrived arrivals // segments
	echo    uint64   // time of the newest segment that arrived
	err     error    // sticky: the bytes are no units
}

// chunk is a range of bytes that waits for bytes before it.
type chunk struct {
	at    uint64
	bytes []byte
}

// Accept handles a segment, and calls deliver for each unit that is now complete, in the order of the
// stream. The bytes of a unit are valid until deliver returns. The error wraps ErrMalformed.
func (r *StreamReceiver) Accept(segment []byte, deliver func(kind byte, unit []byte)) error {
	if r.err != nil {
		return r.err
	}
	if len(segment) <= segmentHeader || len(segment) > segmentHeader+cubic.Payload || segment[2] != hasSegment || segment[3] != 0 {
		return malformed("segment of %d bytes", len(segment))
	}
	at, bytes := binary.LittleEndian.Uint64(segment[4:]), segment[segmentHeader:]
	if binary.LittleEndian.Uint32(segment[20:]) != segmentChecksum(segment[:20], bytes) {
		return malformed("segment with another checksum")
	}
	switch {
	case at <= r.next: // needs no room among those that wait
	case at-r.next > maxStreamQueue || len(r.waiting) == maxWaiting:
		return malformed("segment at byte %d while %d segments wait for byte %d", at, len(r.waiting), r.next)
	}
	r.arrived.add(binary.LittleEndian.Uint16(segment))
	r.echo = binary.LittleEndian.Uint64(segment[12:])
	if at > r.next {
		r.insert(at, bytes)
	} else {
		r.append(at, bytes)
	}
	for len(r.waiting) > 0 && r.waiting[0].at <= r.next {
		c := r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
		r.append(c.at, c.bytes)
		r.free = append(r.free, c.bytes)
	}
	return r.readUnits(deliver)
}

// append adds the bytes at a place up to r.next to those without a gap, except for known ones.
func (r *StreamReceiver) append(at uint64, bytes []byte) {
	if known := r.next - at; known < uint64(len(bytes)) {
		r.ready = append(r.ready, bytes[known:]...)
		r.next = at + uint64(len(bytes))
	}
}

// insert adds a segment after a gap to r.waiting, unless it is there.
func (r *StreamReceiver) insert(at uint64, bytes []byte) {
	i := len(r.waiting)
	for i > 0 && r.waiting[i-1].at > at {
		i--
	}
	if i > 0 && r.waiting[i-1].at == at && len(r.waiting[i-1].bytes) >= len(bytes) {
		return
	}
	var memory []byte
	if n := len(r.free); n > 0 {
		memory = r.free[n-1]
		r.free = r.free[:n-1]
	}
	r.waiting = slices.Insert(r.waiting, i, chunk{at, append(memory[:0], bytes...)})
}

// readUnits delivers the whole units in r.ready.
func (r *StreamReceiver) readUnits(deliver func(kind byte, unit []byte)) error {
	rest := r.ready
	for len(rest) >= unitHeader {
		kind, n := rest[0], int(rest[1])|int(rest[2])<<8|int(rest[3])<<16
		if kind != PacketUnit && kind != MessageUnit || n > maxDatagram {
			r.err = malformed("unit of kind %d with %d bytes", kind, n)
			return r.err
		}
		if len(rest) < unitHeader+n {
			break
		}
		deliver(kind, rest[unitHeader:][:n])
		rest = rest[unitHeader+n:]
	}
	r.ready = r.ready[:copy(r.ready, rest)]
	return nil
}

// AppendAck appends the ack of the segment that arrived last.
func (r *StreamReceiver) AppendAck(dst []byte) []byte {
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(r.arrived.known.Newest)), hasSegment, 0)
	dst = binary.LittleEndian.AppendUint64(dst, r.next)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.arrived.known.Mask))
	return binary.LittleEndian.AppendUint64(dst, r.echo)
}
