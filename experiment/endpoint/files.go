package endpoint

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/container"
)

// A file is a burst of reliable messages, its blocks; see package container. A datagram consists of a
// packet header and the part of container.Outbox, an ack of the low 8 bits of the epoch and the ack of
// container.Inbox. The numbers of containers are the sequence numbers of packets.

// fileAckBytes is the size of an ack of a file.
const fileAckBytes = 11

// FileSender delivers a packed file in blocks, and resends each block until it is acknowledged. The
// delivered bytes are a Label, then the packed file. Each epoch is a separate delivery, because another
// encoder packs the file into other bytes.
type FileSender struct {
	*Sender
	out         *container.Outbox // blocks of the current epoch, by number
	blockSize   int               // bytes
	window      int               // maximum number of blocks in flight
	beat        time.Duration     // interval between datagrams
	loaded      bool              // Load was called
	loadedEpoch uint64            // the epoch of the last Load
	bytes       []byte            // the label and the packed file
	labelSize   int               // bytes
	written     int               // bytes that were written to out
	stored      frame.Frame       // Packet.Frame of the last block
}

// NewFileSender returns a sender that delivers files in blocks of blockBytes bytes. At most window
// blocks are in flight. One datagram is sent every beat.
func NewFileSender(s *Sender, blockBytes, window int, beat time.Duration) *FileSender {
	return &FileSender{Sender: s, blockSize: blockBytes, window: window, beat: beat, out: container.NewFileOutbox(blockBytes, window, beat)}
}

// Begin starts the requested epoch, if it is due. It reports whether the caller must call Load with
// the file packed by the encoder of the current epoch.
func (f *FileSender) Begin(now time.Duration) (load bool) {
	if f.seq == f.first && !f.loaded { // the first epoch begins with the first call
		f.epochStart = now
	}
	f.beginEpoch(now)
	return !f.isReady()
}

// LoadedEpoch returns the epoch of the last call of Load; ok is false before it.
func (f *FileSender) LoadedEpoch() (epoch uint64, ok bool) { return f.loadedEpoch, f.loaded }

// isReady reports whether Load was called in the current epoch.
func (f *FileSender) isReady() bool { return f.loaded && f.loadedEpoch == f.epoch }

// Load sets the file of the current epoch. A nil label means that there is nothing to deliver, because
// the encoder rejected the file.
func (f *FileSender) Load(label *Label, packed []byte) {
	f.loaded = true
	f.loadedEpoch = f.epoch
	f.bytes = f.bytes[:0]
	f.labelSize = 0
	f.written = 0
	if label != nil {
		f.bytes = label.Append(f.bytes)
		f.labelSize = len(f.bytes)
		f.bytes = append(f.bytes, packed...)
	}
	f.out = container.NewFileOutbox(f.blockSize, f.window, f.beat)
}

// Outbox returns the blocks of the current epoch. The caller must not modify it.
func (f *FileSender) Outbox() *container.Outbox { return f.out }

// Bytes returns the size of the label and the packed file of the current epoch.
func (f *FileSender) Bytes() int { return len(f.bytes) }

// Blocks returns the number of blocks of the current epoch.
func (f *FileSender) Blocks() int { return (len(f.bytes) + f.blockSize - 1) / f.blockSize }

// SendBlock returns the packet of the next block, and charges its bits to budget; ok is false if no block is
// due. number is the number of the block. sentBefore reports whether the block was sent before.
func (f *FileSender) SendBlock(now time.Duration, budget *encoders.Budget) (p Packet, number int, sentBefore, ok bool) {
	for f.written < len(f.bytes) {
		end := min(f.written+f.blockSize, len(f.bytes))
		if !f.out.Write(0, f.bytes[f.written:end]) {
			break // the outbox is full
		}
		f.written = end
	}
	part := f.out.Datagram(now, f.seq)
	if part == nil {
		return p, 0, false, false
	}
	block, sentBefore := f.out.Newest()
	return f.blockPacket(int(block), part, budget), int(block), sentBefore, true
}

// blockPacket returns the packet of block number, and charges the bits of the block to budget: those of the
// label to encoders.SlotModel, the others to encoders.SlotBody. part is the block as container.Outbox sends
// it, with the header of container. The packet takes the next sequence number.
func (f *FileSender) blockPacket(number int, part []byte, budget *encoders.Budget) Packet {
	h := f.header()
	out := f.beginPacket(&h)
	f.seq++
	f.buf = append(f.buf, part...)
	start := number * f.blockSize
	body := f.bytes[start:min(start+f.blockSize, len(f.bytes))]
	labelBytes := max(0, min(f.labelSize-start, len(body))) // f.bytes begins with the label
	budget.Bits(encoders.SlotModel, 8*labelBytes)
	budget.Bits(encoders.SlotBody, 8*(len(body)-labelBytes))
	f.stored.Tick = uint32(number) // the receiver reports the block as a frame with this tick and body
	f.stored.Body = body
	out.Datagram = f.buf
	out.Payload = len(body)
	out.Header = len(f.buf) - len(body) // everything except the block
	out.stored = &f.stored
	return out
}

// HandleBlockAck handles an ack of FileReceiver.AppendBlockAck: it marks the blocks that have arrived. src
// may be any bytes. An ack of another epoch has no effect and is not an error.
func (f *FileSender) HandleBlockAck(now time.Duration, src []byte) error {
	if len(src) != fileAckBytes {
		return fmt.Errorf("%w: ack of a file with %d bytes", ErrMalformed, len(src))
	}
	if f.seq == f.first || src[0] != uint8(f.epoch) || !f.isReady() {
		return nil
	}
	newest, ok := f.unwrapAck(binary.LittleEndian.Uint16(src[3:]))
	if !ok {
		return errNeverSent
	}
	f.epochAcked = true
	f.recordAck(newest)
	_, err := f.out.HandleAck(now, f.seq, 1, src[1:])
	return err
}

// FileReceiver receives the blocks of a file, and unpacks the file.
type FileReceiver struct {
	*Receiver
	file  *incomingFile // of the newest delivery; nil before the first block
	epoch uint64        // of that delivery
}

// incomingFile is what has arrived of a file.
type incomingFile struct {
	in         *container.Inbox
	bytes      []byte // without a gap
	label      Label
	labelBytes int   // size of the label; 0 until it has arrived
	err        error // the bytes cannot be a file
}

// newIncomingFile returns a file of which nothing has arrived.
func newIncomingFile() *incomingFile {
	f := &incomingFile{}
	f.in = container.NewInbox(1, f.add)
	return f
}

// add adds the next block.
func (f *incomingFile) add(_ int, block []byte) {
	f.bytes = append(f.bytes, block...)
	if f.labelBytes == 0 && f.err == nil {
		f.label, f.labelBytes, f.err = parseLabel(f.bytes)
	}
	if f.missing() < 0 && f.err == nil {
		f.err = fmt.Errorf("%w: the file is longer than its label states", ErrMalformed)
	}
}

// missing returns the number of bytes that f.bytes lacks until the end that the label states; negative
// if it is too long.
func (f *incomingFile) missing() int64 { return f.label.Packed + int64(f.labelBytes-len(f.bytes)) }

// NewFileReceiver returns a receiver of blocks.
func NewFileReceiver(r *Receiver) *FileReceiver { return &FileReceiver{Receiver: r} }

// BlockReception is the result of receiving the datagram of a block.
type BlockReception struct {
	Reception
	Accepted bool // the block belongs to the newest delivery; it may be a duplicate
}

// ReceiveBlock handles one datagram, which may be any bytes: it finds or creates the decoder of the
// epoch, and adds the block to the newest delivery. The file is decoded later, by Unpack.
func (f *FileReceiver) ReceiveBlock(datagram []byte) BlockReception {
	h, part, err := parseHeader(datagram, f.refCount)
	if err != nil {
		return BlockReception{Reception: Reception{Outcome: Corrupt, Err: err}}
	}
	rx, d := f.findDecoder(&h)
	out := BlockReception{Reception: rx}
	switch {
	case d == nil:
	case f.file != nil && d.epoch < f.epoch:
		out.Outcome = Stale // a block of an earlier delivery
	default:
		f.acceptBlock(&out, d, uint16(h.seq), part)
	}
	return out
}

// acceptBlock adds a block to the newest delivery and sets the fields of out. A block of a newer
// epoch begins a delivery, and so does one with other parameters for the newest epoch. d is the decoder of
// the block's epoch, seq has the low bits of the sequence number.
func (f *FileReceiver) acceptBlock(out *BlockReception, d *epochDecoder, seq uint16, part []byte) {
	file := f.file
	if file == nil || d.epoch > f.epoch || out.Fresh && d.epoch == f.newestEpoch {
		file = newIncomingFile()
	}
	number, body, ok := file.in.PartIn(part)
	before := file.in.Parts()
	err := fmt.Errorf("%w: a block of %d bytes", ErrMalformed, len(part))
	if ok {
		err = file.in.AcceptContainer(&container.Opened{Number: seq, Messages: part})
	}
	if err == nil {
		err = file.err
	}
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return
	}
	f.accept(&out.Reception, d)
	f.file, f.epoch = file, d.epoch
	out.Accepted = true
	if file.in.Parts() == before {
		out.Outcome = Duplicate
		return
	}
	block := f.coder.Decoded()
	block.Tick, block.Body = uint32(number), append(block.Body[:0], body...)
	out.Frame = block
}

// Label returns the label of the newest delivery, if all its blocks have arrived, and its epoch.
func (f *FileReceiver) Label() (label Label, epoch uint64, isComplete bool) {
	if f.file == nil || f.file.err != nil || f.file.labelBytes == 0 || f.file.missing() > 0 {
		return label, 0, false
	}
	return f.file.label, f.epoch, true
}

// Unpack decodes the new file from the packed file and old, the old file. All blocks must have
// arrived. The caller compares the result with the label.
func (f *FileReceiver) Unpack(old *frame.Frame) (*frame.Frame, error) {
	var unpacked frame.Frame
	packed := f.file.bytes[f.file.labelBytes:]
	_, err := f.epochs[f.epoch%StoredEpochs].dec.Decode(&unpacked, packed, []encoders.Ref{{Frame: old}}, nil)
	return &unpacked, err
}

// AppendBlockAck appends an ack of the blocks to dst. It appends nothing until a block was accepted.
func (f *FileReceiver) AppendBlockAck(dst []byte) []byte {
	if f.file == nil {
		return dst
	}
	return f.file.in.AppendAck(append(dst, uint8(f.epoch)))
}

// AckSize returns the size in bytes of an ack.
func (f *FileReceiver) AckSize() int { return fileAckBytes }
