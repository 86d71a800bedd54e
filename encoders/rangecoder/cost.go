package rangecoder

import "math/bits"

// log2 returns the logarithm of v, at least 2, in units of 1/65536, rounded up.
func log2(v uint32) int64 {
	whole := bits.Len32(v) - 1
	x := uint64(v) << (31 - whole) // 1 to 2 in units of 2^-31
	log := int64(whole)
	for range 16 {
		x = x * x >> 31
		log <<= 1
		if x >= 1<<32 {
			x >>= 1
			log++
		}
	}
	if v&(v-1) != 0 {
		log++
	}
	return log
}

// Cost returns what a decision of probability p/65536 takes in units of 1/65536
// bit, for those who choose between ways of saying something.
func Cost(p uint32) int64 { return 16*One - log2(p<<8) + 8*One }
