package rows

import "wirelab/encoders/rangecoder"

const (
	nodeCount   = 64 // weights of a field
	firstWeight = rangecoder.Unit * 3 / 10
	bias        = 256
)

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
	symbolBits = 12 // of an enum that have counters; the bits below are coded directly
)
