package states

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
)

// Predictions are computed in fixed point: x stands for x * 2^-unit, where the unit of a float
// follows from the largest values that the field has had.

const (
	maxFixed    = 1 << 44
	integerUnit = 4  // the unit of fields that are not floats
	floatReach  = 32 // bits of the largest value of a float so far
)

// fix returns the value of a float's bits in fixed point.
func fix(b uint32, unit int) int64 {
	e := int(b >> 23 & 255)
	m := int64(b & (1<<23 - 1))
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 23
	}
	shift := e - 150 + unit
	switch {
	case shift >= 21:
		if m != 0 {
			m = maxFixed
		}
	case shift >= 0:
		m <<= uint(shift)
	case shift > -32:
		m = (m + 1<<uint(-shift-1)) >> uint(-shift)
	default:
		m = 0
	}
	if b>>31 != 0 {
		return -m
	}
	return m
}

// unfix returns the bits of the float nearest to x.
func unfix(x int64, unit int) uint32 {
	if x == 0 {
		return 0
	}
	b := math.Float32bits(float32(x))
	e := int(b>>23&255) - unit
	if e <= 0 {
		return b & (1 << 31)
	}
	return b&^(255<<23) | uint32(min(e, 254))<<23
}

// exponent returns e with 2^e <= |v| < 2^(e+1).
func exponent(b uint32) int { return int(b>>23&255) - 127 }

// ordered maps the bits of a float to an integer in the order of floats; both zeros are 0.
func ordered(b uint32) int64 {
	if b>>31 == 1 {
		return -int64(b & math.MaxInt32)
	}
	return int64(b)
}

// unordered is the inverse of ordered.
func unordered(i int64) uint32 {
	if i < 0 {
		return uint32(-i) | 1<<31
	}
	return uint32(i)
}

// class is the class of a float: games have whole numbers, eighths, and multiples of a step
// where they have floats.
type class uint8

const (
	whole class = iota
	eighth
	stepped  // a multiple of the field's step
	fraction // any other finite number
	strange  // -0, infinite, or not a number: coded as its bits
	integer  // a field that is not a float
)

// classOf returns the class of a float.
func (c *fieldPlan) classOf(b uint32) class {
	if c.kind != frame.Float32 {
		return whole
	}
	e := exponent(b)
	switch {
	case b == 1<<31 || e == 128:
		return strange
	case b == 0:
		return whole
	case e < -3 && c.step == 0:
		return fraction
	}
	low := e - 23 + bits.TrailingZeros32(b&(1<<23-1)|1<<23) // exponent of the lowest bit
	switch {
	case low >= 0 && e < 24:
		return whole
	case low >= -3 && e < 18:
		return eighth
	}
	if c.step != 0 {
		v := float64(math.Float32frombits(b))
		if n := math.Round(float64(v / c.step)); math.Abs(n) < 1<<20 && float32(float64(n*c.step)) == float32(v) {
			return stepped
		}
	}
	return fraction
}

// grid maps the values of a class to indices, in order.
type grid struct {
	class class
	unit  int
	step  float64 // of class stepped
	by    int64   // the same in fixed point, in units of 2^-16
}

// grid returns the grid of a class.
func (c *fieldPlan) grid(k class, unit int) grid {
	g := grid{class: k, unit: unit, step: c.step}
	if c.kind != frame.Float32 {
		g.class = integer
	} else if k == stepped {
		g.by = max(int64(min(math.Ldexp(c.step, unit+16), 1<<40)), 1)
	}
	return g
}

// index returns the index of a value, given by its bits, of the class.
func (g *grid) index(b uint32) int64 {
	switch v := math.Float32frombits(b); g.class {
	case integer:
		return int64(int32(b))
	case whole:
		return int64(v)
	case eighth:
		return int64(v * 8)
	case stepped:
		return int64(math.Round(float64(float64(v) / g.step)))
	}
	return ordered(b)
}

// bits is the inverse of index.
func (g *grid) bits(i int64) uint32 {
	switch g.class {
	case integer:
		return uint32(i)
	case whole:
		return math.Float32bits(float32(i))
	case eighth:
		return math.Float32bits(float32(i) / 8)
	case stepped:
		return math.Float32bits(float32(float64(float64(i) * g.step)))
	}
	return unordered(i)
}

// most returns the largest index.
func (g *grid) most() int64 {
	switch g.class {
	case integer:
		return math.MaxInt32
	case whole:
		return 1<<24 - 1
	case eighth:
		return 1<<21 - 1
	case stepped:
		return 1<<20 - 1
	}
	return 0x7f7fffff
}

// nearest returns the index of the value nearest to x.
func (g *grid) nearest(x int64) int64 {
	var i int64
	switch g.class {
	case fraction:
		i = ordered(unfix(x, g.unit))
	case stepped:
		x = min(max(x, -1<<45), 1<<45)<<16 + g.by/2
		i = x / g.by
		if x < 0 && i*g.by != x {
			i--
		}
	default:
		i = round(x, g.shift())
	}
	most := g.most()
	return min(max(i, -most-1), most)
}

// shift returns the number of bits of a value in fixed point that lie below an index of a whole
// number, an eighth or an integer.
func (g *grid) shift() int {
	if g.class == eighth {
		return g.unit - 3
	}
	return g.unit
}

// round returns x / 2^shift, rounded.
func round(x int64, shift int) int64 {
	switch {
	case shift <= 0:
		return x << uint(min(-shift, 8))
	case shift > 60:
		return 0
	}
	return (x + 1<<uint(shift-1)) >> uint(shift)
}

// below returns, in fixed point, where the values begin that are nearest to index i.
func (g *grid) below(i int64) int64 {
	switch g.class {
	case fraction:
		return (g.fix(i) + g.fix(i-1)) / 2
	case stepped:
		return ((2*i - 1) * g.by) >> 17
	}
	s := g.shift() - 1
	if s < 0 {
		return (2*i - 1) >> uint(min(-s, 62))
	}
	return (2*i - 1) << uint(min(s, 36))
}

// fix returns the value, in fixed point, of an index of class fraction.
func (g *grid) fix(i int64) int64 {
	return fix(unordered(min(max(i, -0x7f7fffff), 0x7f7fffff)), g.unit)
}

// fine returns the logarithm of the smallest error that counts: a quarter of a step.
func (g *grid) fine() int {
	n := 2
	switch g.class {
	case fraction:
	case stepped:
		n = bits.Len64(uint64(g.by)) - 17 - 2
	default:
		n = g.shift() - 2
	}
	return min(max(n, 0), 60)
}

// scaled returns a*b*2^-shift, at most maxFixed.
func scaled(a, b int64, shift int) int64 {
	negative := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(uint64(magnitude(a)), uint64(magnitude(b)))
	var v uint64
	switch {
	case shift <= 0 || shift >= 128:
		v = 0
	case shift >= 64:
		v = hi >> uint(shift-64)
	default:
		if hi>>uint(shift) != 0 {
			v = maxFixed
			break
		}
		v = hi<<uint(64-shift) | lo>>uint(shift)
	}
	x := int64(min(v, maxFixed))
	if negative {
		return -x
	}
	return x
}

// magnitude returns |v|.
func magnitude(v int64) int64 { return max(v, -v) }

// halfOctaves returns i with 2^(i/2) <= v < 2^((i+1)/2), for v >= 1.
func halfOctaves(v uint64) int {
	n := bits.Len64(v) - 1
	top := v << uint(63-n) // 1 to 2 in units of 2^-63
	i := 2 * n
	if top >= rootTwo {
		i++
	}
	return i
}

const rootTwo = 0xB504F333F9DE6484 // sqrt(2) * 2^63

// sqrt returns the square root of v, rounded down. For v >= 1<<52 the result of math.Sqrt may be off by
// one, which the loops correct.
func sqrt(v uint64) uint64 {
	r := uint64(math.Sqrt(float64(v)))
	for r > 0 && (r > math.MaxUint32 || r*r > v) {
		r--
	}
	for r < math.MaxUint32 && (r+1)*(r+1) <= v {
		r++
	}
	return r
}
