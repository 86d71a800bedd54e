package rows

import "math/bits"

// number codes the residual of a numeric field.
func (r *rowState) number(f int, col *fieldPlan) {
	g := r.predict(f, col)
	miss := r.residual(f, col, col.difference(r.cur[f], g.value), g.value)
	r.cur[f] = col.add(g.value, miss)
	g.learn(r.cur[f], col)
	r.shift[f] = col.shift(r.start[f], r.cur[f])
	r.acceleration[f] = r.shift[f] - r.was[f] // not used of floats
	r.missedBy(f, length(miss))
}

// missedBy records a residual of n bits.
func (r *rowState) missedBy(f, n int) {
	r.miss[f] = uint8(n)
	r.worst = max(r.worst, n)
	r.last[1], r.last[0] = r.last[0], n
}

const (
	lengthBits = 4
	longest    = 1<<lengthBits - 1 // longer ones continue in a second tree
	farBits    = 5
)

// residual codes a residual: the length of its magnitude, its sign unless the range implies
// it, and the bits below the leading one.
func (r *rowState) residual(f int, col *fieldPlan, miss, guess int32) int32 {
	x := &r.e.x
	kind := flag(r.largestChanged && r.e.turn.has(f))
	id, own := uint32(col.class)<<8|lengthMark, uint32(f)<<8|lengthMark
	was, size := uint32(r.ahead), magnitude(miss)
	r.e.begin(col.slot)
	x.AddContext(id, kind, was, uint32(r.worst))
	x.AddContext(id, uint32(r.missed[f]), uint32(r.idle), kind)
	x.AddContext(own, uint32(r.last[0]), uint32(r.last[1]), kind)
	n := uint32(bits.Len32(size))
	short := x.CodeTree(min(n, longest), lengthBits, 0)
	if short == longest {
		short += x.CodeTree(n-longest, farBits, farNode)
	}
	n = min(short, 32)
	if n == 0 {
		return 0
	}
	up, down := col.room(guess)
	least := uint64(1) << (n - 1)
	var negative bool
	switch {
	case least > up:
		negative = true
	case least > down:
	default:
		negative = r.sign(f, miss, kind, col.part(guess)<<5|n)
	}
	size = r.below(f, n, size)
	if negative {
		return int32(-size)
	}
	return int32(size)
}

// magnitude returns |v|, also of -2^31.
func magnitude(v int32) uint32 { return uint32(max(v, -v)) }

// sign codes the sign of a residual.
func (r *rowState) sign(f int, miss int32, kind, room uint32) bool {
	x, col := &r.e.x, &r.e.cols[f]
	id := uint32(col.class)<<8 | signMark
	r.e.begin(col.slot)
	x.AddContext(id, kind, signOf(r.was[f]), 0)
	x.AddContext(id, uint32(r.ahead), signOf(r.was[f]), uint32(r.missed[f]))
	x.AddContext(id, room, signOf(r.was[f]), 0)
	return x.CodeFlag(signNode, miss < 0)
}

func signOf(v int32) uint32 { return 1 + flag(v > 0) - flag(v < 0) }

// below codes the bits below the leading one of a magnitude of n bits.
func (r *rowState) below(f int, n, size uint32) uint32 {
	x, col := &r.e.x, &r.e.cols[f]
	r.e.begin(col.slot)
	x.AddContext(uint32(col.class)<<8|topMark, n, 0, 0)
	left, top := n-1, uint32(1)
	for left > 0 && top < 4 {
		left--
		top = top<<1 | uint32(x.CodeBit(topNode+int(top), int(size>>left&1), nil))
	}
	if left > 0 {
		top = top<<left | uint32(r.e.Direct(uint64(size&(1<<left-1)), uint(left)))
	}
	return top
}
