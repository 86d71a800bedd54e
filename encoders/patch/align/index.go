package align

import (
	"encoding/binary"
	"math/bits"
)

const (
	sample     = 24      // bytes that are hashed together
	maxSamples = 2 << 20 // in an index: that bounds its memory
	minEvery   = 8       // bytes from one sample to the next, or more for large files
	probes     = 4       // places looked at for a hash
)

// index knows where samples of the source lie: every so many bytes a hash of the
// next few. It tells which parts of the source a block is like.
type index struct {
	every int64
	slots []slot
}

type slot struct {
	check uint32
	place uint32 // address/every + 1; 0: free
}

// newIndex returns an index for so many bytes. It takes at most 32 MB.
func newIndex(size int64) *index {
	every := int64(minEvery)
	for size/every > maxSamples {
		every *= 2
	}
	n := max(size/every*2, 16)
	return &index{every, make([]slot, 1<<bits.Len64(uint64(n-1)))}
}

// add takes samples of text, which begins at an address. A content that is found
// often is remembered for the first few places only.
func (x *index) add(text []byte, address int64) {
	skip := (x.every - address%x.every) % x.every
	for i := skip; i+sample <= int64(len(text)); i += x.every {
		b := text[i : i+sample]
		if isRepetitive(b) {
			continue
		}
		h := hashOf(b)
		for t := range uint64(probes) {
			s := &x.slots[(h+t)&uint64(len(x.slots)-1)]
			if s.place == 0 {
				*s = slot{uint32(h >> 32), uint32((address+i)/x.every) + 1}
				break
			}
		}
	}
}

// each calls found with the addresses at which the bytes of b may lie.
func (x *index) each(b []byte, found func(address int64)) {
	h := hashOf(b)
	for t := range uint64(probes) {
		s := &x.slots[(h+t)&uint64(len(x.slots)-1)]
		if s.place == 0 {
			return
		}
		if s.check == uint32(h>>32) {
			found(int64(s.place-1) * x.every)
		}
	}
}

// isRepetitive reports whether a sample repeats four bytes.
func isRepetitive(b []byte) bool {
	first := binary.LittleEndian.Uint32(b)
	for i := 4; i < sample; i += 4 {
		if binary.LittleEndian.Uint32(b[i:]) != first {
			return false
		}
	}
	return true
}

func hashOf(b []byte) uint64 {
	x, y, z := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	h := x*0x9E3779B97F4A7C15 ^ y*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	h = (h ^ z) * 0x165667B19E3779F9
	return h ^ h>>32
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
