package endpoint

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/transfer"
)

// A datagram of a file consists of a packet header, the number of a block (32 bits), the block and a
// seal. An ack of a file consists of an ack, the low 16 bits of the sequence number of the datagram
// that it answers, the number of blocks received without a gap (32 bits) and a seal.
const (
	blockNumberBytes = 4 // size of a block's number, and of the number of blocks in an ack
	ackedSeqBytes    = 2 // size of the sequence number that an ack answers
)

// FileSender delivers a packed file in blocks, and resends each block until it is acknowledged. The
// delivered bytes are the stream: a transfer.Label, then the packed file. Each epoch is a separate
// delivery, because another encoder packs the file into other bytes.
type FileSender struct {
	*Sender
	blocks      *transfer.Sender
	blockSize   int           // bytes
	window      int           // maximum number of blocks in flight
	beat        time.Duration // interval between datagrams
	loaded      bool          // Load was called
	loadedEpoch uint64        // the epoch of the last Load
	stream      []byte        // the label and the packed file
	labelSize   int           // bytes
	stored      frame.Frame   // Packet.Stored of the last block
}

// NewFileSender returns a sender that delivers files in blocks of blockBytes bytes. At most window
// blocks are in flight. One datagram is sent every beat.
func NewFileSender(s *Sender, blockBytes, window int, beat time.Duration) *FileSender {
	return &FileSender{Sender: s, blockSize: blockBytes, window: window, beat: beat, blocks: transfer.NewSender(0, window, beat)}
}

// Begin starts the requested epoch, if it is due. It reports whether the caller must call Load with
// the file packed by the encoder of the current epoch.
func (f *FileSender) Begin(now time.Duration) (load bool) {
	if f.seq == f.first && !f.loaded { // the first epoch begins with the first call
		f.epochStart = now
	}
	f.beginEpoch(now)
	return !f.Ready()
}

// Loaded reports whether Load was called in any epoch.
func (f *FileSender) Loaded() bool { return f.loaded }

// LoadedEpoch returns the epoch of the last call of Load.
func (f *FileSender) LoadedEpoch() uint64 { return f.loadedEpoch }

// Ready reports whether Load was called in the current epoch.
func (f *FileSender) Ready() bool { return f.loaded && f.loadedEpoch == f.epoch }

// Load sets the stream of the current epoch: label, then the packed file. A nil label means that there
// is nothing to deliver, because the encoder rejected the file.
func (f *FileSender) Load(label *transfer.Label, packed []byte) {
	f.loaded, f.loadedEpoch, f.stream, f.labelSize = true, f.epoch, f.stream[:0], 0
	if label != nil {
		f.stream = label.Append(f.stream)
		f.labelSize = len(f.stream)
		f.stream = append(f.stream, packed...)
	}
	f.blocks = transfer.NewSender((len(f.stream)+f.blockSize-1)/f.blockSize, f.window, f.beat)
}

// Progress returns the state of the delivery.
func (f *FileSender) Progress() *transfer.Sender { return f.blocks }

// Bytes returns the size of the stream, which includes the label, and the size of a block.
func (f *FileSender) Bytes() (total, block int) { return len(f.stream), f.blockSize }

// SendBlock returns the packet of the next block, and charges its bits to budget; ok is false if no block is
// due. number is the number of the block. sentBefore reports whether the block was sent before.
func (f *FileSender) SendBlock(now time.Duration, budget *encoders.Budget) (p Packet, number int, sentBefore, ok bool) {
	number, sentBefore, ok = f.blocks.Next(now)
	if !ok {
		return p, 0, false, false
	}
	f.blocks.Sent(now, f.seq, number)
	return f.blockPacket(number, budget), number, sentBefore, true
}

// blockPacket returns the packet of a block, and charges its bits to budget: those of the label to
// encoders.SlotModel, the others to encoders.SlotBody. It uses up a sequence number.
func (f *FileSender) blockPacket(number int, budget *encoders.Budget) Packet {
	h := f.header()
	out := Packet{Seq: f.seq, Epoch: f.epoch, Codec: f.encoding.Codec.Name}
	f.seq++
	f.buf = h.append(f.buf[:0], f.encoding.Codec.Refs == 2)
	f.buf = binary.LittleEndian.AppendUint32(f.buf, uint32(number))
	body := f.stream[number*f.blockSize : min((number+1)*f.blockSize, len(f.stream))]
	labelBytes := max(0, min(f.labelSize-number*f.blockSize, len(body))) // the label is at the start of the stream
	budget.Bits(encoders.SlotModel, 8*labelBytes)
	budget.Bits(encoders.SlotBody, 8*(len(body)-labelBytes))
	f.buf = seal(append(f.buf, body...), 0)             // 0: the sealed bytes begin at the start of the buffer
	f.stored.Tick, f.stored.Body = uint32(number), body // as the receiver will report the block
	// Payload is the size of the block; Header is the size of everything else, including the seal at the end of the
	// datagram.
	out.Datagram, out.Payload, out.Header, out.Stored = f.buf, len(body), len(f.buf)-len(body), &f.stored
	return out
}

// HandleBlockAck handles an ack of FileReceiver.AppendBlockAck: it marks the blocks that have arrived. src
// may be any bytes. An ack of another epoch has no effect and is not an error.
func (f *FileSender) HandleBlockAck(now time.Duration, src []byte) error {
	src, err := unseal(src)
	if err != nil {
		return err
	}
	a, err := parseAck(src)
	if err == nil && len(a.report) < ackedSeqBytes+blockNumberBytes {
		err = fmt.Errorf("%w: ack without a number of blocks", ErrMalformed)
	}
	if err != nil || f.seq == f.first { // the ack is malformed, or nothing was sent yet
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
	if newest >= f.newestAcked || !f.hasAck {
		f.newestAcked, f.hasAck = newest, true
	}
	contiguous := binary.LittleEndian.Uint32(a.report[ackedSeqBytes:]) // blocks received without a gap
	return f.blocks.HandleAck(now, transfer.Ack{Answers: answers, Newest: newest, Mask: a.mask, Contiguous: int(contiguous)})
}

// FileReceiver receives the blocks of a file, and unpacks the file.
type FileReceiver struct {
	*Receiver
	blocks  *transfer.Receiver // blocks of the newest delivery
	epoch   uint64             // epoch of that delivery
	lastSeq uint64             // sequence number of the last accepted datagram

	doubted    uint64 // number of the datagram before, if hasDoubted is set; see countsArrival
	hasDoubted bool
}

// NewFileReceiver returns a receiver of blocks.
func NewFileReceiver(r *Receiver) *FileReceiver {
	return &FileReceiver{Receiver: r, blocks: &transfer.Receiver{}}
}

// Progress returns the state of the newest delivery and its epoch.
func (f *FileReceiver) Progress() (*transfer.Receiver, uint64) { return f.blocks, f.epoch }

// BlockReception is the result of receiving the datagram of a block.
type BlockReception struct {
	Reception
	Accepted bool // the block belongs to the newest delivery; it may be a duplicate
}

// ReceiveBlock handles one datagram, which may be any bytes: it checks the seal, finds or creates the decoder
// of the epoch, and adds the block to the newest delivery. The file is decoded later, by Unpack.
func (f *FileReceiver) ReceiveBlock(datagram []byte) BlockReception {
	h, payload, err := f.parseDatagram(datagram)
	if err != nil {
		return BlockReception{Reception: Reception{Outcome: Corrupt, Err: err}}
	}
	rx, d := f.findDecoder(&h)
	out := BlockReception{Reception: rx}
	if d == nil {
		return out
	}
	if d.epoch < f.epoch {
		out.Outcome = Stale // a block of an earlier delivery
		return out
	}
	f.acceptBlock(&out, d, binary.LittleEndian.Uint32(payload), payload[blockNumberBytes:])
	return out
}

// parseDatagram checks the seal of a datagram and splits the rest into header and payload.
func (f *FileReceiver) parseDatagram(datagram []byte) (h header, payload []byte, err error) {
	if datagram, err = unseal(datagram); err != nil {
		return h, nil, err
	}
	h, payload, err = parseHeader(datagram, f.refCount)
	if err == nil && len(payload) < blockNumberBytes {
		err = fmt.Errorf("%w: number of the block missing", ErrMalformed)
	}
	return h, payload, err
}

// acceptBlock adds a block to the newest delivery, acks it and sets the fields of out. A block of a newer
// epoch begins a delivery, and so does one with other parameters for the newest epoch. d is the decoder of
// the block's epoch.
func (f *FileReceiver) acceptBlock(out *BlockReception, d *epochDecoder, number uint32, body []byte) {
	delivery := f.blocks
	if d.epoch > f.epoch || out.Fresh && f.anyEpoch && d.epoch == f.newestEpoch {
		delivery = &transfer.Receiver{}
	}
	result, err := delivery.Accept(number, body)
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return
	}
	if out.Fresh {
		f.install(d)
	}
	d.decoded++
	if delivery != f.blocks {
		f.blocks, f.epoch = delivery, d.epoch
	}
	out.Accepted = true
	f.lastSeq = out.Seq
	if f.countsArrival(out.Seq) {
		f.recordArrival(out.Seq)
		f.seen.record(out.Seq)
		f.acks.record(out.Seq)
	}
	if result == transfer.Duplicate {
		out.Outcome = Duplicate
		return
	}
	out.Outcome = Decoded
	block := f.coder.Decoded()
	block.Tick, block.Body = number, append(block.Body[:0], body...)
	out.Frame = block
}

// countsArrival reports whether sequence number seq, of an accepted block, becomes part of the acks. A number farther ahead
// of the newest one than an ack reaches is doubted, and counts only if the block accepted before was doubted with another
// number near it. So one forged number does not disable the acks, and after an outage the second block resumes them.
func (f *FileReceiver) countsArrival(seq uint64) bool {
	const reach = 32 // packets in the mask of an ack
	if seq <= f.newestSeq+reach {
		f.hasDoubted = false
		return true
	}
	distance := max(seq, f.doubted) - min(seq, f.doubted)
	isConfirmed := f.hasDoubted && distance > 0 && distance <= reach
	f.doubted, f.hasDoubted = seq, !isConfirmed
	return isConfirmed
}

// Unpack decodes the new file from the packed file and old, the old file. All blocks must have
// arrived. The caller compares the result with the label.
func (f *FileReceiver) Unpack(old *frame.Frame) (*frame.Frame, error) {
	var unpacked frame.Frame
	_, err := f.epochs[f.epoch%StoredEpochs].dec.Decode(&unpacked, f.blocks.Packed(), []encoders.Ref{{Frame: old}}, nil)
	return &unpacked, err
}

// AppendBlockAck appends an ack of the blocks to dst. It appends nothing until an accepted block is not doubted.
func (f *FileReceiver) AppendBlockAck(dst []byte) []byte {
	start := len(dst)
	dst = f.AppendAck(dst)
	if len(dst) == start {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.lastSeq))
	return seal(binary.LittleEndian.AppendUint32(dst, uint32(f.blocks.Contiguous())), start)
}

// AckSize returns the size in bytes of an ack without the sequence number that it answers and without
// the seal.
func (f *FileReceiver) AckSize() int { return ackBytes + blockNumberBytes }
