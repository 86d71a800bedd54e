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

// Delta returns the codec rpc-delta. A packet begins with a flag that selects one of two forms: the differences
// from the baseline, or the full call. The differences are those of the vectors (each up to three consecutive
// floats), rounded, and the run-length coded XOR of the other fields. The full call is sent if a difference is
// out of range or if the full call is not longer than the differences. Without a baseline, a packet is the
// full call without the flag.
func Delta() encoders.Codec {
	return encoders.Codec{
		ID: 25, Name: "rpc-delta", Refs: 1, Quantises: true, Suits: suits,
		Summary: "differences: vectors quantised to tenths, the rest XORed and run-length coded",
		Source:  source + "; NetQuantize10: Unreal Engine, Epic Games",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			const fullOnly = false
			return newDelta(s, fullOnly), newDelta(s, fullOnly), nil
		},
	}
}

// A delta is the encoder or the decoder of full and of rpc-delta.
type delta struct {
	fullOnly bool // the codec is full
	schema   *frame.Schema
	fields   []field
	vectors  [][]int // fields of each vector, up to three
	rest     []int   // the fields that are not floats
	fullBits int     // size of a full call

	diffs              []vector // differences of the current call, by vector
	packed, packedBase []byte   // the fields that are not floats, of the call and of its baseline; see pack
	runs               []byte   // packed, run-length coded
}

// newDelta returns an encoder or a decoder; fullOnly selects the codec full. Up to three consecutive floats are
// a vector.
func newDelta(s *frame.Schema, fullOnly bool) *delta {
	x := &delta{fullOnly: fullOnly, schema: s, fields: describeFields(s)}
	for i := range x.fields {
		x.fullBits += int(x.fields[i].Width)
		if !x.fields[i].isFloat {
			x.rest = append(x.rest, i)
			continue
		}
		if last := len(x.vectors) - 1; last >= 0 && len(x.vectors[last]) < vectorSize && i > 0 && x.fields[i-1].isFloat {
			x.vectors[last] = append(x.vectors[last], i)
		} else {
			x.vectors = append(x.vectors, []int{i})
		}
	}
	x.diffs = make([]vector, len(x.vectors))
	return x
}

// Encode implements encoders.Encoder. See Delta for the format. If it sends differences, it replaces the floats of
// cur by those that the decoder will have.
func (x *delta) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkCall(x.schema, x.fields, cur); err != nil {
		return dst, nil, err
	}
	before, start := b.Total(), len(dst)
	var w bitio.Writer
	w.Reset(dst)
	b.SetRow(0)
	relative := !x.fullOnly && x.computeDelta(cur, refs[0].Frame)
	if !x.fullOnly && !isInitial(refs[0].Frame) {
		w.Bits(uint64(rangecoder.Flag(relative)), 1)
		b.Bits(encoders.SlotFlags, 1)
	}
	if relative {
		x.writeDelta(&w, b)
		x.applyVectors(cur, refs[0].Frame)
	} else {
		for i := range x.fields {
			w.Bits(uint64(x.fields[i].Raw(cur.Table[i])), x.fields[i].Width)
			b.Bits(encoders.FieldSlot(i), int(x.fields[i].Width))
		}
	}
	dst = w.Bytes()
	b.Close(before, len(dst)-start)
	return dst, nil, nil
}

// isInitial reports whether a call is the initial state: all zeros, which is no useful baseline.
func isInitial(f *frame.Frame) bool {
	for _, v := range f.Table {
		if v != 0 {
			return false
		}
	}
	return true
}

// computeDelta sets x.diffs and x.runs to the differences of cur from base. It returns false if the
// call must be sent in full: if base is the initial state, if a difference is out of range, or if
// the differences are not shorter.
func (x *delta) computeDelta(cur, base *frame.Frame) bool {
	if isInitial(base) {
		return false
	}
	vectorBits := 0
	for n, fields := range x.vectors {
		v := &x.diffs[n]
		*v = vector{}
		for c, i := range fields {
			var ok bool
			v[c], ok = quantize(float32(float(cur.Table[i]) - float(base.Table[i])))
			if !ok {
				return false
			}
		}
		vectorBits += v.bitLength()
	}
	x.packed, x.packedBase = x.pack(x.packed[:0], cur), x.pack(x.packedBase[:0], base)
	for i := range x.packed {
		x.packed[i] ^= x.packedBase[i]
	}
	x.runs = appendRuns(x.runs[:0], x.packed)
	return vectorBits+8*len(x.runs) < x.fullBits
}

// writeDelta writes the differences.
func (x *delta) writeDelta(w *bitio.Writer, b *encoders.Budget) {
	for n := range x.diffs {
		x.diffs[n].write(w)
		chargeVector(b, x.vectors[n], x.diffs[n].sizeExponent())
	}
	for _, v := range x.runs {
		w.Bits(uint64(v), 8)
	}
	b.Bits(encoders.SlotTable, 8*len(x.runs))
}

// chargeVector charges a vector to its fields. With the given size exponent, each of its three components takes
// exponent+2 bits. The first field pays also for the exponent before them and for the unused components after them.
func chargeVector(b *encoders.Budget, fields []int, exponent uint) {
	b.Bits(encoders.FieldSlot(fields[0]), int(exponentBits(exponent)))
	for _, i := range fields {
		b.Bits(encoders.FieldSlot(i), int(exponent+2))
	}
	b.Bits(encoders.FieldSlot(fields[0]), (vectorSize-len(fields))*int(exponent+2))
}

// applyVectors sets the floats of f to those of base plus the differences.
func (x *delta) applyVectors(f, base *frame.Frame) {
	for n, fields := range x.vectors {
		for c, i := range fields {
			v := float32(float(base.Table[i]) + dequantize(x.diffs[n][c]))
			f.Table[i] = int32(math.Float32bits(v))
		}
	}
}

// Decode implements encoders.Decoder. See Delta for the format. A full call has no flag if the codec is full or the
// baseline is the initial state.
func (x *delta) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	var r bitio.Reader
	r.Reset(src)
	dst.Body = dst.Body[:0]
	if x.fullOnly || isInitial(refs[0].Frame) || r.Bits(1) == 0 { // a full call
		for i := range x.fields {
			raw := uint32(r.Bits(x.fields[i].Width))
			if raw > x.fields[i].Span {
				return nil, rangeError(x.schema, i)
			}
			dst.Table[i] = x.fields[i].FromRaw(raw)
		}
		return nil, wrapReadError(cmp.Or(r.Err(), r.Close()), bitio.ErrShort)
	}
	base := refs[0].Frame
	for n := range x.diffs {
		if !x.diffs[n].read(&r) {
			return nil, wrapReadError(bitio.ErrTrailing, bitio.ErrShort) // larger exponent than necessary
		}
	}
	if err := x.readRest(&r, dst, base); err != nil {
		return nil, err
	}
	x.applyVectors(dst, base)
	return nil, wrapReadError(r.Close(), bitio.ErrShort)
}

// readRest reads the fields that are not floats into dst: the run-length coded XOR of their packed bits with
// those of base.
func (x *delta) readRest(r *bitio.Reader, dst, base *frame.Frame) error {
	x.packedBase = x.pack(x.packedBase[:0], base)
	x.packed = append(x.packed[:0], x.packedBase...) // a slice of the right length; readRuns overwrites the content
	if err := readRuns(x.packed, func() byte { return byte(r.Bits(8)) }); err != nil {
		return err
	}
	for i := range x.packed {
		x.packed[i] ^= x.packedBase[i]
	}
	return x.unpack(dst)
}

// pack appends the fields that are not floats, with all their bits.
func (x *delta) pack(dst []byte, f *frame.Frame) []byte {
	var w bitio.Writer
	w.Reset(dst)
	for _, i := range x.rest {
		w.Bits(uint64(x.fields[i].Raw(f.Table[i])), x.fields[i].Width)
	}
	return w.Bytes()
}

// unpack is the inverse of pack: it sets the fields of f that are not floats from x.packed.
func (x *delta) unpack(f *frame.Frame) error {
	var r bitio.Reader
	r.Reset(x.packed)
	for _, i := range x.rest {
		raw := uint32(r.Bits(x.fields[i].Width))
		if raw > x.fields[i].Span {
			return rangeError(x.schema, i)
		}
		f.Table[i] = x.fields[i].FromRaw(raw)
	}
	return wrapReadError(r.Close(), bitio.ErrShort)
}

// float returns the float32 with these bits.
func float(bits int32) float32 { return math.Float32frombits(uint32(bits)) }

// Unreal's FVector_NetQuantize10: vectors of three floats, rounded to tenths, all three with as many
// bits as the largest needs (WritePackedVector<10, 24>, Epic Games). The bits are those that Unreal
// writes, least significant first.
const (
	stepsPerUnit     = 10 // a step is a tenth
	maxComponentBits = 24 // bounds a component to +-1,677,721.5
	vectorSize       = 3  // components
)

// A vector has three components in steps.
type vector [vectorSize]int32

// quantize returns v in steps, rounded as Unreal does it: half up, in float32. ok is false for NaN
// and values of more than maxComponentBits.
func quantize(v float32) (steps int32, ok bool) {
	x := float32(v * stepsPerUnit)
	x = float32(x + 0.5)
	x = float32(math.Floor(float64(x)))
	const limit = 1 << maxComponentBits
	if !(x > -limit && x < limit) {
		return 0, false
	}
	return int32(x), true
}

// dequantize returns the float of a number of steps.
func dequantize(steps int32) float32 { return float32(float32(steps) / stepsPerUnit) }

// sizeExponent returns the number k that precedes a vector: each component takes k+2 bits.
func (v *vector) sizeExponent() uint {
	largest := uint32(0)
	for _, i := range v {
		largest = max(largest, uint32(max(i, -i)))
	}
	// Unreal computes ceil(log2(1+largest)), which is the number of bits of largest.
	return uint(min(max(bits.Len32(largest), 1), maxComponentBits)) - 1
}

// exponentBits returns the number of bits of a size exponent, which is below 24: its fifth bit is
// omitted if the lower four bits are 8 or more, because then it must be 0.
func exponentBits(exponent uint) uint {
	if exponent&15 >= maxComponentBits-16 {
		return 4
	}
	return 5
}

// bitLength returns the number of bits of the vector.
func (v *vector) bitLength() int {
	k := v.sizeExponent()
	return int(exponentBits(k) + vectorSize*(k+2))
}

// write writes the exponent k of the vector and then each component in k+2 bits, offset by 1<<(k+1)
// so that it is not negative.
func (v *vector) write(w *bitio.Writer) {
	exponent := v.sizeExponent()
	w.Bits(uint64(exponent), exponentBits(exponent))
	for _, i := range v {
		w.Bits(uint64(i+1<<(exponent+1)), exponent+2)
	}
}

// read reads a vector. ok is false if its exponent is not the one that write would have chosen.
func (v *vector) read(r *bitio.Reader) (ok bool) {
	exponent := uint(r.Bits(4)) // the lower four bits; a fifth one follows unless it must be 0
	if exponentBits(exponent) == 5 {
		exponent |= uint(r.Bits(1)) << 4
	}
	for c := range v {
		v[c] = int32(r.Bits(exponent+2)) - 1<<(exponent+1)
	}
	return v.sizeExponent() == exponent
}

// The run-length code of the source. A byte L up to maxRun means that the next byte is repeated L
// times; a larger byte means that L-128 literal bytes follow.
const (
	maxRun     = 128
	maxLiteral = 127
	minRun     = 3 // shorter runs are literals
)

// appendRuns appends src, run-length coded, to dst: a byte n up to maxRun, followed by the byte that occurs n times
// in a row, or a byte maxRun+n, followed by n literal bytes.
func appendRuns(dst, src []byte) []byte {
	for len(src) > 0 {
		if n := countRun(src); n >= minRun || n == len(src) { // at the end of src, even a short run takes at most as many bytes as literals
			n = min(n, maxRun)
			dst, src = append(dst, byte(n), src[0]), src[n:]
			continue
		}
		n := countLiterals(src)
		dst, src = append(append(dst, byte(maxRun+n)), src[:n]...), src[n:]
	}
	return dst
}

// countRun returns how many times in a row the first byte of src occurs at the beginning of src.
func countRun(src []byte) int {
	n := 1
	for n < len(src) && src[n] == src[0] {
		n++
	}
	return n
}

// countLiterals returns the number of bytes before the next run of at least minRun bytes, up to
// maxLiteral.
func countLiterals(src []byte) int {
	n := 0
	for n < len(src) && n < maxLiteral && countRun(src[n:]) < minRun {
		n++
	}
	return n
}

// readRuns is the inverse of appendRuns: it fills dst. next returns the next byte of the code, which must give
// exactly len(dst) bytes.
func readRuns(dst []byte, next func() byte) error {
	for offset := 0; offset < len(dst); {
		length := int(next())
		isLiteral := length > maxRun
		if isLiteral {
			length -= maxRun
		}
		if length == 0 || length > len(dst)-offset {
			return fmt.Errorf("rpc: run of %d bytes, expected 1 to %d: %w", length, len(dst)-offset, encoders.ErrCorrupt)
		}
		if isLiteral {
			for range length {
				dst[offset] = next()
				offset++
			}
			continue
		}
		for v := next(); length > 0; length-- {
			dst[offset] = v
			offset++
		}
	}
	return nil
}
