package endpoint

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/transfer"
)

// A datagram of a file is a packet header, the number of a block in 32 bits, and the
// block. An ack goes on with the sequence of the datagram that it answers, in 16 bits,
// and how many blocks there are without a gap, in 32. Both end with a seal.
const (
	numberBytes = 4 // a block's number, and the count in an ack
	answerBytes = 2 // the sequence that an ack answers
)

// FileSender brings what an encoder packed across, in blocks that it sends until they
// are acknowledged. Each epoch is a delivery of its own: another encoder packs other
// bytes, of which those that came before are no part.
type FileSender struct {
	*Sender
	out         *transfer.Sender
	size        int // bytes of a block
	window      int // blocks under way at most
	beat        time.Duration
	loaded      bool
	loadedEpoch uint64 // the epoch that was loaded
	stream      []byte // label and what the encoder packed
	label       int    // bytes of the label
	stored      frame.Frame
}

// NewFileSender returns a sender of blocks of so many bytes, of which at most window
// are under way. A datagram leaves every beat.
func NewFileSender(s *Sender, blockBytes, window int, beat time.Duration) *FileSender {
	return &FileSender{Sender: s, size: blockBytes, window: window, beat: beat, out: transfer.NewSender(0, window, beat)}
}

// Begin starts the epoch that was asked for, if it is time, and reports whether the
// sender needs to be loaded with what the encoder of the present epoch packs.
func (f *FileSender) Begin(now time.Duration) (load bool) {
	if f.seq == f.first && !f.loaded {
		f.epochStart = now
	}
	f.begin(now)
	return !f.Ready()
}

// Loaded reports whether the sender was ever loaded.
func (f *FileSender) Loaded() bool { return f.loaded }

// Of returns the epoch that the sender was last loaded for.
func (f *FileSender) LoadedEpoch() uint64 { return f.loadedEpoch }

// Ready reports whether the present epoch was loaded.
func (f *FileSender) Ready() bool { return f.loaded && f.loadedEpoch == f.epoch }

// Load gives the sender what to deliver in the present epoch. A nil label means
// nothing: the encoder refused the file.
func (f *FileSender) Load(label *transfer.Label, packed []byte) {
	f.loaded, f.loadedEpoch, f.stream, f.label = true, f.epoch, f.stream[:0], 0
	if label != nil {
		f.stream = label.Append(f.stream)
		f.label = len(f.stream)
		f.stream = append(f.stream, packed...)
	}
	f.out = transfer.NewSender((len(f.stream)+f.size-1)/f.size, f.window, f.beat)
}

// Progress returns how the delivery stands.
func (f *FileSender) Progress() *transfer.Sender { return f.out }

// Bytes returns how many bytes the delivery takes, label included, and the size of a
// block.
func (f *FileSender) Bytes() (total, block int) { return len(f.stream), f.size }

// SendBlock makes the packet of a block, if one is due. number says which it is, and
// again whether it was sent before.
func (f *FileSender) SendBlock(now time.Duration, b *encoders.Budget) (p Packet, number int, again, ok bool) {
	number, again, ok = f.out.Next(now)
	if !ok {
		return p, 0, false, false
	}
	f.out.Sent(now, f.seq, number)
	return f.packet(number, b), number, again, true
}

// packet makes the packet of a block.
func (f *FileSender) packet(number int, b *encoders.Budget) Packet {
	h := f.header()
	out := Packet{Seq: f.seq, Epoch: f.epoch, Codec: f.run.Codec.Name}
	f.seq++
	f.buf = h.append(f.buf[:0], f.run.Codec.Refs == 2)
	f.buf = binary.LittleEndian.AppendUint32(f.buf, uint32(number))
	body := f.stream[number*f.size : min((number+1)*f.size, len(f.stream))]
	label := max(0, min(f.label-number*f.size, len(body)))
	b.Bits(encoders.SlotModel, 8*label)
	b.Bits(encoders.SlotBody, 8*(len(body)-label))
	f.buf = seal(append(f.buf, body...), 0)
	f.stored.Tick, f.stored.Body = uint32(number), body
	out.Datagram, out.Payload, out.Header, out.Stored = f.buf, len(body), len(f.buf)-len(body), &f.stored
	return out
}

// LearnBlocks takes in an ack. Any bytes may come.
func (f *FileSender) LearnBlocks(now time.Duration, src []byte) error {
	src, err := unseal(src)
	if err != nil {
		return err
	}
	a, err := parseAck(src, 0)
	if err == nil && len(a.report) < answerBytes+numberBytes {
		err = fmt.Errorf("%w: ack without a count of blocks", ErrMalformed)
	}
	if err != nil || f.seq == f.first {
		return err
	}
	newest, ok := f.unwrapAck(a.newest)
	answers, known := f.unwrapAck(binary.LittleEndian.Uint16(a.report))
	if !ok || !known {
		return errNeverSent
	}
	if a.epoch != uint8(f.epoch) || !f.Ready() {
		return nil
	}
	f.epochAcked = true
	if newest >= f.bestAck || !f.hasAck {
		f.bestAck, f.hasAck = newest, true
	}
	upTo := binary.LittleEndian.Uint32(a.report[answerBytes:])
	return f.out.HandleAck(now, transfer.Ack{Answers: answers, Newest: newest, Mask: a.mask, Contiguous: int(upTo)})
}

// FileReceiver gathers the blocks of a delivery.
type FileReceiver struct {
	*Receiver
	in      *transfer.Receiver
	epoch   uint64
	answers uint64 // the datagram that came last
}

// NewFileReceiver returns a receiver of blocks.
func NewFileReceiver(r *Receiver) *FileReceiver {
	return &FileReceiver{Receiver: r, in: &transfer.Receiver{}}
}

// Progress returns how the delivery of the newest epoch that was heard of stands, and
// which that is.
func (f *FileReceiver) Progress() (*transfer.Receiver, uint64) { return f.in, f.epoch }

// BlockReception is what became of the datagram of a block.
type BlockReception struct {
	Reception
	Accepted    bool // the delivery took its block, or had it
	NewDelivery bool // the block began another delivery
}

// ReceiveBlock takes one datagram, as Receive does.
func (f *FileReceiver) ReceiveBlock(datagram []byte) BlockReception {
	h, payload, err := f.open(datagram)
	if err != nil {
		return BlockReception{Reception: Reception{Outcome: Corrupt, Err: err}}
	}
	rx, d := f.recognise(&h)
	out := BlockReception{Reception: rx}
	if d == nil {
		return out
	}
	if d.epoch < f.epoch {
		out.Outcome = Stale // of a delivery that was given up
		return out
	}
	f.accept(&out, d, binary.LittleEndian.Uint32(payload), payload[numberBytes:])
	return out
}

// open checks the seal of a datagram, and takes it apart.
func (f *FileReceiver) open(datagram []byte) (h header, payload []byte, err error) {
	if datagram, err = unseal(datagram); err != nil {
		return h, nil, err
	}
	h, payload, err = parseHeader(datagram, f.refsOf)
	if err == nil && len(payload) < numberBytes {
		err = fmt.Errorf("%w: number of the block missing", ErrMalformed)
	}
	return h, payload, err
}

// accept gives a block to the delivery that it belongs to, which a packet of a newer
// epoch begins.
func (f *FileReceiver) accept(out *BlockReception, d *epochDecoder, number uint32, body []byte) {
	in := f.in
	if d.epoch > f.epoch || out.Fresh && f.anyEpoch && d.epoch == f.newest {
		in = &transfer.Receiver{}
	}
	fate, err := in.Accept(number, body)
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return
	}
	if out.Fresh {
		f.install(&out.Reception, d)
	}
	d.used++
	if in != f.in {
		f.in, f.epoch, out.NewDelivery = in, d.epoch, true
	}
	out.Accepted = true
	f.answers = out.Seq
	f.arrived(out.Seq)
	f.seen.note(out.Seq)
	f.window.note(out.Seq)
	if fate == transfer.Duplicate {
		out.Outcome = Duplicate
		return
	}
	out.Outcome = Decoded
	f.scratch.Tick, f.scratch.Body = number, append(f.scratch.Body[:0], body...)
	out.Frame = &f.scratch
}

// Unpack makes the new file of the old one, once all blocks have come. The caller
// compares it with the label.
func (f *FileReceiver) Unpack(old *frame.Frame) (*frame.Frame, error) {
	var made frame.Frame
	_, err := f.epochs[f.epoch%KeptEpochs].dec.Decode(&made, f.in.Packed(), []encoders.Ref{{Frame: old}}, nil)
	return &made, err
}

// AckBlocks appends what the receiver has to say about packets, and behind it about
// blocks.
func (f *FileReceiver) AckBlocks(dst []byte) []byte {
	start := len(dst)
	if dst = f.Ack(dst); len(dst) == start {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.answers))
	return seal(binary.LittleEndian.AppendUint32(dst, uint32(f.in.Contiguous())), start)
}

// AckSize returns how many bytes an ack takes.
func (f *FileReceiver) AckSize() int { return ackBytes + numberBytes }
