package walkoff

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Delay is the distance in frames from a snapshot to its baseline. At 60 Hz it is the
// tenth of a second that the walk-off assumes for a round trip.
const Delay = 6

// chain is the state of one end: for each residue class n mod 6 the newest frame, and
// the memo that the codec attached to it.
type chain struct {
	ref   [1]encoders.Ref
	links [Delay]link
}

// link is one residue class. The two frames are swapped at every step, so that
// nothing is allocated.
type link struct {
	held, next frame.Frame
	memo       encoders.Memo // of held; nil while held is the initial state
	spare      encoders.Memo // memo of the frame before held, for reuse
}

// newChain returns the state of an end that holds only the initial state.
func newChain(s *frame.Schema, initial *frame.Frame) *chain {
	c := &chain{}
	for i := range c.links {
		l := &c.links[i]
		l.held.CopyFrom(initial)
		l.held.Tick = uint32(i)
		l.next = *s.NewFrame()
	}
	return c
}

// baseline returns the references for frame n: frame n-6 and its memo.
func (c *chain) baseline(n int) []encoders.Ref {
	l := &c.links[n%Delay]
	c.ref[0] = encoders.Ref{Frame: &l.held, Memo: l.memo}
	return c.ref[:]
}

// advance makes next the held frame, with its memo.
func (l *link) advance(memo encoders.Memo) {
	l.held, l.next = l.next, l.held
	l.spare, l.memo = l.memo, memo
}

// sender is the encoding end.
type sender struct {
	*chain
	enc encoders.Encoder
}

// encode appends the packet of frame n to dst. It does not modify src: the encoder
// gets a copy, which a codec that quantises may rewrite.
func (s *sender) encode(dst []byte, n int, src *frame.Frame) ([]byte, error) {
	l := &s.links[n%Delay]
	l.next.CopyFrom(src)
	l.next.Tick = uint32(n)
	dst, memo, err := s.enc.Encode(dst, &l.next, s.baseline(n), l.spare, nil)
	if err != nil {
		return dst, err
	}
	l.advance(memo)
	return dst, nil
}

// receiver is the decoding end.
type receiver struct {
	*chain
	dec encoders.Decoder
}

// decode decodes the packet of frame n. The result belongs to the chain and is valid
// until frame n+6 is decoded.
func (r *receiver) decode(n int, packet []byte) (*frame.Frame, error) {
	l := &r.links[n%Delay]
	l.next.Tick = uint32(n)
	memo, err := r.dec.Decode(&l.next, packet, r.baseline(n), l.spare)
	if err != nil {
		return nil, err
	}
	l.next.Tick = uint32(n) // a decoder may have copied its reference's tick
	l.advance(memo)
	return &l.held, nil
}

// newEndpoints returns a new sender and receiver of codec with its default params.
func newEndpoints(codec *encoders.Codec, s *frame.Schema, initial *frame.Frame) (*sender, *receiver, error) {
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		return nil, nil, err
	}
	return &sender{newChain(s, initial), enc}, &receiver{newChain(s, initial), dec}, nil
}
