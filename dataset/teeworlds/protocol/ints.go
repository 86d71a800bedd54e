package protocol

import "fmt"

// MaxInt is the most bytes that a number takes.
const MaxInt = 5

// AppendInt appends a number: a byte with its sign and six bits, and sevens of what is left.
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

// Int reads a number and returns what comes behind it.
func Int(src []byte) (v int32, rest []byte, err error) {
	if len(src) == 0 {
		return 0, src, fmt.Errorf("%w: a number is missing", ErrShort)
	}
	b := src[0]
	u, sign := uint32(b&0x3f), uint32(0)
	if b&0x40 != 0 {
		sign = 1<<32 - 1
	}
	n := 1
	for shift := 6; b&0x80 != 0; shift += 7 {
		if n == len(src) {
			return 0, src, fmt.Errorf("%w: within a number", ErrShort)
		}
		b = src[n]
		if shift == 27 && b > 0x0f {
			return 0, src, fmt.Errorf("%w: a number of more than 32 bits", ErrCorrupt)
		}
		u |= uint32(b&0x7f) << shift
		n++
	}
	return int32(u ^ sign), src[n:], nil
}

// Ints appends all the numbers that src holds, at most most of them.
func Ints(dst []int32, src []byte, most int) ([]int32, error) {
	for start := len(dst); len(src) > 0; {
		if len(dst)-start == most {
			return dst, fmt.Errorf("%w: more than %d numbers", ErrCorrupt, most)
		}
		v, rest, err := Int(src)
		if err != nil {
			return dst, err
		}
		dst, src = append(dst, v), rest
	}
	return dst, nil
}
