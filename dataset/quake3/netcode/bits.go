package netcode

import (
	"encoding/binary"
	"errors"

	"wirelab/internal/bitio"
)

// Errors of a Reader.
var (
	// ErrShort: the message ends early.
	ErrShort = errors.New("it ends early")

	errTrailing = errors.New("bits are left over")
	errWord     = errors.New("it has bits that are in no Huffman code word")
	errFields   = errors.New("it changes fields that there are not")
)

// Reader takes values out of a message. The first error stays, and values are 0 from then on.
type Reader struct {
	src     []byte
	at      int // the next bit
	err     error
	symbols *[1 << longest]uint16
}

// Reset makes r read from src.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src, symbols: symbols()} }

// Pos returns the number of bits read.
func (r *Reader) Pos() int { return r.at }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Close returns the first error, or one if what is left is anything but the zeros that fill the
// last byte.
func (r *Reader) Close() error {
	if left := 8*len(r.src) - r.at; r.err == nil && (left >= 8 || r.peek() != 0) {
		return errTrailing
	}
	return r.err
}

// Fail sets the error, if none is set.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err, r.at = err, 8*len(r.src)
	}
}

// Bits reads a value of n bits, at most 32: first the lowest n mod 8 unchanged, then bytes as code
// words.
func (r *Reader) Bits(n int) uint32 {
	word, from := r.peek(), r.at
	raw := n & 7
	v := uint32(word) & (1<<raw - 1)
	word >>= raw
	r.at += raw
	for ; raw < n; raw += 8 {
		s := r.symbols[word&(1<<longest-1)]
		if s == 0 {
			r.failWord()
			return 0
		}
		v |= uint32(s>>4) << raw
		word >>= s & 15
		r.at += int(s & 15)
	}
	if r.at > 8*len(r.src) {
		r.at = from
		r.Fail(ErrShort)
		return 0
	}
	return v
}

// failWord sets the error of bits with which no code word begins.
func (r *Reader) failWord() {
	if r.at+longest > 8*len(r.src) {
		r.Fail(ErrShort)
	}
	r.Fail(errWord)
}

// peek returns the next 57 bits or more; past the end are zeros.
func (r *Reader) peek() uint64 {
	i := r.at >> 3
	if i+8 <= len(r.src) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.at & 7)
	}
	var word [8]byte
	copy(word[:], r.src[i:])
	return binary.LittleEndian.Uint64(word[:]) >> (r.at & 7)
}

// Flag reads a bit.
func (r *Reader) Flag() bool { return r.Bits(1) == 1 }

// Signed reads a value of -bits bits with a sign if bits is negative, of bits bits without one
// otherwise.
func (r *Reader) Signed(bits int) int32 {
	if bits >= 0 {
		return int32(r.Bits(bits))
	}
	return int32(r.Bits(-bits)<<(32+bits)) >> (32 + bits)
}

// Skip reads n bytes.
func (r *Reader) Skip(n int) {
	for ; n > 0 && r.err == nil; n-- {
		r.Bits(8)
	}
}

// SkipString reads bytes up to a 0.
func (r *Reader) SkipString() {
	for r.Bits(8) != 0 {
	}
}

// Text appends bytes up to a 0 to dst.
func (r *Reader) Text(dst []byte) []byte {
	for c := r.Bits(8); c != 0; c = r.Bits(8) {
		dst = append(dst, byte(c))
	}
	return dst
}

// Writer appends values to a slice. The zero Writer appends to nil.
type Writer struct{ bitio.Writer }

// Bits writes the low n bits of v, n at most 32.
func (w *Writer) Bits(v uint32, n int) {
	raw := n & 7
	bits, size := uint64(v&(1<<raw-1)), uint(raw)
	for ; raw < n; raw += 8 {
		c := words[byte(v>>raw)]
		bits |= uint64(c>>4) << size
		size += uint(c & 15)
	}
	w.Writer.Bits(bits, size)
}

// Flag writes a bit and returns it.
func (w *Writer) Flag(v bool) bool {
	var bit uint64
	if v {
		bit = 1
	}
	w.Writer.Bits(bit, 1)
	return v
}
