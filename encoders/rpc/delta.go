package rpc

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
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
			return newDelta(s, false), newDelta(s, false), nil
		},
	}
}

// delta is either end of full and of rpc-delta.
type delta struct {
	alone   bool // calls go in full
	schema  *frame.Schema
	cols    []field
	vectors [][]int // fields of each vector, up to three
	rest    []int   // the other fields
	full    int     // bits of a call in full

	diffs     []vector // of the call at hand
	cur, base []byte   // the other fields, packed
	runs      []byte
}

func newDelta(s *frame.Schema, alone bool) *delta {
	x := &delta{alone: alone, schema: s, cols: columns(s)}
	for i := range x.cols {
		x.full += int(x.cols[i].Width)
		if !x.cols[i].float {
			x.rest = append(x.rest, i)
			continue
		}
		if last := len(x.vectors) - 1; last >= 0 && len(x.vectors[last]) < vectorSize && i > 0 && x.cols[i-1].float {
			x.vectors[last] = append(x.vectors[last], i)
		} else {
			x.vectors = append(x.vectors, []int{i})
		}
	}
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
	relative := !x.alone && x.differ(cur, refs[0].Frame)
	if !x.alone && !blank(refs[0].Frame) {
		w.Bits(uint64(rangecoder.Flag(relative)), 1)
		b.Bits(encoders.SlotFlags, 1)
	}
	if relative {
		x.write(&w, b)
		x.rebuild(cur, refs[0].Frame)
	} else {
		for i := range x.cols {
			w.Bits(uint64(x.cols[i].Raw(cur.Table[i])), x.cols[i].Width)
			b.Bits(encoders.FieldSlot(i), int(x.cols[i].Width))
		}
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
	dst.Body = dst.Body[:0]
	if x.alone || blank(refs[0].Frame) || r.Bits(1) == 0 {
		for i := range x.cols {
			raw := uint32(r.Bits(x.cols[i].Width))
			if raw > x.cols[i].Span {
				return nil, outOfRange(x.schema, i)
			}
			dst.Table[i] = x.cols[i].Value(raw)
		}
		return nil, ended(cmp.Or(r.Err(), r.Close()), bitio.ErrShort)
	}
	base := refs[0].Frame
	for n := range x.diffs {
		if !x.diffs[n].read(&r) {
			return nil, ended(bitio.ErrTrailing, bitio.ErrShort)
		}
	}
	if err := x.readRest(&r, dst, base); err != nil {
		return nil, err
	}
	x.rebuild(dst, base)
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

// UE's FVector_NetQuantize10: vectors of three floats, rounded to tenths, all three
// in as many bits as the largest needs (WritePackedVector<10, 24>, Epic Games). The
// bits are those that UE writes, least significant first.
const (
	quantum    = 10 // steps a unit
	mostBits   = 24 // of a component, which bounds it to +-1,677,721.5
	vectorSize = 3  // components
)

// vector is three components, rounded.
type vector [vectorSize]int32

// round returns v in tenths, rounded as UE does it: half up, in float32. ok is false
// for what is no number or needs more than mostBits.
func round(v float32) (i int32, ok bool) {
	x := float32(v * quantum)
	x = float32(x + 0.5)
	x = float32(math.Floor(float64(x)))
	const limit = 1 << mostBits
	if !(x > -limit && x < limit) {
		return 0, false
	}
	return int32(x), true
}

// unround returns the float that i tenths stand for.
func unround(i int32) float32 { return float32(float32(i) / quantum) }

// size returns the number k by which the vector states its width: each component
// takes k+2 bits.
func (v *vector) size() uint {
	most := uint32(0)
	for _, i := range v {
		most = max(most, uint32(max(i, -i)))
	}
	// ceil(log2(1+most)) is the number of bits of most.
	return uint(min(max(bits.Len32(most), 1), mostBits)) - 1
}

// sizeBits returns the bits in which k travels: a number below 24, of which the
// fifth bit is known if the other four leave no room for it.
func sizeBits(k uint) uint {
	if k&15 >= mostBits-16 {
		return 4
	}
	return 5
}

// bitsOf returns how many bits the vector takes.
func (v *vector) bitsOf() int {
	k := v.size()
	return int(sizeBits(k) + vectorSize*(k+2))
}

// write writes the vector.
func (v *vector) write(w *bitio.Writer) {
	k := v.size()
	w.Bits(uint64(k), sizeBits(k))
	for _, i := range v {
		w.Bits(uint64(i+1<<(k+1)), k+2)
	}
}

// read reads a vector; not ok if no writer would have put it so.
func (v *vector) read(r *bitio.Reader) (ok bool) {
	k := uint(r.Bits(4))
	if sizeBits(k) == 5 {
		k |= uint(r.Bits(1)) << 4
	}
	for c := range v {
		v[c] = int32(r.Bits(k+2)) - 1<<(k+1)
	}
	return v.size() == k
}

// The source's run-length code: a byte L up to mostRun means that the next byte
// comes L times; one above it, that L-128 literal bytes follow.
const (
	mostRun     = 128
	mostLiteral = 127
	leastRun    = 3 // shorter ones gain nothing among literals
)

// appendRuns appends src, run-length coded, to dst.
func appendRuns(dst, src []byte) []byte {
	for len(src) > 0 {
		if n := runAt(src); n >= leastRun || n == len(src) {
			n = min(n, mostRun)
			dst, src = append(dst, byte(n), src[0]), src[n:]
			continue
		}
		n := literalAt(src)
		dst, src = append(append(dst, byte(mostRun+n)), src[:n]...), src[n:]
	}
	return dst
}

// runAt returns how often the first byte of src is repeated there.
func runAt(src []byte) int {
	n := 1
	for n < len(src) && src[n] == src[0] {
		n++
	}
	return n
}

// literalAt returns how many bytes come before the next run that is worth it.
func literalAt(src []byte) int {
	n := 0
	for n < len(src) && n < mostLiteral && runAt(src[n:]) < leastRun {
		n++
	}
	return n
}

// fillRuns fills dst from what next yields of run-length code, which must give
// exactly that many bytes.
func fillRuns(dst []byte, next func() byte) error {
	for at := 0; at < len(dst); {
		l := int(next())
		literal := l > mostRun
		if literal {
			l -= mostRun
		}
		if l == 0 || l > len(dst)-at {
			return fmt.Errorf("rpc: run of %d bytes where %d are left: %w", l, len(dst)-at, encoders.ErrCorrupt)
		}
		if literal {
			for range l {
				dst[at] = next()
				at++
			}
			continue
		}
		for v := next(); l > 0; l-- {
			dst[at] = v
			at++
		}
	}
	return nil
}
