package rows

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
)

// interestingFloats returns floats near the limits of exponents and classes, and random ones.
func interestingFloats(rng *rand.Rand) (list []float32) {
	for _, v := range []float64{0, 1, 0.125, 0.0625, 0.1, 1.0 / 3, 1e-45, 1e-38, 3.4e38, 1 << 17, 1<<18 - 0.125, 1 << 18, 1<<18 + 0.125, 1<<24 - 1, 1 << 24, 1<<24 + 2,
		0.25, 1.5, 104857.5, 104857.6, 7.9999995, 65535.875} {
		list = append(list, float32(v), -float32(v))
	}
	for range 3000 {
		v := math.Float32frombits(rng.Uint32())
		if rng.IntN(2) == 0 {
			v = float32(math.Round(rng.NormFloat64()*1e4) / 8)
		}
		if !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
			list = append(list, v)
		}
	}
	return list
}

// The fixed point is the value times 2^unit, rounded to the nearest integer, with halves away from zero,
// and limited to maxFixed from where a float of 24 bits would have 45.
func TestFloatToFixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, v := range interestingFloats(rng) {
		for range 8 {
			unit := rng.IntN(160) - 96
			got := floatToFixed(math.Float32bits(v), unit)
			want := math.Round(math.Ldexp(float64(v), unit))
			limit := math.Copysign(maxFixed, float64(v))
			if got != int64(limit) && float64(got) != want || math.Abs(want) >= maxFixed*2 && got != int64(limit) ||
				got == int64(limit) && math.Abs(want) < maxFixed/16 {
				t.Fatalf("%g in units of 2^-%d is %d, want %g", v, unit, got, want)
			}
			if math.Abs(want) < maxFixed/2 && want != 0 {
				back := math.Float32frombits(fixedToFloat(got, unit))
				if exact := math.Ldexp(float64(got), -unit); math.Abs(exact) > 1e-37 && math.Abs(exact) < 1e38 && back != float32(exact) {
					t.Fatalf("%d in units of 2^-%d is %g, want %g", got, unit, back, exact)
				}
			}
		}
	}
	for _, c := range []struct {
		x    int64
		unit int
		want float64
	}{{0, 5, 0}, {1, 126, 0x1p-126}, {1, 127, 0}, {-1, 127, math.Copysign(0, -1)}, {1, -127, 0x1p127}, {3, -127, 0x1.8p127}} {
		if got := math.Float32frombits(fixedToFloat(c.x, c.unit)); float64(got) != c.want || math.Signbit(float64(got)) != math.Signbit(c.want) {
			t.Errorf("%d in units of 2^-%d is %g, want %g", c.x, c.unit, got, c.want)
		}
	}
}

// Ordered indices are in the order of the floats, without gaps, and exponent is that of math.Frexp.
func TestOrderedIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, v := range interestingFloats(rng) {
		b := math.Float32bits(v)
		i := orderedIndex(b)
		if next := math.Nextafter32(v, float32(math.Inf(1))); orderedIndex(math.Float32bits(next)) != i+1 && v != math.MaxFloat32 {
			t.Fatalf("%g has index %d, the next float %d", v, i, orderedIndex(math.Float32bits(next)))
		}
		if back := math.Float32frombits(fromOrderedIndex(i)); back != v {
			t.Fatalf("index %d of %g is that of %g", i, v, back)
		}
		if math.Abs(float64(v)) > 0x1p-126 {
			if _, e := math.Frexp(float64(v)); exponent(b) != e-1 {
				t.Fatalf("the exponent of %g is %d, want %d", v, exponent(b), e-1)
			}
		}
	}
}

// The class of a float is the first of: whole number below 2^24, multiple of 1/8 below 2^18, multiple of
// the step below 2^20 steps, other. In the grid of its class a value has an index from which it is
// restored, and indices are consecutive.
func TestClassesAndGrids(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, step := range []float64{0, 0.1, 360.0 / 65536} {
		c := &fieldPlan{kind: frame.Float32, step: step}
		values := interestingFloats(rng)
		for range 1000 {
			values = append(values, float32(float64(rng.IntN(1<<21+4)-1<<20)*step))
		}
		values = append(values, float32(float64(1<<20)*step), float32(float64(1<<20-1)*step), float32(-float64(1<<20)*step))
		for _, v := range values {
			x := float64(v)
			want, b := classOther, math.Float32bits(v)
			switch n := math.Round(x / step); {
			case v == 0 && math.Signbit(x):
				want = classSpecial
			case x == math.Trunc(x) && math.Abs(x) < 1<<24:
				want = classWhole
			case x*8 == math.Trunc(x*8) && math.Abs(x) < 1<<18:
				want = classEighth
			case step != 0 && math.Abs(n) < 1<<20 && float32(n*step) == v:
				want = classStepped
			}
			got := c.classOf(b)
			if got != want {
				t.Fatalf("with step %g, %g has class %d, want %d", step, v, got, want)
			}
			if got == classSpecial {
				continue
			}
			g := c.grid(got, 8)
			i := g.index(b)
			if g.bits(i) != b || i > g.maxIndex() || i < -g.maxIndex() {
				t.Fatalf("with step %g, %g of class %d has index %d of %d, which stands for %x, want %x", step, v, got, i, g.maxIndex(), g.bits(i), b)
			}
			if scale := map[floatClass]float64{classWhole: 1, classEighth: 8, classStepped: 1 / step}[got]; scale != 0 && float64(i) != math.Round(x*scale) {
				t.Fatalf("with step %g, %g of class %d has index %d", step, v, got, i)
			}
		}
	}
	for _, b := range []uint32{1 << 31, math.Float32bits(float32(math.Inf(1))), math.Float32bits(float32(math.Inf(-1))), 0x7fc00001} {
		if got := (&fieldPlan{kind: frame.Float32}).classOf(b); got != classSpecial {
			t.Errorf("%x has class %d", b, got)
		}
	}
	integers := (&fieldPlan{kind: frame.Quantity}).grid(classWhole, integerUnit)
	for _, v := range []int32{math.MinInt32, -1, 0, 7, math.MaxInt32} {
		if i := integers.index(uint32(v)); i != int64(v) || integers.bits(i) != uint32(v) {
			t.Errorf("integer %d has index %d", v, i)
		}
	}
}

// The nearest index is that of the value at the least distance.
func TestNearestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	field := &fieldPlan{kind: frame.Float32, step: 0.1}
	for _, unit := range []int{0, 1, 2, 3, 4, 8, 17} {
		for _, class := range []floatClass{classWhole, classEighth, classStepped, classInteger} {
			g := field.grid(class, unit)
			scale := math.Ldexp(1, unit) // fixed point of one index
			switch class {
			case classEighth:
				scale /= 8
			case classStepped:
				scale = float64(g.fixedStep) / (1 << 16)
				if math.Abs(scale-0.1*math.Ldexp(1, unit)) > 1.0/(1<<16) {
					t.Errorf("a step of 0.1 is %g of 2^-%d", scale, unit)
				}
			case classInteger:
				g = (&fieldPlan{kind: frame.Quantity}).grid(classWhole, unit)
			}
			for range 500 {
				x := rng.Int64N(2_000_001) - 1_000_000
				i := g.nearestIndex(x)
				exact := float64(x) / scale
				if max := float64(g.maxIndex()); exact < max-1 && exact > 1-max && math.Abs(float64(i)-exact) > 0.5+1e-9 {
					t.Fatalf("class %d, unit %d: the index nearest to %d is %d, want %.3f", class, unit, x, i, exact)
				}
			}
		}
	}
	// Floats of no other class: the nearest is that of fixedToFloat.
	g := field.grid(classOther, 20)
	for range 1000 {
		v := float32(rng.NormFloat64() * 100)
		x := floatToFixed(math.Float32bits(v), 20)
		i := g.nearestIndex(x)
		if math.Abs(float64(math.Float32frombits(fromOrderedIndex(i)))-float64(x)/(1<<20)) > math.Abs(float64(v))/(1<<23) {
			t.Fatalf("the float nearest to %g has index %d", float64(x)/(1<<20), i)
		}
	}
	integers := (&fieldPlan{}).grid(classWhole, integerUnit)
	if lo, hi := integers.nearestIndex(-maxFixed), integers.nearestIndex(maxFixed); lo != math.MinInt32 || hi != math.MaxInt32 {
		t.Errorf("integers are limited to %d and %d", lo, hi)
	}
}

// roundShift divides by a power of two and rounds halves up; a negative shift multiplies, by at most 2^8.
func TestRoundShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		x, shift := rng.Int64N(maxFixed)-maxFixed/2, rng.IntN(90)-20
		want := math.Floor(math.Ldexp(float64(x), -max(shift, -8)) + 0.5)
		if got := roundShift(x, shift); float64(got) != want {
			t.Fatalf("%d >> %d is %d, want %g", x, shift, got, want)
		}
	}
	if got := roundShift(1<<60, 61); got != 0 {
		t.Errorf("a shift of 61 gives %d", got)
	}
	if got := roundShift(1<<60, 60); got != 1 {
		t.Errorf("2^60 shifted by 60 gives %d", got)
	}
}

// mulShift equals the operation on big integers.
func TestIntegerMathematics(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 5000 {
		a, b, shift := int64(rng.Uint64())>>rng.IntN(63), int64(rng.Uint64())>>rng.IntN(63), rng.IntN(140)-5
		product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		want := new(big.Int)
		if shift >= 1 && shift <= 127 {
			want.Quo(product, new(big.Int).Lsh(big.NewInt(1), uint(shift))) // towards 0
		}
		if limit := big.NewInt(maxFixed); want.CmpAbs(limit) > 0 {
			want.Mul(limit, big.NewInt(int64(product.Sign())))
		}
		if got := mulShift(a, b, shift); a != math.MinInt64 && b != math.MinInt64 && got != want.Int64() {
			t.Fatalf("%d * %d >> %d is %d, want %d", a, b, shift, got, want)
		}
	}
	if abs(-5) != 5 || abs(5) != 5 || abs(0) != 0 {
		t.Error("abs is wrong")
	}
}
