package datagram

import "wirelab/encoders/rangecoder"

// Inputs of the mixer: lines of the place and of its recipes, then these.
const (
	lookups = 1 + recipes
	inRef   = lookups + iota - 1 // the reference's unit
	inOther                      // the field's prediction, or the unit of the last message of the kind
	inField                      // the distributions of the field's guesses
	inFieldB
	inBias
	inputs
)

// Weights are in 1/4096, nodes in 1/16 nat, sums in 1/2048.
const (
	weightOne   = 4096
	weightShift = 5
	biasNode    = 8
	sure        = 11 * 2048 // the most that a sum may be
	doubtful    = 2 * 2048  // the same where the model seems not to fit
)

// mixer says how likely the bits of a unit are.
type mixer struct {
	w      *walk
	place  *place
	hash   [lookups]uint32
	line   [lookups]*line
	sum    [inputs]int32 // weights for the bits of a line
	expect [2]uint32     // expected units, and whether there are
	has    [2]bool
	plain  bool // nothing to compare with
	near   int
	limit  int32
}

// enter prepares for the unit to come.
func (x *mixer) enter() {
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

// steady reports whether first of all it is coded that the unit is the reference's, or a
// zero where there is none.
func (x *mixer) steady() bool { return x.place.steady && x.has[0] || x.place.zero && !x.has[0] }

// same is the probability that it is.
func (x *mixer) same() uint32 {
	node := x.place.zeros
	if x.has[0] {
		node = int8(x.place.near[0][x.near])
	}
	return squash(int32(node)<<12, sure)
}

// differs notes that it is not.
func (x *mixer) differs() {
	x.has[1] = x.has[1] && x.expect[1] != x.expect[0]
	x.has[0], x.plain = false, !x.has[1]
}

// second turns a unit's context into that of its last four bits.
func second(hash uint32, head uint32) uint32 { return mix32(hash + head*0x9e3779b1) }

// tree finds the lines for up to four bits; head is 1 and the bits of the unit before
// them.
func (x *mixer) tree(head uint32) {
	found, half := x.flags(), 0
	for i, h := range x.hash {
		if head != 1 {
			h, half = second(h, head), 1
		}
		l := x.w.m.find(h)
		if x.line[i] = l; l != &noLine {
			found |= 1 << i
		}
	}
	a, b := &x.place.weight[half], &x.w.m.found[found]
	for i := range x.sum {
		x.sum[i] = int32(a[i]) + int32(b[i])
	}
}

// flags says what there is to compare with; the lookups' bits are below.
func (x *mixer) flags() (found int) {
	if x.has[0] {
		found |= 16
		if x.w.src[srcSame]&1 != 0 {
			found |= 32
		}
	}
	return found
}

// agree is the input of an expected unit, for the bit that has n-1 more of the unit's bits
// behind it: nothing if those before are others.
func (x *mixer) agree(i int, head uint32, bits, n uint) int32 {
	e := x.expect[i] | 1<<(bits&15)
	if !x.has[i] || e>>(n&15) != head {
		return 0
	}
	v, bit := int32(int8(x.place.near[i][(x.near+int(bits-n))&63])), int32(e>>((n-1)&15)&1)
	return v * (2*bit - 1)
}

// compare computes the inputs that are not in lines.
func (x *mixer) compare(head uint32, bits, n uint) (in [inBias - inRef]int32) {
	in[0], in[1] = x.agree(0, head, bits, n), x.agree(1, head, bits, n)
	if s := &x.w.num; s.active {
		in[2], in[3] = s.split()
	}
	return in
}

// p returns the probability of a 1. node is its place in the tree, 1..15.
func (x *mixer) p(head uint32, node uint32, bits, n uint) uint32 {
	node &= 15
	sum := int32(int8(x.line[0][node]))*x.sum[0] +
		int32(int8(x.line[1][node]))*x.sum[1] +
		int32(int8(x.line[2][node]))*x.sum[2] +
		int32(int8(x.line[3][node]))*x.sum[3] +
		biasNode*x.sum[inBias]
	if !x.plain {
		sum += x.agree(0, head, bits, n)*x.sum[inRef] + x.agree(1, head, bits, n)*x.sum[inOther]
		if s := &x.w.num; s.active {
			a, b := s.split()
			sum += a*x.sum[inField] + b*x.sum[inFieldB]
		}
	}
	return squash(sum, x.limit)
}

// squash is the probability of a sum, which counts up to a limit.
func squash(sum, limit int32) uint32 {
	return uint32(shares[(min(max(sum>>weightShift, -limit), limit)+sure)>>3&(1<<13-1)])
}

// shares are the probabilities of sums, in steps of 8.
var shares = func() (t [1 << 13]uint16) {
	for i := range t {
		t[i] = uint16(rangecoder.Squash(int32(8*i + 4 - sure)))
	}
	return t
}()
