package datagram

import "math/bits"

// Angles are in 1/2^32 of a full turn, so that they wrap as uint32. Everything here is on integers
// (CORDIC, after Volder), the same on every machine.

// arcs are the angles of which the tangents are 1, 1/2, 1/4 and so on.
var arcs = [...]int32{0x20000000, 0x12e4051e, 0x9fb385b, 0x51111d4, 0x28b0d43, 0x145d7e1, 0xa2f61e, 0x517c55,
	0x28be53, 0x145f2f, 0xa2f98, 0x517cc, 0x28be6, 0x145f3, 0xa2fa, 0x517d, 0x28be, 0x145f}

// rotate turns a vector of at most 24 bits each.
func rotate(x, y int64, turn int32) (int64, int64) {
	if turn > 1<<30 || turn < -1<<30 {
		x, y, turn = -x, -y, turn+-1<<31
	}
	// The steps make the vector longer; the inverse of that factor, of 1<<30, is applied first.
	x, y = x*652032874>>14, y*652032874>>14
	for i, a := range arcs {
		if turn >= 0 {
			x, y, turn = x-y>>i, y+x>>i, turn-a
		} else {
			x, y, turn = x+y>>i, y-x>>i, turn+a
		}
	}
	return (x + 1<<15) >> 16, (y + 1<<15) >> 16
}

// angle returns the direction of a vector of at most 24 bits each, counted from x to y.
func angle(x, y int64) (turn int32) {
	if x < 0 {
		x, y, turn = -x, -y, -1<<31
	}
	x, y = x<<20, y<<20
	for i, a := range arcs {
		if y >= 0 {
			x, y, turn = x+y>>i, y-x>>i, turn+a
		} else {
			x, y, turn = x-y>>i, y+x>>i, turn-a
		}
	}
	return turn
}

// root returns the square root of v below 2^62, rounded, and 0 of a negative v.
func root(v int64) int64 {
	if v <= 0 {
		return 0
	}
	r := int64(1) << ((bits.Len64(uint64(v)) + 1) / 2)
	for {
		next := (r + v/r) / 2
		if next >= r {
			break
		}
		r = next
	}
	if v-r*r > r {
		r++
	}
	return r
}
