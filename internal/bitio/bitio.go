// Package bitio writes and reads values of any number of bits. A stream is one long little-endian
// number: bits fill each byte from its least significant bit, and the low bits of a value come
// first. So both directions can work on 64-bit words.
//
// The writer appends to a slice of the caller. Neither direction allocates.
package bitio

import (
	"encoding/binary"
	"errors"
)

// Errors of a Reader.
var (
	// ErrShort means that a read went past the end.
	ErrShort = errors.New("bits ended early")
	// ErrTrailing means that after the last read there is more than the zeros that fill a byte.
	ErrTrailing = errors.New("bits left over")
)

// Writer appends bits to a slice. The zero Writer appends to nil.
type Writer struct {
	buf      []byte
	word     uint64 // bits that do not fill a word yet, from the lowest bit on
	wordBits uint   // number of bits in word, below 64
	base     int    // len(buf) at Reset
}

// Reset makes w append to dst.
func (w *Writer) Reset(dst []byte) { *w = Writer{buf: dst, base: len(dst)} }

// Bits writes the low n bits of v, n at most 64.
func (w *Writer) Bits(v uint64, n uint) {
	v &= 1<<n - 1
	w.word |= v << w.wordBits
	if w.wordBits+n < 64 {
		w.wordBits += n
		return
	}
	w.flushWord(v, n)
}

// flushWord appends the full word, and keeps the bits of v, of which there are n, that did not fit.
func (w *Writer) flushWord(v uint64, n uint) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.word)
	w.word = v >> (64 - w.wordBits) // v >> 64, with wordBits 0, is 0 in Go
	w.wordBits += n - 64            // the unsigned addition wraps to a smaller number
}

// Len returns the number of bits written since Reset.
func (w *Writer) Len() int { return (len(w.buf)-w.base)*8 + int(w.wordBits) }

// Bytes flushes the bits written, fills the last byte with zeros and returns the caller's slice
// with all bytes appended. Only Reset may follow.
func (w *Writer) Bytes() []byte {
	for ; w.wordBits > 0; w.wordBits -= min(w.wordBits, 8) {
		w.buf = append(w.buf, byte(w.word))
		w.word >>= 8
	}
	return w.buf
}

// Reader reads bits from a slice. A read past the end returns zeros, and Err returns ErrShort from
// then on; callers must bound their loops by other means.
type Reader struct {
	src     []byte
	pos     uint // index of the next bit
	pastEnd bool // a read went past the end
}

// Reset makes r read from src.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src} }

// Bits reads n bits, at most 57.
func (r *Reader) Bits(n uint) uint64 {
	i := r.pos >> 3
	if i+8 > uint(len(r.src)) {
		return r.readTail(n)
	}
	v := binary.LittleEndian.Uint64(r.src[i:]) >> (r.pos & 7)
	r.pos += n
	return v & (1<<n - 1)
}

// Peek returns at least the next 57 bits, low ones first, without advancing. It serves values whose
// widths depend on each other, which are then consumed by one Skip. Bits past the end are zeros.
func (r *Reader) Peek() uint64 {
	if i := r.pos >> 3; i+8 <= uint(len(r.src)) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.pos & 7)
	}
	return r.peekTail()
}

// peekTail is Peek within the last eight bytes.
func (r *Reader) peekTail() uint64 {
	if r.pastEnd {
		return 0
	}
	var word [8]byte
	copy(word[:], r.src[min(r.pos>>3, uint(len(r.src))):])
	return binary.LittleEndian.Uint64(word[:]) >> (r.pos & 7)
}

// Skip advances by n bits, at most 57, that Peek returned.
func (r *Reader) Skip(n uint) {
	if n > 0 && (r.pastEnd || r.pos+n > uint(len(r.src))*8) {
		r.pastEnd = true
		return
	}
	r.pos += n
}

// readTail is Bits within the last eight bytes.
func (r *Reader) readTail(n uint) uint64 {
	if r.pastEnd || r.pos+n > uint(len(r.src))*8 {
		r.pastEnd = true
		return 0
	}
	var word [8]byte
	copy(word[:], r.src[r.pos>>3:])
	v := binary.LittleEndian.Uint64(word[:]) >> (r.pos & 7)
	r.pos += n
	return v & (1<<n - 1)
}

// Pos returns the number of bits read.
func (r *Reader) Pos() int { return int(r.pos) }

// Err returns ErrShort if a read went past the end.
func (r *Reader) Err() error {
	if r.pastEnd {
		return ErrShort
	}
	return nil
}

// Close returns ErrShort if a read went past the end, and ErrTrailing if the rest is not just the
// zeros that fill the last byte.
func (r *Reader) Close() error {
	if r.pastEnd {
		return ErrShort
	}
	left := uint(len(r.src))*8 - r.pos
	if left >= 8 || r.Bits(left) != 0 {
		return ErrTrailing
	}
	return nil
}
