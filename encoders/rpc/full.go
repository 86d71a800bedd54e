package rpc

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/bitio"
)

// Full sends every field of every call in the bits it has: what the other two are
// measured against, and exact.
func Full() encoders.Codec {
	return encoders.Codec{
		ID: 24, Name: "full", Refs: 1, Standalone: true, Suits: suits,
		Summary: "every field of every call, in the bits it has",
		Source:  source,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			f := &full{schema: s, cols: columns(s)}
			return f, f, nil
		},
	}
}

// full has no state: one serves both ends.
type full struct {
	schema *frame.Schema
	cols   []field
}

// Encode implements encoders.Encoder.
func (x *full) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := check(x.schema, x.cols, cur); err != nil {
		return dst, nil, err
	}
	before, start := b.Total(), len(dst)
	var w bitio.Writer
	w.Reset(dst)
	writeFull(&w, x.cols, cur, b)
	dst = w.Bytes()
	b.Close(before, len(dst)-start)
	return dst, nil, nil
}

// Decode implements encoders.Decoder.
func (x *full) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	var r bitio.Reader
	r.Reset(src)
	if err := readFull(&r, x.schema, x.cols, dst); err != nil {
		return nil, err
	}
	return nil, ended(r.Close(), bitio.ErrShort)
}

// writeFull writes a call that refers to nothing.
func writeFull(w *bitio.Writer, cols []field, f *frame.Frame, b *encoders.Budget) {
	for i := range cols {
		w.Bits(uint64(cols[i].Raw(f.Table[i])), cols[i].Width)
		b.Bits(encoders.FieldSlot(i), int(cols[i].Width))
	}
}

// readFull is the inverse of writeFull.
func readFull(r *bitio.Reader, s *frame.Schema, cols []field, f *frame.Frame) error {
	f.Body = f.Body[:0]
	for i := range cols {
		raw := uint32(r.Bits(cols[i].Width))
		if raw > cols[i].Span {
			return outOfRange(s, i)
		}
		f.Table[i] = cols[i].Value(raw)
	}
	return ended(r.Err(), bitio.ErrShort)
}

// fullBits returns the bits of a call that refers to nothing.
func fullBits(cols []field) int {
	n := 0
	for i := range cols {
		n += int(cols[i].Width)
	}
	return n
}
