package generic

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// XorRLE sends the frame's bytes XORed with the baseline's, which leaves zeros
// where nothing changed, and spends next to nothing on runs of zeros: the
// number of zeros, the number of bytes that follow, those bytes, and so on. The
// zeros at the end go without saying.
func XorRLE() encoders.Codec {
	return encoders.Codec{
		ID: 64, Name: "xor-rle", Refs: 1, Suits: anySchema,
		Summary: "bytes XORed with the baseline's, runs of zeros as their length",
		Source:  "own, after the byte runs of High-frequency upstream RPC, 2023",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return &xorRLE{layout: newLayout(s)}, &xorRLE{layout: newLayout(s)}, nil
		},
	}
}

// anySchema is any but that of whole files, which fit no packet.
func anySchema(s *frame.Schema) bool { return s.Delivery != frame.Every }

// minRun is the shortest run of zeros that is worth its two counts.
const minRun = 3

type xorRLE struct {
	layout    *layout
	cur, base []byte // memory that is reused
}

// Encode implements encoders.Encoder.
func (x *xorRLE) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	var err error
	if x.cur, err = x.layout.pack(x.cur[:0], cur); err != nil {
		return dst, nil, err
	}
	x.base = x.layout.base(x.base, refs)
	d := xor(x.cur, x.base)
	for at := 0; at < len(d); {
		zeros := zerosAt(d[at:])
		from := at + zeros
		if from == len(d) && from == x.layout.size {
			break // no body: the rest of the table is as it was
		}
		to := from + literals(d[from:])
		start := len(dst)
		dst = binary.AppendUvarint(dst, uint64(zeros))
		if to > from {
			dst = binary.AppendUvarint(dst, uint64(to-from))
			dst = append(dst, d[from:to]...)
		}
		x.charge(b, at, from, to, len(dst)-start)
		at = to
	}
	return dst, nil, nil
}

// charge accounts for a token of n bytes: its literals to the fields they are
// of, its counts to the field in which it begins.
func (x *xorRLE) charge(b *encoders.Budget, at, from, to, n int) {
	b.Bits(x.slot(at), 8*(n-(to-from)))
	for from < to && b != nil {
		_, end := x.layout.fieldAt(from)
		end = min(end, to)
		b.Bits(x.slot(from), 8*(end-from))
		from = end
	}
}

// slot is where the byte at is charged.
func (x *xorRLE) slot(at int) encoders.Slot {
	if i, _ := x.layout.fieldAt(at); i >= 0 {
		return encoders.FieldSlot(i)
	}
	return encoders.SlotBody
}

// xor makes a the difference of a and b; b counts as zeros beyond its end.
func xor(a, b []byte) []byte {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		v := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(a[i:], v)
	}
	for ; i < n; i++ {
		a[i] ^= b[i]
	}
	return a
}

// zerosAt returns how many zeros d begins with.
func zerosAt(d []byte) int {
	n := 0
	for ; n+8 <= len(d) && binary.LittleEndian.Uint64(d[n:]) == 0; n += 8 {
	}
	for ; n < len(d) && d[n] == 0; n++ {
	}
	return n
}

// literals returns how many bytes come before the next run of zeros that is
// worth it, or before the zeros that d ends with.
func literals(d []byte) int {
	n := 0
	for n < len(d) {
		if d[n] != 0 {
			n++
			continue
		}
		if run := zerosAt(d[n:]); run >= minRun || n+run == len(d) {
			break
		} else {
			n += run
		}
	}
	return n
}

// Decode implements encoders.Decoder.
func (x *xorRLE) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	x.base = x.layout.base(x.base, refs)
	d := x.cur[:0]
	var err error
	for len(src) > 0 {
		if d, src, err = x.token(d, src); err != nil {
			return nil, err
		}
	}
	for len(d) < x.layout.size {
		d = append(d, 0)
	}
	x.cur = d
	return nil, x.layout.unpack(dst, xor(d, x.base))
}

// token appends what one token stands for and returns what follows it.
func (x *xorRLE) token(d, src []byte) ([]byte, []byte, error) {
	room := uint64(x.layout.size + encoders.MaxBody - len(d))
	zeros, src, err := count(src, room)
	if err != nil {
		return d, nil, fmt.Errorf("generic: zeros at byte %d: %w", len(d), err)
	}
	for range zeros {
		d = append(d, 0)
	}
	if len(src) == 0 && len(d) > x.layout.size {
		return d, nil, nil // a body that ends as the baseline's does
	}
	n, src, err := count(src, room-zeros)
	switch {
	case err != nil:
		return d, nil, fmt.Errorf("generic: literals at byte %d: %w", len(d), err)
	case n == 0:
		return d, nil, fmt.Errorf("generic: literals at byte %d: %w: none", len(d), encoders.ErrCorrupt)
	case n > uint64(len(src)):
		return d, nil, fmt.Errorf("generic: %d literals at byte %d: %w", n, len(d), encoders.ErrTruncated)
	}
	return append(d, src[:n]...), src[n:], nil
}

// count reads a number of at most most.
func count(src []byte, most uint64) (uint64, []byte, error) {
	v, n := binary.Uvarint(src)
	switch {
	case n == 0:
		return 0, nil, encoders.ErrTruncated
	case n < 0 || v > most:
		return 0, nil, fmt.Errorf("%w: %d, expected at most %d", encoders.ErrCorrupt, v, most)
	}
	return v, src[n:], nil
}
