// Package drive runs the two ends of a codec: it keeps the frames that both ends may refer to,
// with their memos, encodes against them, and decodes from the packet alone. The endpoints of a
// session add packet headers and acks to it; scoring, savings and checks of plugins add rules of
// their own for what is sent, lost and referred to.
package drive

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// Probe is called before and after each call of a codec, to time or to observe it. It must
// neither keep nor modify its arguments.
type Probe interface {
	// Begin is called right before the codec. cur is the frame to encode, nil at a receiver; refs
	// are the references, newest first.
	Begin(cur *frame.Frame, refs []encoders.Ref)
	// End is called right after the codec.
	End()
}

// End is what one end of a codec keeps between packets: the newest frames, sent or decoded, each
// with the memo that the codec attached to it.
type End struct {
	History *frame.History
	Probe   Probe // nil: none
	Defer   bool  // the codec leaves what work it can to Finish

	cells      int         // of a frame
	initial    frame.Frame // its table is shared
	refs       [2]encoders.Ref
	spare      encoders.Memo // left the history, for reuse
	spareEpoch uint64        // the epoch in which spare was made
	scratch    frame.Frame   // what was decoded last, until Keep
	deferred   encoders.Finisher
}

// NewEnd returns an end with that history, for frames of schema s. It shares the table of initial,
// the state that both ends begin with, which must not be modified.
func NewEnd(s *frame.Schema, initial *frame.Frame, h *frame.History) End {
	return End{History: h, cells: s.Cells(), initial: *initial}
}

// Initial returns the reference to the initial state, as of a tick. It is valid until the next call
// of Initial or Refs.
func (e *End) Initial(tick uint32) []encoders.Ref {
	e.initial.Tick = tick
	e.refs[0] = encoders.Ref{Frame: &e.initial}
	return e.refs[:1]
}

// Refs returns references to at most two frames of the history, newest first, for a codec of that
// epoch: memos of other epochs are left out. It is valid until the next call of Initial or Refs.
func (e *End) Refs(epoch uint64, entries ...*frame.Entry) []encoders.Ref {
	for i, x := range entries {
		e.refs[i] = encoders.Ref{Frame: &x.Frame}
		if x.Epoch == epoch {
			e.refs[i].Memo = x.Memo
		}
	}
	return e.refs[:len(entries)]
}

// Put claims the history's entry for packet seq, without a memo; nil if the packet is too old.
// The memo that leaves the history there is kept for reuse.
func (e *End) Put(seq, epoch uint64) *frame.Entry {
	x := e.History.Put(seq)
	if x == nil {
		return nil
	}
	if x.Memo != nil {
		e.spare, e.spareEpoch = x.Memo, x.Epoch
	}
	x.Memo, x.Epoch = nil, epoch
	return x
}

// DropSpare drops the memo for reuse: a codec other than the one that made it has its epoch.
func (e *End) DropSpare() { e.spare = nil }

// takeSpare returns a memo for reuse by a codec of that epoch, if any.
func (e *End) takeSpare(epoch uint64) (spare encoders.Memo) {
	if e.spareEpoch == epoch {
		spare, e.spare = e.spare, nil
	}
	return spare
}

// begin prepares a call of a codec, and returns the work that it will leave to Finish, if any.
func (e *End) begin(codec any, cur *frame.Frame, refs []encoders.Ref) (later encoders.Finisher) {
	if f, ok := codec.(encoders.Finisher); ok && e.Defer {
		f.Defer()
		later = f
	}
	if e.Probe != nil {
		e.Probe.Begin(cur, refs)
	}
	return later
}

// Encode appends to dst the packet of the frame in x, an entry that Put returned, and attaches its
// memo. It charges the bits to b, which may be nil. A codec that quantises rewrites the frame.
func (e *End) Encode(enc encoders.Encoder, dst []byte, x *frame.Entry, refs []encoders.Ref, b *encoders.Budget) ([]byte, error) {
	later := e.begin(enc, &x.Frame, refs)
	dst, memo, err := enc.Encode(dst, &x.Frame, refs, e.takeSpare(x.Epoch), b)
	if e.Probe != nil {
		e.Probe.End()
	}
	if err == nil {
		x.Memo, e.deferred = memo, later
	}
	return dst, err
}

// Decode decodes a packet of that epoch, whose frame is of that tick. The frame is in Decoded until
// the next call; Keep moves it into the history.
func (e *End) Decode(dec encoders.Decoder, tick uint32, epoch uint64, packet []byte, refs []encoders.Ref) (encoders.Memo, error) {
	if e.scratch.Table == nil {
		e.scratch.Table = make([]int32, e.cells)
	}
	e.scratch.Tick = tick
	later := e.begin(dec, nil, refs)
	memo, err := dec.Decode(&e.scratch, packet, refs, e.takeSpare(epoch))
	if e.Probe != nil {
		e.Probe.End()
	}
	e.scratch.Tick = tick // a decoder may have copied its reference's tick
	if err == nil {
		e.deferred = later
	}
	return memo, err
}

// Decoded returns what was decoded last.
func (e *End) Decoded() *frame.Frame { return &e.scratch }

// Keep moves what was decoded last into the history, with its memo, and returns its entry; nil if
// the packet is too old.
func (e *End) Keep(seq, epoch uint64, memo encoders.Memo) *frame.Entry {
	x := e.Put(seq, epoch)
	if x != nil {
		x.Frame, e.scratch = e.scratch, x.Frame
		x.Memo = memo
	}
	return x
}

// Finish does the work that the last Encode or Decode left, if Defer is set.
func (e *End) Finish() {
	if e.deferred != nil {
		e.deferred.Finish()
		e.deferred = nil
	}
}

// Pair is both ends of a codec without a network between them. Frames are numbered by their ticks.
type Pair struct {
	Schema   *frame.Schema
	Encoder  encoders.Encoder
	Decoder  encoders.Decoder
	Sender   End
	Receiver End
	Clock    wallclock.Clock // times the calls of the codec; nil: no timings

	EncodeNS, DecodeNS int64 // duration of the last call
}

// NewPair returns the ends of a codec. Packets may refer to any of the n frames before theirs. The
// receiver decodes outside its history, which therefore keeps one frame less than the sender's.
func NewPair(codec *encoders.Codec, params any, s *frame.Schema, initial *frame.Frame, n int) (*Pair, error) {
	enc, dec, err := codec.New(s, params)
	if err != nil {
		return nil, err
	}
	return &Pair{Schema: s, Encoder: enc, Decoder: dec,
		Sender:   NewEnd(s, initial, frame.NewHistory(s, n)),
		Receiver: NewEnd(s, initial, frame.NewHistory(s, n-1))}, nil
}

// To returns references to the frames with these numbers, newest first. All must be in the history.
func (e *End) To(seqs ...uint64) []encoders.Ref {
	var entries [2]*frame.Entry
	for i, seq := range seqs {
		entries[i] = e.History.Get(seq)
	}
	return e.Refs(0, entries[:len(seqs)]...)
}

// Encode appends to dst the packet of a copy of frame cur, which becomes number n, and returns the
// copy. A codec that quantises has rewritten it.
func (p *Pair) Encode(dst []byte, n int, cur *frame.Frame, refs []encoders.Ref, b *encoders.Budget) ([]byte, *frame.Frame, error) {
	start := p.Clock.Now()
	x := p.Sender.Put(uint64(n), 0)
	x.Copy(cur)
	x.Frame.Tick = uint32(n)
	dst, err := p.Sender.Encode(p.Encoder, dst, x, refs, b)
	p.EncodeNS = p.Clock.Now() - start
	return dst, &x.Frame, err
}

// Decode decodes the packet of frame n and keeps the frame. The result is valid until it leaves the
// history.
func (p *Pair) Decode(n int, packet []byte, refs []encoders.Ref) (*frame.Frame, error) {
	start := p.Clock.Now()
	memo, err := p.Receiver.Decode(p.Decoder, uint32(n), 0, packet, refs)
	p.DecodeNS = p.Clock.Now() - start
	if err != nil {
		return nil, err
	}
	return &p.Receiver.Keep(uint64(n), 0, memo).Frame, nil
}
