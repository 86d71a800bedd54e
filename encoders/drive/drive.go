// Package drive calls the encoder and the decoder of a codec. It stores the frames that packets may refer
// to, with their memos, encodes frames against them, and decodes packets. The endpoints of a session add
// packet headers and acks. Scoring and plugin checks use a Pair with their own rules for what is
// sent, lost and referred to.
package drive

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// Probe is called before and after each call of a codec, to measure or observe it. It must neither keep nor
// modify its arguments.
type Probe interface {
	// Begin is called immediately before the codec. cur is the frame to encode, nil for a decoder; refs
	// are the references, newest first.
	Begin(cur *frame.Frame, refs []encoders.Ref)
	// End is called immediately after the codec.
	End()
}

// End is the state that the sender or the receiver of a codec keeps between packets: the newest frames,
// sent or decoded, each with the memo that the codec attached to it.
type End struct {
	History *frame.History // by the sequence number of their packets
	Probe   Probe          // observes the calls of the codec; nil if none
	Defer   bool           // work that only memos need is left to Finish, if the codec can defer it

	cells      int               // values of a frame's table
	initial    frame.Frame       // shares its table with the caller of NewEnd
	refs       [2]encoders.Ref   // memory for the results of Initial and Refs
	spare      encoders.Memo     // a memo that left the history and that a codec may overwrite; nil if none
	spareEpoch uint64            // the epoch in which spare was made
	scratch    frame.Frame       // the frame decoded last, until StoreDecoded
	deferred   encoders.Finisher // has work left for Finish; nil if not
}

// NewEnd returns an End with history h, for frames of schema s. It shares the table of initial, the frame
// that both endpoints begin with, which must not be modified.
func NewEnd(s *frame.Schema, initial *frame.Frame, h *frame.History) End {
	return End{History: h, cells: s.Cells(), initial: *initial}
}

// Initial returns the initial state as the only reference, with the given tick. The result is valid until
// the next call of Initial or Refs.
func (e *End) Initial(tick uint32) []encoders.Ref {
	e.initial.Tick = tick
	e.refs[0] = encoders.Ref{Frame: &e.initial}
	return e.refs[:1]
}

// Refs returns references to at most two frames of the history, newest first, for a codec of the given
// epoch. Memos of other epochs are left out, because another codec may have made them. The result is valid
// until the next call of Initial or Refs.
func (e *End) Refs(epoch uint64, entries ...*frame.Entry) []encoders.Ref {
	for i, entry := range entries {
		e.refs[i] = encoders.Ref{Frame: &entry.Frame}
		if entry.Epoch == epoch {
			e.refs[i].Memo = entry.Memo
		}
	}
	return e.refs[:len(entries)]
}

// Put returns the history's entry for packet seq, to be filled in, or nil if the packet is too old. The
// memo of the entry's previous frame becomes the spare memo.
func (e *End) Put(seq, epoch uint64) *frame.Entry {
	entry := e.History.Put(seq)
	if entry == nil {
		return nil
	}
	if entry.Memo != nil { // of the frame that the entry held before
		e.spare, e.spareEpoch = entry.Memo, entry.Epoch
	}
	entry.Memo, entry.Epoch = nil, epoch
	return entry
}

// DropSpare drops the spare memo, which a codec would otherwise overwrite. Call it if another codec than the one
// that made the memo may have the same epoch.
func (e *End) DropSpare() { e.spare = nil }

// SetSpare makes memo, which was made in the given epoch and is no longer used, the spare memo.
func (e *End) SetSpare(memo encoders.Memo, epoch uint64) { e.spare, e.spareEpoch = memo, epoch }

// takeSpareMemo removes and returns the spare memo; nil without one of the given epoch.
func (e *End) takeSpareMemo(epoch uint64) (spare encoders.Memo) {
	if e.spareEpoch == epoch {
		spare, e.spare = e.spare, nil
	}
	return spare
}

// begin prepares a call of a codec, an encoder or a decoder: it requests that work is deferred, if e.Defer is set,
// and calls the probe with cur and refs. It returns the codec if it defers work to Finish, otherwise nil.
func (e *End) begin(codec any, cur *frame.Frame, refs []encoders.Ref) (finisher encoders.Finisher) {
	if f, ok := codec.(encoders.Finisher); ok && e.Defer {
		f.Defer()
		finisher = f
	}
	if e.Probe != nil {
		e.Probe.Begin(cur, refs)
	}
	return finisher
}

// Encode appends to dst the packet of the frame in entry, which Put returned, and attaches the memo to the
// entry. It charges the bits to b, which may be nil. A codec that quantises rewrites the frame.
func (e *End) Encode(enc encoders.Encoder, dst []byte, entry *frame.Entry, refs []encoders.Ref, b *encoders.Budget) ([]byte, error) {
	finisher := e.begin(enc, &entry.Frame, refs)
	dst, memo, err := enc.Encode(dst, &entry.Frame, refs, e.takeSpareMemo(entry.Epoch), b)
	if e.Probe != nil {
		e.Probe.End()
	}
	if err == nil {
		entry.Memo, e.deferred = memo, finisher
	}
	return dst, err
}

// Decode decodes a packet whose frame has the given tick and epoch, and returns the frame's memo. Decoded
// returns the frame until the next call; StoreDecoded moves it into the history.
func (e *End) Decode(dec encoders.Decoder, tick uint32, epoch uint64, packet []byte, refs []encoders.Ref) (encoders.Memo, error) {
	if e.scratch.Table == nil {
		e.scratch.Table = make([]int32, e.cells)
	}
	e.scratch.Tick = tick
	finisher := e.begin(dec, nil, refs) // a decoder has no frame yet
	memo, err := dec.Decode(&e.scratch, packet, refs, e.takeSpareMemo(epoch))
	if e.Probe != nil {
		e.Probe.End()
	}
	e.scratch.Tick = tick // a decoder may have copied its reference's tick
	if err == nil {
		e.deferred = finisher // nil, or a codec with work left for Finish
	}
	return memo, err
}

// Decoded returns the frame decoded last.
func (e *End) Decoded() *frame.Frame { return &e.scratch }

// StoreDecoded moves the frame decoded last into the history as packet seq, with its memo, and returns its entry.
// It returns nil if the packet is too old.
func (e *End) StoreDecoded(seq, epoch uint64, memo encoders.Memo) *frame.Entry {
	entry := e.Put(seq, epoch)
	if entry != nil {
		entry.Frame, e.scratch = e.scratch, entry.Frame
		entry.Memo = memo
	}
	return entry
}

// Finish does the work that the last Encode or Decode deferred, if any.
func (e *End) Finish() {
	if e.deferred != nil {
		e.deferred.Finish()
		e.deferred = nil
	}
}

// Pair is the encoder and the decoder of a codec, without a network between them. The sequence number of a
// frame is its tick.
type Pair struct {
	Encoder  encoders.Encoder
	Decoder  encoders.Decoder
	Sender   End             // frames encoded, with their memos
	Receiver End             // frames decoded, with their memos
	Clock    wallclock.Clock // times the calls of the codec; nil if they are not timed

	EncodeNS, DecodeNS int64 // durations of the last calls in ns
}

// NewPair returns a pair for a codec with the given parameters. Packets may refer to any of the n frames
// before their own. The receiver's history has one frame less than the sender's, because it decodes
// outside of its history.
func NewPair(codec *encoders.Codec, params any, s *frame.Schema, initial *frame.Frame, n int) (*Pair, error) {
	enc, dec, err := codec.New(s, params)
	if err != nil {
		return nil, err
	}
	return &Pair{Encoder: enc, Decoder: dec,
		Sender:   NewEnd(s, initial, frame.NewHistory(n)),
		Receiver: NewEnd(s, initial, frame.NewHistory(n-1))}, nil
}

// pairEpoch is the epoch of all frames of a Pair, whose codec never changes.
const pairEpoch = 0

// RefsTo returns references to the frames with the given sequence numbers, at most two, newest first. All must
// be in the history, with the epoch of a Pair.
func (e *End) RefsTo(seqs ...uint64) []encoders.Ref {
	var entries [2]*frame.Entry
	for i, seq := range seqs {
		entries[i] = e.History.Get(seq)
	}
	return e.Refs(pairEpoch, entries[:len(seqs)]...)
}

// Encode appends to dst the packet of a copy of cur, which gets the sequence number n. It returns the
// packet and the copy, which a codec that quantises has rewritten.
func (p *Pair) Encode(dst []byte, n int, cur *frame.Frame, refs []encoders.Ref, b *encoders.Budget) ([]byte, *frame.Frame, error) {
	start := p.Clock.Now()
	entry := p.Sender.Put(uint64(n), pairEpoch)
	entry.Copy(cur)
	entry.Frame.Tick = uint32(n)
	dst, err := p.Sender.Encode(p.Encoder, dst, entry, refs, b)
	p.EncodeNS = p.Clock.Now() - start
	return dst, &entry.Frame, err
}

// Decode decodes the packet of frame n and stores the frame in the history. The result is valid until it
// leaves the history.
func (p *Pair) Decode(n int, packet []byte, refs []encoders.Ref) (*frame.Frame, error) {
	start := p.Clock.Now()
	memo, err := p.Receiver.Decode(p.Decoder, uint32(n), pairEpoch, packet, refs)
	p.DecodeNS = p.Clock.Now() - start
	if err != nil {
		return nil, err
	}
	return &p.Receiver.StoreDecoded(uint64(n), pairEpoch, memo).Frame, nil
}
