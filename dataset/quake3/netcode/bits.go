package netcode

import (
	"encoding/binary"
	"errors"

	"wirelab/internal/bitio"
)

// Errors of a Reader.
var (
	// ErrShort means that the message ends early.
	ErrShort = errors.New("the message ends early")

	errTrailing = errors.New("bits after the end of the message")
	errWord     = errors.New("bits that are not a Huffman code word")
	errFields   = errors.New("more fields than an entity or player has")
)

// Reader reads values from a message. The first error is sticky: after it all values are 0.
type Reader struct {
	src     []byte
	pos     int // position in bits
	err     error
	symbols *[1 << maxWordBits]uint16 // the table that decodingTable returns
}

// Reset makes r read from the start of src and clears the error.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src, symbols: decodingTable()} }

// Pos returns the number of bits read.
func (r *Reader) Pos() int { return r.pos }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Close returns the first error. Without one, it returns an error if anything is left to read except
// the zero bits that pad the last byte.
func (r *Reader) Close() error {
	if left := 8*len(r.src) - r.pos; r.err == nil && (left >= 8 || r.peek() != 0) {
		return errTrailing
	}
	return r.err
}

// Fail sets the error, unless there is one, and moves to the end of the message.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err, r.pos = err, 8*len(r.src)
	}
}

// Bits reads a value of n bits, at most 32: the lowest n mod 8 bits unchanged, then the others in
// bytes, each as a Huffman code word.
func (r *Reader) Bits(n int) uint32 {
	word, start := r.peek(), r.pos
	raw := n & 7
	v := uint32(word) & (1<<raw - 1)
	word >>= raw
	r.pos += raw
	for ; raw < n; raw += 8 {
		entry := r.symbols[word&(1<<maxWordBits-1)] // the byte in the upper 12 bits, the length of its code word in 4
		if entry == 0 {
			r.failWord()
			return 0
		}
		v |= uint32(entry>>4) << raw
		word >>= entry & 15
		r.pos += int(entry & 15)
	}
	if r.pos > 8*len(r.src) {
		r.pos = start
		r.Fail(ErrShort)
		return 0
	}
	return v
}

// failWord sets the error for bits that are not the start of a code word: ErrShort if the message may
// end within the word, otherwise errWord.
func (r *Reader) failWord() {
	if r.pos+maxWordBits > 8*len(r.src) {
		r.Fail(ErrShort)
	}
	r.Fail(errWord)
}

// peek returns at least the next 57 bits. Bits after the end of the message are 0.
func (r *Reader) peek() uint64 {
	i := r.pos >> 3
	if i+8 <= len(r.src) {
		return binary.LittleEndian.Uint64(r.src[i:]) >> (r.pos & 7)
	}
	var word [8]byte
	copy(word[:], r.src[i:])
	return binary.LittleEndian.Uint64(word[:]) >> (r.pos & 7)
}

// Flag reads one bit.
func (r *Reader) Flag() bool { return r.Bits(1) == 1 }

// Signed reads a value as Field.Bits describes it: if bits is negative a signed value of -bits bits,
// otherwise an unsigned value of bits bits.
func (r *Reader) Signed(bits int) int32 {
	if bits >= 0 {
		return int32(r.Bits(bits))
	}
	return int32(r.Bits(-bits)<<(32+bits)) >> (32 + bits) // extends the sign
}

// Skip reads n bytes and discards them.
func (r *Reader) Skip(n int) {
	for ; n > 0 && r.err == nil; n-- {
		r.Bits(8)
	}
}

// SkipString discards bytes up to and including a 0.
func (r *Reader) SkipString() {
	for r.Bits(8) != 0 {
	}
}

// Text reads a string terminated by a 0 and appends it, without the 0, to dst.
func (r *Reader) Text(dst []byte) []byte {
	for c := r.Bits(8); c != 0; c = r.Bits(8) {
		dst = append(dst, byte(c))
	}
	return dst
}

// Writer appends values to a slice. The zero Writer appends to nil.
type Writer struct {
	bitio.Writer
	// OnField is called after each field that State or Player writes, with the field's index in their parameter
	// spent and its position in bits; nil means none.
	OnField func(i, begin, end int)
}

// spend adds the bits from begin to the end of the message to those of field i.
func (w *Writer) spend(spent []int, i, begin int) {
	spent[i] += w.Len() - begin
	if w.OnField != nil {
		w.OnField(i, begin, w.Len())
	}
}

// Bits writes the low n bits of v as Reader.Bits reads them. n is at most 32.
func (w *Writer) Bits(v uint32, n int) {
	raw := n & 7
	bits, size := uint64(v&(1<<raw-1)), uint(raw) // the bits to write, and their number: at most 44, four code words
	for ; raw < n; raw += 8 {
		word := codeWords[byte(v>>raw)] // the length in the lowest four bits, above it the code word
		bits |= uint64(word>>4) << size
		size += uint(word & 15)
	}
	w.Writer.Bits(bits, size)
}

// Flag writes one bit and returns v.
func (w *Writer) Flag(v bool) bool {
	var bit uint64
	if v {
		bit = 1
	}
	w.Writer.Bits(bit, 1)
	return v
}
