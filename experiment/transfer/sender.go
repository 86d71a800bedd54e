package transfer

import (
	"errors"
	"fmt"
	"time"
)

// Sender decides which block is sent next. It does not hold the bytes of the stream.
type Sender struct {
	window int // maximum number of blocks in flight

	blocks     []block
	base       int // all blocks below it are acknowledged
	next       int // first block that was never sent
	pending    int // unacknowledged blocks from base up to next
	contiguous int // blocks that the receiver reported without a gap

	sent [maxRemembered]datagram // the datagram with sequence s is at s % maxRemembered

	timer     timer
	anyAck    bool          // an acknowledgement has arrived
	lastAck   time.Duration // when the last one arrived
	backedOff time.Duration // when the timeout was last doubled
	resent    int64         // see Resent
}

// A block is the state of one block at the sender.
type block struct {
	lastSent  time.Duration // when it was last sent
	sendCount uint32
	acked     bool
}

// datagram is a datagram that was sent.
type datagram struct {
	seq    uint64 // sequence + 1; 0 if the entry is empty
	block  int
	sentAt time.Duration
	acked  bool
}

// NewSender returns a sender of the given number of blocks. At most window of them, 1
// to MaxAhead, are in flight, and at most one datagram is sent per beat.
func NewSender(blocks, window int, beat time.Duration) *Sender {
	if window < 1 || window > MaxAhead {
		panic(fmt.Sprintf("transfer: a window of %d blocks; expected 1 to %d", window, MaxAhead))
	}
	return &Sender{window: window, blocks: make([]block, blocks), timer: timer{granularity: beat}}
}

// Next returns the number of the block to send now, and whether it was sent before;
// ok is false if there is nothing to send. It prefers the lowest overdue block to a new
// one.
func (s *Sender) Next(now time.Duration) (number int, resend, ok bool) {
	timeout := s.timer.timeout()
	for n := s.base; n < s.next; n++ {
		if b := &s.blocks[n]; !b.acked && now-b.lastSent >= timeout {
			return n, true, true // overdue
		}
	}
	// A new block must be within the window and within the blocks that the receiver accepts.
	if s.next < len(s.blocks) && s.pending < s.window && s.next < min(s.base, s.contiguous)+MaxAhead {
		return s.next, false, true
	}
	// All sent blocks are acknowledged, but the receiver does not have them all: an
	// acknowledgement named datagrams that had not arrived.
	if s.base == s.next && s.contiguous < s.next && now-s.blocks[s.contiguous].lastSent >= timeout {
		return s.contiguous, true, true
	}
	return 0, false, false
}

// Sent records that block number was sent in datagram seq. Next must have returned
// that block.
func (s *Sender) Sent(now time.Duration, seq uint64, number int) {
	b := &s.blocks[number]
	if b.sendCount > 0 {
		s.resent++
		s.backOff(now, b.lastSent)
	} else {
		s.next, s.pending = number+1, s.pending+1
	}
	b.lastSent = now
	b.sendCount++
	s.sent[seq%maxRemembered] = datagram{seq: seq + 1, block: number, sentAt: now}
}

// backOff doubles the timeout if no acknowledgement has arrived since the time sent, when
// a block that must be resent was sent before. It does so at most once per timeout.
func (s *Sender) backOff(now, sent time.Duration) {
	if s.anyAck && s.lastAck >= sent || now-s.backedOff < s.timer.timeout() {
		return
	}
	s.backedOff = now
	s.timer.backOff()
}

// ErrAck means that an acknowledgement is for more blocks than were sent.
var ErrAck = errors.New("transfer: acknowledgement of blocks that were not sent")

// Ack is an acknowledgement. A receiver sends one for every datagram that arrives.
type Ack struct {
	Answers    uint64 // sequence of the datagram that caused it
	Newest     uint64 // highest sequence that arrived
	Mask       uint32 // bit i: sequence Newest-1-i arrived
	Contiguous int    // blocks received without a gap
}

// HandleAck updates the sender with an acknowledgement that arrives at now. It returns
// ErrAck, and changes nothing, if the acknowledgement names blocks that were not sent.
func (s *Sender) HandleAck(now time.Duration, a Ack) error {
	if a.Contiguous < 0 || a.Contiguous > s.next {
		return fmt.Errorf("%w: %d blocks of %d", ErrAck, a.Contiguous, s.next)
	}
	s.anyAck, s.lastAck = true, now
	if d := s.find(a.Answers); d != nil && !d.acked {
		s.timer.addSample(now - d.sentAt)
	}
	s.timer.resetBackoff()
	s.ackDatagram(a.Answers)
	s.ackDatagram(a.Newest)
	for i := uint64(0); i < 32 && i < a.Newest; i++ {
		if a.Mask>>i&1 == 1 {
			s.ackDatagram(a.Newest - 1 - i)
		}
	}
	for n := s.base; n < a.Contiguous; n++ {
		s.markAcked(n)
	}
	s.contiguous = max(s.contiguous, a.Contiguous)
	for s.base < s.next && s.blocks[s.base].acked {
		s.base++
	}
	return nil
}

// find returns the datagram with sequence seq; nil if it was never sent or is no
// longer stored.
func (s *Sender) find(seq uint64) *datagram {
	if d := &s.sent[seq%maxRemembered]; d.seq == seq+1 {
		return d
	}
	return nil
}

// ackDatagram marks the block of a datagram as acknowledged. Unknown sequences are
// ignored.
func (s *Sender) ackDatagram(seq uint64) {
	if d := s.find(seq); d != nil {
		d.acked = true
		s.markAcked(d.block)
	}
}

// markAcked marks a block as acknowledged.
func (s *Sender) markAcked(number int) {
	if b := &s.blocks[number]; !b.acked {
		b.acked = true
		s.pending--
	}
}

// Done reports whether the receiver has reported all blocks.
func (s *Sender) Done() bool { return s.contiguous == len(s.blocks) }

// Blocks returns the number of blocks.
func (s *Sender) Blocks() int { return len(s.blocks) }

// Resent returns the number of datagrams with a block that was sent before.
func (s *Sender) Resent() int64 { return s.resent }

// SendCount returns how often a block was sent.
func (s *Sender) SendCount(number int) int { return int(s.blocks[number].sendCount) }

// RoundTrip returns the smoothed round trip; 0 before the first measurement.
func (s *Sender) RoundTrip() time.Duration { return s.timer.smoothed }

// Timeout returns the current retransmission timeout.
func (s *Sender) Timeout() time.Duration { return s.timer.timeout() }
