package transfer

import (
	"errors"
	"fmt"
	"time"
)

// Sender decides which block goes next. It holds no bytes of the stream.
type Sender struct {
	window int
	beat   time.Duration

	blocks     []block
	base       int // blocks below it are acknowledged
	next       int // the first that was never sent
	pending    int // blocks between them that are not acknowledged
	contiguous int // what the receiver has without a gap, as far as we heard

	sent [remembered]datagram // of sequence s at s % remembered

	timer     timer
	anyAck    bool
	lastAck   time.Duration
	backedOff time.Duration // when the timeout was doubled last
	resent    int64
}

// block is what the sender knows of a block.
type block struct {
	sent  time.Duration // last time
	times uint32
	acked bool
}

// datagram is what the sender knows of one that it sent.
type datagram struct {
	seq   uint64 // + 1; 0: none
	block int
	at    time.Duration
	acked bool
}

// NewSender returns a sender of so many blocks that keeps at most window of them
// under way, 1 to Reach, and sends at most one datagram a beat.
func NewSender(blocks, window int, beat time.Duration) *Sender {
	if window < 1 || window > Reach {
		panic(fmt.Sprintf("transfer: a window of %d blocks; expected 1 to %d", window, Reach))
	}
	return &Sender{window: window, beat: beat, blocks: make([]block, blocks), timer: timer{granularity: beat}}
}

// Next returns the block to send now, and whether it is one that was sent before;
// ok is false if there is nothing to send.
func (s *Sender) Next(now time.Duration) (number int, again, ok bool) {
	timeout := s.timer.timeout()
	for n := s.base; n < s.next; n++ {
		if b := &s.blocks[n]; !b.acked && now-b.sent >= timeout {
			return n, true, true
		}
	}
	if s.next < len(s.blocks) && s.pending < s.window && s.next < min(s.base, s.contiguous)+Reach {
		return s.next, false, true
	}
	// Every block that was sent was acknowledged, and yet the receiver does not have
	// them all: an acknowledgement lied about single datagrams.
	if s.base == s.next && s.contiguous < s.next && now-s.blocks[s.contiguous].sent >= timeout {
		return s.contiguous, true, true
	}
	return 0, false, false
}

// Sent notes that the block that Next named has left as datagram seq.
func (s *Sender) Sent(now time.Duration, seq uint64, number int) {
	b := &s.blocks[number]
	if b.times > 0 {
		s.resent++
		s.backOff(now, b.sent)
	} else {
		s.next, s.pending = number+1, s.pending+1
	}
	b.sent = now
	b.times++
	s.sent[seq%remembered] = datagram{seq: seq + 1, block: number, at: now}
}

// silence doubles the timeout if nothing was heard since a block was sent, once a
// timeout.
func (s *Sender) backOff(now, sent time.Duration) {
	if s.anyAck && s.lastAck >= sent || now-s.backedOff < s.timer.timeout() {
		return
	}
	s.backedOff = now
	s.timer.backOff()
}

// ErrAck: an acknowledgement says what cannot be.
var ErrAck = errors.New("transfer: acknowledgement of what was never sent")

// Ack is an acknowledgement: what a receiver says whenever a datagram came.
type Ack struct {
	Answers    uint64 // the datagram that came
	Newest     uint64 // of all that came
	Mask       uint32 // bit i: the one that is i+1 before the newest came
	Contiguous int    // blocks that are there without a gap
}

// Heard takes in an acknowledgement.
func (s *Sender) HandleAck(now time.Duration, a Ack) error {
	if a.Contiguous < 0 || a.Contiguous > s.next {
		return fmt.Errorf("%w: %d blocks of %d", ErrAck, a.Contiguous, s.next)
	}
	s.anyAck, s.lastAck = true, now
	if d := s.find(a.Answers); d != nil && !d.acked {
		s.timer.measure(now - d.at)
	}
	s.timer.resetBackoff()
	s.ack(a.Answers)
	s.ack(a.Newest)
	for i := uint64(0); i < 32 && i < a.Newest; i++ {
		if a.Mask>>i&1 == 1 {
			s.ack(a.Newest - 1 - i)
		}
	}
	for n := s.base; n < a.Contiguous; n++ {
		s.done(n)
	}
	s.contiguous = max(s.contiguous, a.Contiguous)
	for s.base < s.next && s.blocks[s.base].acked {
		s.base++
	}
	return nil
}

// find returns what is known of a datagram; nil if it was never sent, or so long ago
// that it is forgotten.
func (s *Sender) find(seq uint64) *datagram {
	if d := &s.sent[seq%remembered]; d.seq == seq+1 {
		return d
	}
	return nil
}

func (s *Sender) ack(seq uint64) {
	if d := s.find(seq); d != nil {
		d.acked = true
		s.done(d.block)
	}
}

func (s *Sender) done(number int) {
	if b := &s.blocks[number]; !b.acked {
		b.acked = true
		s.pending--
	}
}

// Done reports whether the receiver is known to have all blocks.
func (s *Sender) Done() bool { return s.contiguous == len(s.blocks) }

// Blocks returns how many there are.
func (s *Sender) Blocks() int { return len(s.blocks) }

// Resent returns how many datagrams carried a block that had been sent before.
func (s *Sender) Resent() int64 { return s.resent }

// Times returns how often a block was sent, 0 for one that was not.
func (s *Sender) SendCount(number int) int { return int(s.blocks[number].times) }

// RoundTrip returns the smoothed round trip, 0 before one was measured.
func (s *Sender) RoundTrip() time.Duration { return s.timer.smoothed }

// Timeout returns after what time a block is sent again.
func (s *Sender) Timeout() time.Duration { return s.timer.timeout() }
