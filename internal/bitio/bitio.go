// Package bitio packs values of any number of bits into bytes and takes them out
// again. Bits fill each byte from its least significant end, and a value's low
// bits come first, so that both directions work on whole 64-bit words: a stream
// is one long little-endian number.
//
// The writer appends to a slice of the caller's; neither direction allocates.
// The package knows nothing of frames or budgets.
package bitio

import (
	"encoding/binary"
	"errors"
)

// Errors of a Reader.
var (
	// ErrShort: more bits were asked for than there are.
	ErrShort = errors.New("bits ended early")
	// ErrTrailing: bits are left over that no writer would have left.
	ErrTrailing = errors.New("bits left over")
)

// Writer appends bits to a slice. The zero Writer appends to nil.
type Writer struct {
	buf  []byte
	acc  uint64 // the bits that do not fill a word yet, low ones first
	n    uint   // how many they are, below 64
	base int    // len(buf) at Reset
}

// Reset makes w append to dst.
func (w *Writer) Reset(dst []byte) { *w = Writer{buf: dst, base: len(dst)} }

// Bits writes the low n bits of v, n at most 64.
func (w *Writer) Bits(v uint64, n uint) {
	v &= 1<<n - 1
	w.acc |= v << w.n
	if w.n+n < 64 {
		w.n += n
		return
	}
	w.spill(v, n)
}

// spill moves a full word out and keeps what did not fit of v's n bits.
func (w *Writer) spill(v uint64, n uint) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.acc)
	w.acc = v >> (64 - w.n) // a shift by 64 leaves nothing, as it should
	w.n += n - 64
}

// Len returns how many bits were written since Reset.
func (w *Writer) Len() int { return (len(w.buf)-w.base)*8 + int(w.n) }

// Bytes fills the last byte with zeros and returns the caller's slice with all
// that was appended. Only Reset may follow.
func (w *Writer) Bytes() []byte {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.buf = append(w.buf, byte(w.acc))
		w.acc >>= 8
	}
	return w.buf
}

// Reader takes bits out of a slice. Reading past the end yields zeros and makes
// Err return ErrShort from then on; a loop over what was read must be bounded by
// something else.
type Reader struct {
	src   []byte
	at    uint // the next bit
	short bool
}

// Reset makes r read from src.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src} }

// Bits reads n bits, at most 57.
func (r *Reader) Bits(n uint) uint64 {
	i := r.at >> 3
	if i+8 > uint(len(r.src)) {
		return r.tail(n)
	}
	v := binary.LittleEndian.Uint64(r.src[i:]) >> (r.at & 7)
	r.at += n
	return v & (1<<n - 1)
}

// Peek returns the next 57 bits or more, low ones first, without taking them: for values of
// several widths that depend on each other, to be taken by one Skip. Past the end are zeros.
func (r *Reader) Peek() uint64 {
	if i := r.at >> 3; i+8 <= uint(len(r.src)) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.at & 7)
	}
	return r.peekTail()
}

func (r *Reader) peekTail() uint64 {
	if r.short {
		return 0
	}
	var word [8]byte
	copy(word[:], r.src[min(r.at>>3, uint(len(r.src))):])
	return binary.LittleEndian.Uint64(word[:]) >> (r.at & 7)
}

// Skip takes n bits, at most 57, that Peek has shown.
func (r *Reader) Skip(n uint) {
	if n > 0 && (r.short || r.at+n > uint(len(r.src))*8) {
		r.short = true
		return
	}
	r.at += n
}

// tail reads within the last eight bytes.
func (r *Reader) tail(n uint) uint64 {
	if r.short || r.at+n > uint(len(r.src))*8 {
		r.short = true
		return 0
	}
	var word [8]byte
	copy(word[:], r.src[r.at>>3:])
	v := binary.LittleEndian.Uint64(word[:]) >> (r.at & 7)
	r.at += n
	return v & (1<<n - 1)
}

// Pos returns how many bits have been read.
func (r *Reader) Pos() int { return int(r.at) }

// Err returns ErrShort if a read went past the end.
func (r *Reader) Err() error {
	if r.short {
		return ErrShort
	}
	return nil
}

// Close returns ErrShort if a read went past the end, and ErrTrailing if what is
// left is anything but the zeros that fill the last byte.
func (r *Reader) Close() error {
	if r.short {
		return ErrShort
	}
	left := uint(len(r.src))*8 - r.at
	if left >= 8 || r.Bits(left) != 0 {
		return ErrTrailing
	}
	return nil
}
