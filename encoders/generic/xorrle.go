package generic

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// XorRLE returns the codec xor-rle: the frame's bytes are XORed with the baseline's, which leaves
// zeros where nothing changed. A packet is a sequence of tokens: the number of zeros (a varint),
// the number of literal bytes that follow (a varint) and those bytes. Zeros at the end of the table
// are omitted if there is no body; the last token of a body may consist of zeros only.
func XorRLE() encoders.Codec {
	return encoders.Codec{
		ID: 64, Name: "xor-rle", Refs: 1, Suits: suits,
		Summary: "bytes XORed with those of the baseline; each run of zeros is coded as its length",
		Source:  "own, after the byte runs of High-frequency upstream RPC, 2023",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return &xorRLE{layout: newLayout(s)}, &xorRLE{layout: newLayout(s)}, nil
		},
	}
}

// suits reports whether frames fit in packets: all schemas except files.
func suits(s *frame.Schema) bool { return s.Delivery != frame.Reliable }

// minRun is the shortest run of zeros that gets its own token, because the counts of a token take at least two bytes.
// Fewer zeros are literals.
var minRun = make([]byte, 3)

// An xorRLE is the encoder or the decoder of xor-rle.
type xorRLE struct {
	layout     *layout
	diff, base []byte // buffers that are reused
}

// Encode implements encoders.Encoder: it writes a token for each run of zeros in the XOR of both frames and the
// literals after it. See XorRLE for the format.
func (x *xorRLE) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	var err error
	if x.diff, err = x.layout.pack(x.diff[:0], cur); err != nil {
		return dst, nil, err
	}
	x.base = x.layout.packBaseline(x.base, refs)
	diff := x.diff
	subtle.XORBytes(diff, diff, x.base) // bytes beyond the end of the baseline count as zeros
	changed := bytes.TrimRight(diff, "\x00")
	for begin := 0; begin < len(changed); {
		rest := bytes.TrimLeft(changed[begin:], "\x00")
		literals, _, _ := bytes.Cut(rest, minRun)
		literalsBegin := len(changed) - len(rest)
		literalsEnd := literalsBegin + len(literals)
		start := len(dst)
		dst = binary.AppendUvarint(dst, uint64(literalsBegin-begin))
		dst = binary.AppendUvarint(dst, uint64(len(literals)))
		dst = append(dst, literals...)
		x.charge(b, begin, literalsBegin, literalsEnd, len(dst)-start)
		begin = literalsEnd
	}
	if len(diff) > x.layout.size && len(diff) > len(changed) { // the end of a body equals the baseline's
		start := len(dst)
		dst = binary.AppendUvarint(dst, uint64(len(diff)-len(changed)))
		x.charge(b, len(changed), len(diff), len(diff), len(dst)-start)
	}
	return dst, nil, nil
}

// charge charges a token of n bytes that begins at offset begin: the literals to their fields, the
// counts to the field in which the token begins.
func (x *xorRLE) charge(b *encoders.Budget, begin, literalsBegin, literalsEnd, n int) {
	b.SetRow(encoders.NoRow)
	b.Bits(x.slotOf(begin), 8*(n-(literalsEnd-literalsBegin)))
	for literalsBegin < literalsEnd && b != nil {
		_, end := x.layout.fieldAt(literalsBegin)
		end = min(end, literalsEnd)
		if b.Trace != nil { // a row for each byte
			end = literalsBegin + 1
			b.SetRow(x.layout.rowAt(literalsBegin))
		}
		b.Bits(x.slotOf(literalsBegin), 8*(end-literalsBegin))
		literalsBegin = end
	}
}

// slotOf returns the slot of the byte at offset.
func (x *xorRLE) slotOf(offset int) encoders.Slot {
	if i, _ := x.layout.fieldAt(offset); i >= 0 {
		return encoders.FieldSlot(i)
	}
	return encoders.SlotBody
}

func (x *xorRLE) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	x.base = x.layout.packBaseline(x.base, refs)
	d := x.diff[:0]
	var err error
	for len(src) > 0 {
		if d, src, err = x.readToken(d, src); err != nil {
			return nil, err
		}
	}
	for len(d) < x.layout.size { // omitted zeros at the end of the table
		d = append(d, 0)
	}
	x.diff = d
	subtle.XORBytes(d, d, x.base)
	return nil, x.layout.unpack(dst, d)
}

// readToken appends the bytes of one token to diff, and returns diff and the rest of src. It refuses
// more bytes than the largest frame has.
func (x *xorRLE) readToken(diff, src []byte) (extended, rest []byte, err error) {
	free := uint64(x.layout.size + encoders.MaxBody - len(diff))
	zeros, src, err := readCount(src, free)
	if err != nil {
		return diff, nil, fmt.Errorf("generic: zeros at byte %d: %w", len(diff), err)
	}
	for range zeros {
		diff = append(diff, 0)
	}
	if len(src) == 0 && len(diff) > x.layout.size {
		return diff, nil, nil // a body whose end equals the baseline's
	}
	n, src, err := readCount(src, free-zeros)
	switch {
	case err != nil:
		return diff, nil, fmt.Errorf("generic: literals at byte %d: %w", len(diff), err)
	case n == 0:
		return diff, nil, fmt.Errorf("generic: literals at byte %d: %w: got 0, expected at least 1", len(diff), encoders.ErrCorrupt)
	case n > uint64(len(src)):
		return diff, nil, fmt.Errorf("generic: %d literals at byte %d: %w", n, len(diff), encoders.ErrTruncated)
	}
	return append(diff, src[:n]...), src[n:], nil
}

// readCount reads a varint of at most limit, and returns it and the rest of src.
func readCount(src []byte, limit uint64) (count uint64, rest []byte, err error) {
	v, n := binary.Uvarint(src)
	switch {
	case n == 0:
		return 0, nil, encoders.ErrTruncated
	case n < 0 || v > limit:
		return 0, nil, fmt.Errorf("%w: %d, expected at most %d", encoders.ErrCorrupt, v, limit)
	}
	return v, src[n:], nil
}
