package datagram

import (
	"math/bits"
	"sync"

	"wirelab/encoders/rangecoder"
)

// Inputs of the mixer: the lines of the place and of its recipes, then these.
const (
	lookups = 1 + recipes
	inRef   = lookups + iota - 1 // the reference's unit
	inOther                      // the field's prediction, or the unit of the last message of the kind
	inField                      // the distributions of the field's guesses
	inFieldB
	inBias
	inputs
)

// Weights are in 1/4096, nodes in 1/16 nat, sums in 1/2048 nat.
const (
	weightOne   = 4096
	weightShift = 5
	biasNode    = 8
	sure        = 11 * 2048 // bound of a sum
	doubtful    = 2 * 2048  // bound of a sum where the model seems not to fit
)

// mixer predicts the bits of a unit by logistic mixing: the logits that training gave to the
// contexts and to comparisons with other messages, added up with trained weights. Nothing adapts.
type mixer struct {
	w      *walk
	place  *place
	hash   [lookups]uint32
	line   [lookups]*line
	weight [inputs]int32 // of the bits of a line
	expect [2]uint32     // expected units: of the reference, and of inOther
	has    [2]bool       // whether there are such
	plain  bool          // neither of them
	near   int           // index into place.near
	limit  int32         // sure or doubtful
	t      *tables
}

// begin prepares for the next unit.
func (x *mixer) begin() {
	w := x.w
	at := w.at()
	x.place = &w.m.places[at]
	w.gather()
	here := w.here()
	seed := uint32(at) << 16
	x.hash[0] = mix32(seed | 1)
	for i := range x.place.recipe {
		x.hash[1+i] = x.place.recipe[i].hash(seed|uint32(2+i), &w.src)
	}
	x.has[0], x.expect[0] = here < len(w.ref.units), uint32(w.src[srcRef])
	if w.num.active {
		x.has[1], x.expect[1] = true, uint32(w.src[srcMean])
	} else {
		x.has[1], x.expect[1] = here < len(w.any.units), uint32(w.src[srcAny])
	}
	x.plain = !x.has[0] && !x.has[1]
	x.near = int(w.src[srcSame]&7) * 8
}

// steady reports whether a first decision codes that the unit is the reference's, or zero where
// there is no reference.
func (x *mixer) steady() bool { return x.place.steady && x.has[0] || x.place.zero && !x.has[0] }

// steadyP returns the probability of that.
func (x *mixer) steadyP() uint32 {
	node := x.place.zeros
	if x.has[0] {
		node = int8(x.place.near[0][x.near])
	}
	return x.t.p(int32(node)<<12, sure)
}

// excludeSteady notes that the unit is another.
func (x *mixer) excludeSteady() {
	x.has[1] = x.has[1] && x.expect[1] != x.expect[0]
	x.has[0], x.plain = false, !x.has[1]
}

// lowerHash returns the context of a unit's last four bits. head is 1 and the bits before them.
func lowerHash(hash uint32, head uint32) uint32 { return mix32(hash + head*0x9e3779b1) }

// findLines looks up the lines of the next up to four bits. head is 1 and the bits of the unit
// before them.
func (x *mixer) findLines(head uint32) {
	found, half := x.flags(), 0
	for i, h := range x.hash {
		if head != 1 {
			h, half = lowerHash(h, head), 1
		}
		x.line[i] = x.w.m.find(h)
		if x.line[i] != &noLine {
			found |= 1 << i
		}
	}
	a, b := &x.place.weight[half], &x.w.m.found[found]
	for i := range x.weight {
		x.weight[i] = int32(a[i]) + int32(b[i])
	}
}

// flags returns the bits of an index into model.found that depend on comparisons. Those of the
// lookups are below.
func (x *mixer) flags() (found int) {
	if x.has[0] {
		found |= 16
		if x.w.src[srcSame]&1 != 0 {
			found |= 32
		}
	}
	return found
}

// agreement returns the input of an expected unit for the bit that is followed by n-1 more bits of
// the unit: 0 if the bits before it differ from those expected.
func (x *mixer) agreement(i int, head uint32, bits, n uint) int32 {
	e := x.expect[i] | 1<<(bits&15)
	if !x.has[i] || e>>(n&15) != head {
		return 0
	}
	v, bit := int32(int8(x.place.near[i][(x.near+int(bits-n))&63])), int32(e>>((n-1)&15)&1)
	return v * (2*bit - 1)
}

// comparisons returns the inputs from inRef to inFieldB.
func (x *mixer) comparisons(head uint32, bits, n uint) (in [inBias - inRef]int32) {
	in[0], in[1] = x.agreement(0, head, bits, n), x.agreement(1, head, bits, n)
	if s := &x.w.num; s.active {
		in[2], in[3] = s.split(x.t)
	}
	return in
}

// p returns the probability of a 1. node, 1..15, is its place in the tree of four bits.
func (x *mixer) p(head uint32, node uint32, bits, n uint) uint32 {
	node &= 15
	sum := int32(int8(x.line[0][node]))*x.weight[0] +
		int32(int8(x.line[1][node]))*x.weight[1] +
		int32(int8(x.line[2][node]))*x.weight[2] +
		int32(int8(x.line[3][node]))*x.weight[3] +
		biasNode*x.weight[inBias]
	if !x.plain {
		sum += x.agreement(0, head, bits, n)*x.weight[inRef] + x.agreement(1, head, bits, n)*x.weight[inOther]
		if s := &x.w.num; s.active {
			a, b := s.split(x.t)
			sum += a*x.weight[inField] + b*x.weight[inFieldB]
		}
	}
	return x.t.p(sum, x.limit)
}

// tables speed up coding. They are computed on first use and shared by all ends.
type tables struct {
	squash [1 << 13]uint16               // rangecoder.Squash of sums, in steps of 8: 5 % faster for all
	cost   [rangecoder.One>>4 + 1]uint16 // bits of probabilities, in 1/256, rounded down
	log    [32][32]int16                 // logarithms, as nodes, by the number of bits and those below the highest
}

var newTables = sync.OnceValue(func() *tables {
	t := new(tables)
	for i := range t.squash {
		t.squash[i] = uint16(rangecoder.Squash(int32(8*i + 4 - sure)))
	}
	for i := range t.cost {
		t.cost[i] = uint16((20<<16 - rangecoder.Log2(uint32(min(i<<4+15, rangecoder.One))<<4)) >> 8)
	}
	for i := range t.log[0] {
		t.log[0][i] = -11 // of one half
	}
	for n := 1; n < 32; n++ {
		for i := range t.log[n] {
			log := int64(rangecoder.Log2(uint32(64+2*i+1))) + int64(n-7)<<16 // in 1/65536
			t.log[n][i] = int16((log*727 + 1<<21) >> 22)                     // 16*ln(2)/65536
		}
	}
	return t
})

// p returns the probability of a sum, held within limit.
func (t *tables) p(sum, limit int32) uint32 {
	return uint32(t.squash[(min(max(sum>>weightShift, -limit), limit)+sure)>>3&(1<<13-1)])
}

// ln returns the logarithm of a mass, as a node.
func (t *tables) ln(mass uint32) int32 {
	n := bits.Len32(mass)
	return int32(t.log[n&31][mass<<(31-n&31)>>25&31])
}
