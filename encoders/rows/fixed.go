package rows

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
)

// Predictions are computed in fixed point: x stands for x * 2^-unit. The unit of a float field
// adapts to the largest value that the field has had, so that this value takes floatReach bits.
const (
	maxFixed    = 1 << 44 // bound of fixed-point values
	integerUnit = 4       // unit of fields that are not floats: predictions are in sixteenths of a step
	floatReach  = 32      // bits of the largest value of a float field
	minUnit     = -96     // unit of a field whose largest value is near the greatest float, 2^128
)

// floatToFixed returns the fixed-point value of the float whose bits are b: the float times 2^unit, rounded,
// and limited to about maxFixed.
func floatToFixed(b uint32, unit int) int64 {
	e := int(b >> 23 & 255)
	m := int64(b & (1<<23 - 1))
	if e == 0 { // subnormal: no implicit bit
		e = 1
	} else {
		m |= 1 << 23
	}
	shift := e - 150 + unit // the value is m * 2^(e-150): 127 of the exponent's bias, 23 fraction bits
	switch {
	case shift >= 21: // m has up to 24 bits: the result would exceed maxFixed
		if m != 0 {
			m = maxFixed
		}
	case shift >= 0:
		m <<= uint(shift)
	case shift > -32:
		m = (m + 1<<uint(-shift-1)) >> uint(-shift)
	default: // far below the unit: rounds to 0
		m = 0
	}
	if b>>31 != 0 {
		return -m
	}
	return m
}

// fixedToFloat returns the bits of the float nearest to the fixed-point value x, which stands for
// x * 2^-unit. Values too small for a normal float become 0.
func fixedToFloat(x int64, unit int) uint32 {
	if x == 0 {
		return 0
	}
	b := math.Float32bits(float32(x))
	e := int(b>>23&255) - unit // biased exponent of the result
	if e <= 0 {
		return b & (1 << 31) // a zero with the sign of x
	}
	return b&^(255<<23) | uint32(min(e, 254))<<23 // 254: the largest exponent of a finite float
}

// exponent returns e with 2^e <= |v| < 2^(e+1) for the normal float v whose bits are b.
func exponent(b uint32) int { return int(b>>23&255) - 127 }

// orderedIndex maps the bits of a float to an integer such that larger floats have larger integers.
// Both zeros map to 0.
func orderedIndex(b uint32) int64 {
	if b>>31 == 1 {
		return -int64(b & math.MaxInt32)
	}
	return int64(b)
}

// fromOrderedIndex is the inverse of orderedIndex.
func fromOrderedIndex(i int64) uint32 {
	if i < 0 {
		return uint32(-i) | 1<<31
	}
	return uint32(i)
}

// A floatClass is the class of a float value. Games store whole numbers, multiples of 1/8 and
// multiples of a step as floats; the class makes the index of such a value small.
type floatClass uint8

const (
	classWhole   floatClass = iota
	classEighth             // multiple of 1/8
	classStepped            // multiple of the field's step
	classOther              // any other finite number
	classSpecial            // -0, an infinity or a NaN: coded as 32 bits
	classInteger            // not a float; only in a grid
)

// classOf returns the class of the float whose bits are b; classWhole for a field that is not a
// float.
func (c *fieldPlan) classOf(b uint32) floatClass {
	if c.kind != frame.Float32 {
		return classWhole
	}
	e := exponent(b)
	switch {
	case b == 1<<31 || e == 128: // -0; infinite or NaN
		return classSpecial
	case b == 0:
		return classWhole
	case e < -3 && c.step == 0: // magnitude below 1/8
		return classOther
	}
	lowestBit := e - 23 + bits.TrailingZeros32(b&(1<<23-1)|1<<23) // exponent of the lowest bit that is set
	switch {                                                      // the bounds of e keep indices within maxIndex
	case lowestBit >= 0 && e < 24:
		return classWhole
	case lowestBit >= -3 && e < 18:
		return classEighth
	}
	if c.step != 0 {
		v := math.Float32frombits(b)
		n := math.Round(float64(float64(v) / c.step))
		if math.Abs(n) < 1<<20 && float32(float64(n*c.step)) == v {
			return classStepped
		}
	}
	return classOther
}

// A grid maps the values of a class to consecutive integers, their indices, in order.
type grid struct {
	class     floatClass
	unit      int     // unit of the fixed point: x stands for x * 2^-unit
	step      float64 // step of classStepped; see Hint.Step
	fixedStep int64   // step in fixed point, in units of 2^-16
}

// grid returns the grid of a class of the field's values. unit is that of the field's fixed point.
func (c *fieldPlan) grid(class floatClass, unit int) grid {
	g := grid{class: class, unit: unit, step: c.step}
	if c.kind != frame.Float32 {
		g.class = classInteger
	} else if class == classStepped {
		g.fixedStep = max(int64(min(math.Ldexp(c.step, unit+16), 1<<40)), 1)
	}
	return g
}

// index returns the index of a value of the grid's class. b holds the bits of the float; for classInteger
// it is the integer.
func (g *grid) index(b uint32) int64 {
	switch v := math.Float32frombits(b); g.class {
	case classInteger:
		return int64(int32(b))
	case classWhole:
		return int64(v)
	case classEighth:
		return int64(v * 8)
	case classStepped:
		return int64(math.Round(float64(float64(v) / g.step)))
	}
	return orderedIndex(b)
}

// bits returns the value with index i: the bits of the float, or the integer. It is the inverse of
// index.
func (g *grid) bits(i int64) uint32 {
	switch g.class {
	case classInteger:
		return uint32(i)
	case classWhole:
		return math.Float32bits(float32(i))
	case classEighth:
		return math.Float32bits(float32(i) / 8)
	case classStepped:
		return math.Float32bits(float32(float64(float64(i) * g.step)))
	}
	return fromOrderedIndex(i)
}

// maxIndex returns the largest index. The smallest is its negative, except of classInteger.
func (g *grid) maxIndex() int64 {
	switch g.class {
	case classInteger:
		return math.MaxInt32
	case classWhole:
		return 1<<24 - 1 // all whole numbers up to this have an exact float
	case classEighth:
		return 1<<21 - 1 // magnitudes below 2^18, as classOf requires
	case classStepped:
		return 1<<20 - 1 // the bound that classOf requires
	}
	return 0x7f7fffff // the largest finite float
}

// nearestIndex returns the index of the value nearest to x, in fixed point.
func (g *grid) nearestIndex(x int64) int64 {
	var i int64
	switch g.class {
	case classOther:
		i = orderedIndex(fixedToFloat(x, g.unit))
	case classStepped:
		x = min(max(x, -1<<45), 1<<45)<<16 + g.fixedStep/2 // fixedStep has 16 fractional bits
		i = x / g.fixedStep
		if x < 0 && i*g.fixedStep != x { // division rounds towards zero, not down
			i--
		}
	default:
		i = roundShift(x, g.shift())
	}
	maxIndex := g.maxIndex()
	// Integers have one more negative value than positive ones. Indices of floats are limited again after
	// coding.
	return min(max(i, -maxIndex-1), maxIndex)
}

// shift returns the number of bits by which a fixed-point value is shifted to get its index: the fixed point
// has unit fractional bits, and an index of classEighth keeps three of them. The classes classStepped and
// classOther have no shift: their grids do not have steps of a power of two.
func (g *grid) shift() int {
	if g.class == classEighth {
		return g.unit - 3
	}
	return g.unit
}

// roundShift returns x / 2^shift, rounded. If shift is negative, it shifts left by at most 8, so that the
// result does not overflow.
func roundShift(x int64, shift int) int64 {
	switch {
	case shift <= 0:
		return x << uint(min(-shift, 8))
	case shift > 60:
		return 0
	}
	return (x + 1<<uint(shift-1)) >> uint(shift)
}

// mulShift returns a*b*2^-shift, rounded towards 0 and limited to +-maxFixed; 0 if shift is not in 1 to
// 127. The product has 128 bits.
func mulShift(a, b int64, shift int) int64 {
	negative := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
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

func abs(v int64) int64 { return max(v, -v) }
