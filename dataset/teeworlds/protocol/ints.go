package protocol

import "fmt"

// MaxIntBytes is the length in bytes of the longest integer.
const MaxIntBytes = 5

// AppendInt appends v in the game's variable-length format. The first byte is E S DDDDDD, further
// bytes are E DDDDDDD: E is set if another byte follows, S is the sign, D are data bits; the lowest bits
// come in the first byte. For negative numbers the data is the complement.
func AppendInt(dst []byte, v int32) []byte {
	sign := uint32(v >> 31)
	u := uint32(v) ^ sign
	b := byte(sign&0x40 | u&0x3f)
	for u >>= 6; u != 0; u >>= 7 {
		dst = append(dst, b|0x80)
		b = byte(u & 0x7f)
	}
	return append(dst, b)
}

// ReadInt reads an integer in the format of AppendInt from the start of src and returns the bytes after it as
// rest.
func ReadInt(src []byte) (v int32, rest []byte, err error) {
	if len(src) == 0 {
		return 0, src, fmt.Errorf("%w: an integer is missing", ErrShort)
	}
	b := src[0]
	u, sign := uint32(b&0x3f), uint32(0)
	if b&0x40 != 0 {
		sign = 1<<32 - 1
	}
	n := 1
	for shift := 6; b&0x80 != 0; shift += 7 {
		if n == len(src) {
			return 0, src, fmt.Errorf("%w: within an integer", ErrShort)
		}
		b = src[n]
		if shift == 27 && b > 0x0f { // 4 bits are left of 31, and no further byte may follow
			return 0, src, fmt.Errorf("%w: an integer of more than 32 bits", ErrCorrupt)
		}
		u |= uint32(b&0x7f) << shift
		n++
	}
	return int32(u ^ sign), src[n:], nil
}

// ReadInts decodes all integers in src and appends them to dst. More than maxInts are an error.
func ReadInts(dst []int32, src []byte, maxInts int) ([]int32, error) {
	for start := len(dst); len(src) > 0; {
		if len(dst)-start == maxInts {
			return dst, fmt.Errorf("%w: more than %d integers", ErrCorrupt, maxInts)
		}
		v, rest, err := ReadInt(src)
		if err != nil {
			return dst, err
		}
		dst, src = append(dst, v), rest
	}
	return dst, nil
}
