package rows

import "wirelab/encoders/rangecoder"

const (
	nodeCount   = 64
	firstWeight = rangecoder.Unit * 3 / 10
	bias        = 256
)

// mixer codes decisions by logistic mixing of the counters of several contexts.
type mixer struct {
	rangecoder.Mix
	weights []rangecoder.Weights
	set     int // of weights
}

// begin clears the contexts; set chooses the weights.
func (x *mixer) begin(set int) { x.N, x.set = 0, set*nodeCount }

// addContext adds a context: a hash of its parts.
func (x *mixer) addContext(a, b, c, d uint32) {
	h := a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F + uint32(x.N)*0x165667B1
	h ^= h >> 15
	h *= 0x2C1B3C6D
	x.At[x.N] = h ^ h>>13
	x.N++
}

// bit codes a decision, the node-th of those in the present contexts; own, if not nil,
// is one more counter.
func (x *mixer) bit(node, v int, own *counter) int {
	return x.Code(&x.weights[x.set+node], uint32(node)*0x9E3779B1>>7, v, own)
}

// tree codes n bits of v, the highest first, with nodes from 1 on.
func (x *mixer) tree(v uint32, n int) uint32 {
	at := 1
	for i := n - 1; i >= 0; i-- {
		at = at<<1 | x.bit(at, int(v>>i&1), nil)
	}
	return uint32(at) - 1<<n
}

// Nodes number the decisions of a field. Lengths have the first 16. Longer ones and
// symbols, which no field has both of, share the next 32.
const (
	farNode    = 16
	symbolNode = 16
	signNode   = 48
	topNode    = 48 // and the next three
	bitNode    = 52
	sameNode   = 53
	rowNode    = 54
	bodyNode   = 55
	symbolBits = 12 // of an enum that are learnt
)
