package netcode

import (
	"encoding/binary"
	"errors"
)

// Errors of a Reader.
var (
	// ErrShort: the message ends early.
	ErrShort = errors.New("it ends early")
	// ErrTrailing: bits are left over that no writer would have left.
	ErrTrailing = errors.New("bits are left over")
	// ErrWord: there is a row of bits that no word of the Huffman code begins with.
	ErrWord = errors.New("it has bits that are in no Huffman code word")
	// ErrFields: more fields are said to change than there are.
	ErrFields = errors.New("it changes fields that there are not")
)

// Reader takes values out of a message. The first error stays, and values are 0 from then on.
type Reader struct {
	src  []byte
	at   int // the next bit
	err  error
	code *code
}

// Reset makes r read from src.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src, code: theCode()} }

// Pos returns how many bits have been read.
func (r *Reader) Pos() int { return r.at }

// Err returns what was wrong first.
func (r *Reader) Err() error { return r.err }

// Close returns what was wrong first, and ErrTrailing if what is left is anything but the zeros
// that fill the last byte.
func (r *Reader) Close() error {
	if left := 8*len(r.src) - r.at; r.err == nil && (left >= 8 || r.peek() != 0) {
		return ErrTrailing
	}
	return r.err
}

// Fail sets the error, if there is none yet.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err, r.at = err, 8*len(r.src)
	}
}

// Bits reads a value of n bits, at most 32: first the lowest n mod 8 as they are, then bytes
// as code words.
func (r *Reader) Bits(n int) uint32 {
	word, left := r.peek(), r.at
	raw := n & 7
	v := uint32(word) & (1<<raw - 1)
	word >>= raw
	r.at += raw
	for ; raw < n; raw += 8 {
		s := r.code.symbols[word&(1<<longest-1)]
		if s == 0 {
			r.Fail(r.noWord())
			return 0
		}
		v |= uint32(s>>4) << raw
		word >>= s & 15
		r.at += int(s & 15)
	}
	if r.at > 8*len(r.src) {
		r.at = left
		r.Fail(ErrShort)
		return 0
	}
	return v
}

// noWord says why no code word begins here.
func (r *Reader) noWord() error {
	if r.at+longest > 8*len(r.src) {
		return ErrShort
	}
	return ErrWord
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

// Signed reads a value as wide as a field says: below 0 it has a sign.
func (r *Reader) Signed(bits int) int32 {
	if bits >= 0 {
		return int32(r.Bits(bits))
	}
	return int32(r.Bits(-bits)<<(32+bits)) >> (32 + bits)
}

// Skip reads n bytes and forgets them.
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

// Text appends such bytes to dst.
func (r *Reader) Text(dst []byte) []byte {
	for c := r.Bits(8); c != 0; c = r.Bits(8) {
		dst = append(dst, byte(c))
	}
	return dst
}

// Writer appends values to a slice. The zero Writer appends to nil.
type Writer struct {
	buf  []byte
	acc  uint64 // the bits that do not fill a byte yet, first ones lowest
	n    int    // how many they are, below 8 between calls
	base int    // len(buf) at Reset
	code *code
}

// Reset makes w append to dst.
func (w *Writer) Reset(dst []byte) { *w = Writer{buf: dst, base: len(dst), code: theCode()} }

// Bits writes the low n bits of v, n at most 32.
func (w *Writer) Bits(v uint32, n int) {
	raw := n & 7
	w.acc |= uint64(v&(1<<raw-1)) << w.n
	w.n += raw
	for ; raw < n; raw += 8 {
		c := w.code.words[byte(v>>raw)]
		w.acc |= uint64(c.bits) << w.n
		w.n += int(c.size)
	}
	for ; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.acc))
		w.acc >>= 8
	}
}

// Flag writes a bit.
func (w *Writer) Flag(v bool) {
	if v {
		w.Bits(1, 1)
	} else {
		w.Bits(0, 1)
	}
}

// Len returns how many bits were written since Reset.
func (w *Writer) Len() int { return 8*(len(w.buf)-w.base) + w.n }

// Bytes fills the last byte with zeros and returns the caller's slice with all that was
// appended. Only Reset may follow.
func (w *Writer) Bytes() []byte {
	if w.n > 0 {
		w.buf = append(w.buf, byte(w.acc))
	}
	return w.buf
}
