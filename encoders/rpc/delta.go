package rpc

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/bitio"
)

// Delta sends what changed since a call that the server has: vectors of floats as
// the rounded difference (three floats in a row make a vector), the other fields
// XORed and run-length coded. Where there is no such call, or a difference is out
// of range, or nothing is gained, the call goes in full.
func Delta() encoders.Codec {
	return encoders.Codec{
		ID: 25, Name: "rpc-delta", Refs: 1, Quantises: true, Suits: suits,
		Summary: "differences: vectors quantised to tenths, the rest XORed and run-length coded",
		Source:  source + "; NetQuantize10: Unreal Engine, Epic Games",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return newDelta(s), newDelta(s), nil
		},
	}
}

type delta struct {
	schema    *frame.Schema
	cols      []field
	vectors   [][]int // fields of each vector, up to three
	rest      []int   // the other fields
	restBytes int
	full      int // bits of a call in full

	diffs     []vector // of the call at hand
	cur, base []byte   // the other fields, packed
	runs      []byte
}

func newDelta(s *frame.Schema) *delta {
	x := &delta{schema: s, cols: columns(s)}
	x.full = fullBits(x.cols)
	n := uint(0)
	for i := range x.cols {
		if !x.cols[i].float {
			x.rest, n = append(x.rest, i), n+x.cols[i].Width
			continue
		}
		if last := len(x.vectors) - 1; last >= 0 && len(x.vectors[last]) < vectorSize && i > 0 && x.cols[i-1].float {
			x.vectors[last] = append(x.vectors[last], i)
		} else {
			x.vectors = append(x.vectors, []int{i})
		}
	}
	x.restBytes = int(n+7) / 8
	x.diffs = make([]vector, len(x.vectors))
	return x
}

// Encode implements encoders.Encoder.
func (x *delta) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := check(x.schema, x.cols, cur); err != nil {
		return dst, nil, err
	}
	before, start := b.Total(), len(dst)
	var w bitio.Writer
	w.Reset(dst)
	base := refs[0].Frame
	relative := x.differ(cur, base)
	if !blank(base) {
		w.Bits(flag(relative), 1)
		b.Bits(encoders.SlotFlags, 1)
	}
	if relative {
		x.write(&w, b)
		x.rebuild(cur, base)
	} else {
		writeFull(&w, x.cols, cur, b)
	}
	dst = w.Bytes()
	b.Close(before, len(dst)-start)
	return dst, nil, nil
}

// blank reports whether a call is the one that both ends begin with: all zeros,
// which is no baseline.
func blank(f *frame.Frame) bool {
	for _, v := range f.Table {
		if v != 0 {
			return false
		}
	}
	return true
}

// differ prepares the differences and reports whether they are to be sent.
func (x *delta) differ(cur, base *frame.Frame) bool {
	if blank(base) {
		return false
	}
	total := 0
	for n, fields := range x.vectors {
		v := &x.diffs[n]
		*v = vector{}
		for c, i := range fields {
			var ok bool
			v[c], ok = round(float32(float(cur.Table[i]) - float(base.Table[i])))
			if !ok {
				return false
			}
		}
		total += v.bitsOf()
	}
	x.cur, x.base = x.pack(x.cur[:0], cur), x.pack(x.base[:0], base)
	for i := range x.cur {
		x.cur[i] ^= x.base[i]
	}
	x.runs = appendRuns(x.runs[:0], x.cur)
	return total+8*len(x.runs) < x.full
}

// write writes the differences.
func (x *delta) write(w *bitio.Writer, b *encoders.Budget) {
	for n := range x.diffs {
		x.diffs[n].write(w)
		chargeVector(b, x.vectors[n], x.diffs[n].size())
	}
	for _, v := range x.runs {
		w.Bits(uint64(v), 8)
	}
	b.Bits(encoders.SlotTable, 8*len(x.runs))
}

// chargeVector accounts for a vector: the first of its fields pays for what they
// have in common.
func chargeVector(b *encoders.Budget, fields []int, k uint) {
	b.Bits(encoders.FieldSlot(fields[0]), int(sizeBits(k)+(vectorSize-uint(len(fields)))*(k+2)))
	for _, i := range fields {
		b.Bits(encoders.FieldSlot(i), int(k+2))
	}
}

// rebuild sets the floats of f to what the differences make of base.
func (x *delta) rebuild(f, base *frame.Frame) {
	for n, fields := range x.vectors {
		for c, i := range fields {
			v := float32(float(base.Table[i]) + unround(x.diffs[n][c]))
			f.Table[i] = int32(math.Float32bits(v))
		}
	}
}

// Decode implements encoders.Decoder.
func (x *delta) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	var r bitio.Reader
	r.Reset(src)
	base := refs[0].Frame
	if blank(base) || r.Bits(1) == 0 {
		if err := readFull(&r, x.schema, x.cols, dst); err != nil {
			return nil, err
		}
		return nil, ended(r.Close(), bitio.ErrShort)
	}
	for n := range x.diffs {
		if !x.diffs[n].read(&r) {
			return nil, ended(bitio.ErrTrailing, bitio.ErrShort)
		}
	}
	if err := x.readRest(&r, dst, base); err != nil {
		return nil, err
	}
	x.rebuild(dst, base)
	dst.Body = dst.Body[:0]
	return nil, ended(r.Close(), bitio.ErrShort)
}

// readRest reads the fields that are no floats.
func (x *delta) readRest(r *bitio.Reader, dst, base *frame.Frame) error {
	x.base = x.pack(x.base[:0], base)
	x.cur = append(x.cur[:0], x.base...)
	if err := fillRuns(x.cur, func() byte { return byte(r.Bits(8)) }); err != nil {
		return err
	}
	for i := range x.cur {
		x.cur[i] ^= x.base[i]
	}
	return x.unpack(dst)
}

// pack appends the fields that are no floats, in the bits they have.
func (x *delta) pack(dst []byte, f *frame.Frame) []byte {
	var w bitio.Writer
	w.Reset(dst)
	for _, i := range x.rest {
		w.Bits(uint64(x.cols[i].Raw(f.Table[i])), x.cols[i].Width)
	}
	return w.Bytes()
}

// unpack is the inverse of pack, from x.cur.
func (x *delta) unpack(f *frame.Frame) error {
	var r bitio.Reader
	r.Reset(x.cur)
	for _, i := range x.rest {
		raw := uint32(r.Bits(x.cols[i].Width))
		if raw > x.cols[i].Span {
			return outOfRange(x.schema, i)
		}
		f.Table[i] = x.cols[i].Value(raw)
	}
	return ended(r.Close(), bitio.ErrShort)
}

func float(bits int32) float32 { return math.Float32frombits(uint32(bits)) }

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
