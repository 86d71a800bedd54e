package endpoint

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/transfer"
)

// A datagram of a file is a packet header, the number of a block (32 bits) and the
// block. An ack of a file continues with the sequence of the datagram that it answers
// (16 bits) and the number of blocks received without a gap (32). Both end with a
// seal.
const (
	numberBytes = 4 // a block's number, and the count in an ack
	answerBytes = 2 // the sequence that an ack answers
)

// FileSender delivers a packed file in blocks, each of which is resent until it is
// acknowledged. Each epoch is a separate delivery: another encoder packs the file
// into other bytes, so blocks of an earlier epoch are of no use.
type FileSender struct {
	*Sender
	out         *transfer.Sender
	size        int // of a block, in bytes
	window      int // most blocks in flight
	beat        time.Duration
	loaded      bool
	loadedEpoch uint64 // the epoch that was loaded last
	stream      []byte // the label and the packed file
	label       int    // size of the label in bytes
	stored      frame.Frame
}

// NewFileSender returns a sender of blocks of blockBytes bytes. At most window blocks
// are in flight, and one datagram leaves every beat.
func NewFileSender(s *Sender, blockBytes, window int, beat time.Duration) *FileSender {
	return &FileSender{Sender: s, size: blockBytes, window: window, beat: beat, out: transfer.NewSender(0, window, beat)}
}

// Begin starts the requested epoch, if it is time. It reports whether the caller must
// Load the file, packed with the encoding of the current epoch.
func (f *FileSender) Begin(now time.Duration) (load bool) {
	if f.seq == f.first && !f.loaded {
		f.epochStart = now
	}
	f.begin(now)
	return !f.Ready()
}

// Loaded reports whether the sender was ever loaded.
func (f *FileSender) Loaded() bool { return f.loaded }

// LoadedEpoch returns the epoch that the sender was last loaded for.
func (f *FileSender) LoadedEpoch() uint64 { return f.loadedEpoch }

// Ready reports whether the sender was loaded for the current epoch.
func (f *FileSender) Ready() bool { return f.loaded && f.loadedEpoch == f.epoch }

// Load sets what to deliver in the current epoch: a label and the packed file. A nil
// label means nothing, because the encoder refused the file.
func (f *FileSender) Load(label *transfer.Label, packed []byte) {
	f.loaded, f.loadedEpoch, f.stream, f.label = true, f.epoch, f.stream[:0], 0
	if label != nil {
		f.stream = label.Append(f.stream)
		f.label = len(f.stream)
		f.stream = append(f.stream, packed...)
	}
	f.out = transfer.NewSender((len(f.stream)+f.size-1)/f.size, f.window, f.beat)
}

// Progress returns the state of the delivery.
func (f *FileSender) Progress() *transfer.Sender { return f.out }

// Bytes returns the size of the delivery, including the label, and the size of a
// block, both in bytes.
func (f *FileSender) Bytes() (total, block int) { return len(f.stream), f.size }

// SendBlock makes the packet of the next block; ok is false if none is due. number is
// the number of the block, and again says that it was sent before.
func (f *FileSender) SendBlock(now time.Duration, b *encoders.Budget) (p Packet, number int, again, ok bool) {
	number, again, ok = f.out.Next(now)
	if !ok {
		return p, 0, false, false
	}
	f.out.Sent(now, f.seq, number)
	return f.packet(number, b), number, again, true
}

// packet makes the packet of block number.
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

// LearnBlocks handles an ack. src may be any bytes.
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

// FileReceiver collects the blocks of a delivery.
type FileReceiver struct {
	*Receiver
	in      *transfer.Receiver
	epoch   uint64
	answers uint64 // sequence of the newest arrival
}

// NewFileReceiver returns a receiver of blocks.
func NewFileReceiver(r *Receiver) *FileReceiver {
	return &FileReceiver{Receiver: r, in: &transfer.Receiver{}}
}

// Progress returns the state of the newest delivery, and its epoch.
func (f *FileReceiver) Progress() (*transfer.Receiver, uint64) { return f.in, f.epoch }

// BlockReception is the result of receiving the datagram of a block.
type BlockReception struct {
	Reception
	Accepted    bool // the block belongs to the delivery, new or not
	NewDelivery bool // the block began a new delivery
}

// ReceiveBlock handles one datagram, as Receive does.
func (f *FileReceiver) ReceiveBlock(datagram []byte) BlockReception {
	h, payload, err := f.open(datagram)
	if err != nil {
		return BlockReception{Reception: Reception{Outcome: Corrupt, Err: err}}
	}
	rx, d := f.recognise(&h, f.number(&h))
	out := BlockReception{Reception: rx}
	if d == nil {
		return out
	}
	if d.epoch < f.epoch {
		out.Outcome = Stale // of an abandoned delivery
		return out
	}
	f.accept(&out, d, binary.LittleEndian.Uint32(payload), payload[numberBytes:])
	return out
}

// open checks the seal of a datagram and splits it into header and payload.
func (f *FileReceiver) open(datagram []byte) (h header, payload []byte, err error) {
	if datagram, err = unseal(datagram); err != nil {
		return h, nil, err
	}
	h, payload, err = parseHeader(datagram, f.refsOf, false)
	if err == nil && len(payload) < numberBytes {
		err = fmt.Errorf("%w: number of the block missing", ErrMalformed)
	}
	return h, payload, err
}

// accept adds a block to its delivery. A block of a newer epoch begins a new one.
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
	block := f.end.Decoded()
	block.Tick, block.Body = number, append(block.Body[:0], body...)
	out.Frame = block
}

// Unpack rebuilds the new file from the old one, once all blocks have arrived. The
// caller compares the result with the label.
func (f *FileReceiver) Unpack(old *frame.Frame) (*frame.Frame, error) {
	var made frame.Frame
	_, err := f.epochs[f.epoch%KeptEpochs].dec.Decode(&made, f.in.Packed(), []encoders.Ref{{Frame: old}}, nil)
	return &made, err
}

// AckBlocks appends an ack of packets and blocks to dst; nothing until a block was
// accepted.
func (f *FileReceiver) AckBlocks(dst []byte) []byte {
	start := len(dst)
	dst = f.Ack(dst)
	if len(dst) == start {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.answers))
	return seal(binary.LittleEndian.AppendUint32(dst, uint32(f.in.Contiguous())), start)
}

// AckSize returns the length in bytes of an ack, without the sequence that it answers and
// the seal: reports of the first edition depend on it.
func (f *FileReceiver) AckSize() int { return ackBytes + numberBytes }
