package rangecoder

// maxContexts bounds the contexts of a decision of a Mixer or a StateMixer.
const maxContexts = 6

// contexts are the hashed contexts of the next decisions. One set of hashes serves all
// decisions of a symbol or a number: nodeSalt tells those apart.
type contexts struct {
	Hashes [maxContexts]uint32
	N      int // number of contexts
}

// push adds a context. Its place among the contexts must be part of the hash, so that equal
// parts at different places use different counters.
func (x *contexts) push(hash uint32) {
	x.Hashes[x.N] = hash
	x.N++
}

// Hash mixes four numbers into one.
func Hash(a, b, c, d uint32) uint32 {
	return finish(a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F)
}

// finish spreads the differences of h over all bits.
func finish(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// nodeSalt is added to the hash of a context for decision node of a symbol.
func nodeSalt(node uint32) uint32 { return node * 0x9E3779B1 >> 7 }

// Flag returns 1 for true, 0 for false.
func Flag(v bool) int {
	if v {
		return 1
	}
	return 0
}
