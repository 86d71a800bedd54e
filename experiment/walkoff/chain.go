package walkoff

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Delay is the distance in frames from a snapshot to its baseline. At 60 Hz it is the
// tenth of a second that the walk-off assumes for a round trip.
const Delay = 6

// Back says how many frames before each frame its baseline lies.
type Back int

// Own is the frame that the game itself referred to when it sent the frame, where a demo tells.
const Own Back = -1

// MostBack is the most frames that a baseline lies back: what a header's distance can tell.
const MostBack = frame.MaxHistory

// chain is the state of one end: the last frames, with the memos that the codec attached to them.
type chain struct {
	ref     [1]encoders.Ref
	initial frame.Frame
	links   []link // by number; each round overwrites the oldest
}

// link is a frame and its memo.
type link struct {
	frame frame.Frame
	memo  encoders.Memo
}

// newChain returns the state of an end that holds only the initial state. It keeps frames as long
// as back asks for.
func newChain(s *frame.Schema, initial *frame.Frame, back Back) *chain {
	c := &chain{links: make([]link, 1+int(back))}
	if back == Own {
		c.links = make([]link, 1+MostBack)
	}
	c.initial.CopyFrom(initial)
	for i := range c.links {
		c.links[i].frame.Table = make([]int32, 0, s.Cells())
	}
	return c
}

// baseline returns the references for frame n: the frame that many before it, with its memo. In
// front of frame 6, and for 0, that is the initial state.
func (c *chain) baseline(n, back int) []encoders.Ref {
	if back == 0 || n-back < Delay {
		c.initial.Tick = uint32(max(n-back, 0))
		c.ref[0] = encoders.Ref{Frame: &c.initial}
		return c.ref[:]
	}
	l := &c.links[(n-back)%len(c.links)]
	c.ref[0] = encoders.Ref{Frame: &l.frame, Memo: l.memo}
	return c.ref[:]
}

// next returns where frame n is to be put, in place of one that nobody refers to any more. Its memo
// is for reuse.
func (c *chain) next(n int) *link {
	l := &c.links[n%len(c.links)]
	l.frame.Tick = uint32(n)
	return l
}

// sender is the encoding end.
type sender struct {
	*chain
	enc encoders.Encoder
}

// encode appends the packet of frame n to dst. It does not modify src: the encoder
// gets a copy, which a codec that quantises may rewrite.
func (s *sender) encode(dst []byte, n, back int, src *frame.Frame) (_ []byte, err error) {
	l := s.next(n)
	l.frame.CopyFrom(src)
	l.frame.Tick = uint32(n)
	dst, l.memo, err = s.enc.Encode(dst, &l.frame, s.baseline(n, back), l.memo, nil)
	return dst, err
}

// receiver is the decoding end.
type receiver struct {
	*chain
	dec encoders.Decoder
}

// decode decodes the packet of frame n. The result belongs to the chain and is valid
// until it is overwritten.
func (r *receiver) decode(n, back int, packet []byte) (_ *frame.Frame, err error) {
	l := r.next(n)
	l.frame.Table = l.frame.Table[:cap(l.frame.Table)]
	if l.memo, err = r.dec.Decode(&l.frame, packet, r.baseline(n, back), l.memo); err != nil {
		return nil, err
	}
	l.frame.Tick = uint32(n) // a decoder may have copied its reference's tick
	return &l.frame, nil
}

// newEndpoints returns a new sender and receiver of codec with its default params.
func newEndpoints(codec *encoders.Codec, s *frame.Schema, initial *frame.Frame, back Back) (*sender, *receiver, error) {
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		return nil, nil, err
	}
	return &sender{newChain(s, initial, back), enc}, &receiver{newChain(s, initial, back), dec}, nil
}
