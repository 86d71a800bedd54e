package experiment

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/transfer"
)

// delivery is what a lane has besides if every byte must arrive (frame.Every): the
// new file, which its encoder packs as a whole, cut in blocks that are sent until
// they are acknowledged. Each epoch is a delivery of its own: another encoder packs
// other bytes, of which those that came before are no part.
//
// A datagram is a packet header, the number of a block in 32 bits, and the block. An
// ack goes on with the sequence of the datagram that it answers, in 16 bits, and how many
// blocks there are without a gap, in 32. Both end with a seal.
type delivery struct {
	pair   *pair
	packs  *Packs
	size   int // bytes of a block
	window int // blocks under way at most
	beat   time.Duration
	again  bool // it will begin anew

	// The sender's.
	begun  bool
	epoch  uint64
	start  time.Duration // of this epoch
	stream []byte        // label and what the encoder packed
	label  int           // bytes of the label
	packed *pack
	out    *transfer.Sender
	stored frame.Frame   // the block that was sent last
	left   time.Duration // when that was

	// The receiver's.
	in       *transfer.Receiver
	inEpoch  uint64
	answers  uint64 // the datagram that came last
	tainted  bool   // the lab's: some of it had been damaged
	unpackNS int64
	needless int64 // blocks that came again

	done, failed bool
	doneAt       time.Duration
	rounds       []Round // that ended, the newest last
}

const (
	numberBytes = 4 // a block's number, and the count in an ack
	answerBytes = 2 // the sequence that an ack answers
)

// equip makes a lane bring the session's file across.
func (s *Session) equip(l *lane) {
	if !s.delivers {
		return
	}
	c := s.config
	l.delivery = &delivery{pair: s.pair, packs: s.packs, size: c.Sender.Block, window: c.Sender.Window,
		beat: time.Second / time.Duration(c.Sender.RateHz), again: c.Data.Again, in: &transfer.Receiver{}}
}

// over reports whether nothing more will come of the present epoch.
func (d *delivery) over() bool { return d.done || d.failed }

// load begins the delivery of the sender's present epoch.
func (d *delivery) load(now time.Duration, s *sender) error {
	d.close(now)
	d.begun, d.epoch, d.start, d.done, d.failed, d.needless = true, s.epoch, now, false, false, 0
	d.out = transfer.NewSender(0, d.window, d.beat)
	p, err := d.packs.of(&s.run, d.pair, nil)
	if err != nil {
		d.failed = true
		return fmt.Errorf("encoder %s: %w", s.run.codec.Name, err)
	}
	label := transfer.Label{Packed: int64(len(p.data)), Size: int64(len(d.pair.new.Body)), Hash: d.pair.newSum}
	d.stream = label.Append(d.stream[:0])
	d.label = len(d.stream)
	d.stream = append(d.stream, p.data...)
	d.packed = p
	d.out = transfer.NewSender((len(d.stream)+d.size-1)/d.size, d.window, d.beat)
	return nil
}

// block returns the bytes of block n.
func (d *delivery) block(n int) []byte { return d.stream[n*d.size : min((n+1)*d.size, len(d.stream))] }

// items returns how many bytes of the new file block n stands for.
func (d *delivery) items(n int) int {
	size, blocks := int64(len(d.pair.new.Body)), int64(d.out.Blocks())
	return int(size*int64(n+1)/blocks - size*int64(n)/blocks)
}

// sendBlock sends a block, if one is due.
func (l *lane) sendBlock(now time.Duration) {
	d, s := l.delivery, l.snd
	if s.seq == s.first && !d.begun {
		s.epochStart = now
	}
	s.begin(now)
	if !d.begun || d.epoch != s.epoch {
		if err := d.load(now, s); err != nil {
			l.meter.encodeFailed++
			l.lastErr = err
			l.watch.refused(now, &sent{seq: s.seq, codec: s.run.codec.Name}, err)
		}
	}
	number, again, ok := d.out.Next(now)
	if !ok {
		return
	}
	d.out.Sent(now, s.seq, number)
	d.left = now
	l.budget.Reset()
	p := d.datagram(s, number, &l.budget)
	items := 0
	if !again {
		items = d.items(number)
	}
	p.changed = items // a byte that is new is news
	l.launch(now, &p, items, false)
}

// datagram makes the packet of a block.
func (d *delivery) datagram(s *sender, number int, b *encoders.Budget) sent {
	h := header{seq: uint16(s.seq), codec: s.run.codec.ID, epoch: uint8(s.epoch), params: s.run.canonical, hasParams: !s.epochAcked}
	out := sent{seq: s.seq, epoch: s.epoch, codec: s.run.codec.Name}
	s.seq++
	s.buf = h.append(s.buf[:0], s.run.codec.Refs == 2)
	s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(number))
	body := d.block(number)
	label := max(0, min(d.label-number*d.size, len(body)))
	b.Bits(encoders.SlotModel, 8*label)
	b.Bits(encoders.SlotBody, 8*(len(body)-label))
	s.buf = seal(append(s.buf, body...))
	out.datagram, out.payload, out.header = s.buf, len(body), len(s.buf)-len(body)
	d.stored.Tick, d.stored.Body = uint32(number), body
	out.stored = &d.stored
	return out
}

// learnBlocks takes in an ack. Any bytes may come.
func (d *delivery) learnBlocks(now time.Duration, s *sender, src []byte) error {
	src, err := unseal(src)
	if err != nil {
		return err
	}
	a, err := parseAck(src)
	if err == nil && len(a.report) < answerBytes+numberBytes {
		err = fmt.Errorf("%w: ack without a count of blocks", errHeader)
	}
	if err != nil || s.seq == s.first {
		return err
	}
	newest, ok := s.which(a.newest)
	answers, known := s.which(binary.LittleEndian.Uint16(a.report))
	if !ok || !known {
		return fmt.Errorf("%w: ack of a packet that was never sent", errHeader)
	}
	if a.epoch != uint8(s.epoch) || d.epoch != s.epoch {
		return nil
	}
	s.epochAcked = true
	if newest >= s.bestAck || !s.hasAck {
		s.bestAck, s.hasAck = newest, true
	}
	upTo := binary.LittleEndian.Uint32(a.report[answerBytes:])
	return d.out.Heard(now, transfer.Ack{Answers: answers, Newest: newest, Mask: a.mask, UpTo: int(upTo)})
}
