package rangecoder

import (
	"math"
	"math/rand/v2"
	"testing"
)

// flag returns 1 for true.
func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// The cost of a stationary source coded with one counter is near its entropy, also for skewed
// sources.
func TestCounterReachesEntropy(t *testing.T) {
	for _, q := range []float64{0.5, 0.1, 0.9, 0.01, 0.999, 0.0002} {
		rng := rand.New(rand.NewPCG(1, 2))
		entropy := -q*math.Log2(q) - (1-q)*math.Log2(1-q)
		counter := NewCounter(One/2, 0)
		var c Coder
		c.Write(nil)
		const n = 200_000
		for range n {
			counter.Code(&c, flag(rng.Float64() < q), maxCount)
		}
		if got := float64(c.Spent()) / One / n; got > 1.01*entropy+0.001 {
			t.Errorf("q = %g: a counter takes %.5f bits, entropy %.5f", q, got, entropy)
		}
	}
}

// No run of equal bits moves a counter out of the range of probabilities, or leaves it stuck at a
// bound.
func TestCounterStaysInRange(t *testing.T) {
	for bit := range 2 {
		counter := NewCounter(One/2, 0)
		for range 50_000 {
			counter.Update(bit, maxCount)
		}
		if p := counter.P(); bit == 0 && p > 1 || bit == 1 && p < One-1 {
			t.Errorf("a counter converges to %d after many %ds", p, bit)
		}
		for range 2000 {
			counter.Update(1-bit, 30)
		}
		if p := counter.P(); bit == 0 && p < One/2 || bit == 1 && p > One/2 {
			t.Errorf("a counter stays at %d after as many %ds", p, 1-bit)
		}
	}
	for _, p := range []uint32{0, 1, 2, 30000, One - 1, One, One + 9} {
		if got := NewCounter(p, 5000); got.P() < 1 || got.P() > One-1 || got.N() != maxCount {
			t.Errorf("NewCounter(%d, 5000) is at %d after %d bits", p, got.P(), got.N())
		}
	}
}

// Stretch and Squash match their formulas, are inverse to each other, and monotonic.
func TestStretchSquash(t *testing.T) {
	last := int32(math.MinInt32)
	for p := uint32(1); p < One; p++ {
		q := float64(p) / One
		want := math.Log(q/(1-q)) * stretchOne
		x := Stretch(p)
		if tolerance := 1 + stretchOne*8/(float64(min(p, One-p))); math.Abs(float64(x)-want) > tolerance && p >= coarseStart {
			t.Fatalf("Stretch(%d) = %d, want %.1f", p, x, want)
		} else if p < coarseStart && math.Abs(float64(x)-want) > 0.51 {
			t.Fatalf("Stretch(%d) = %d, want %.1f", p, x, want)
		}
		if x < last || x != -Stretch(One-p) {
			t.Fatalf("Stretch(%d) = %d after %d; of One-p %d", p, x, last, Stretch(One-p))
		}
		last = x
		if back := Squash(x); math.Abs(float64(back)-float64(p)) > 1+float64(min(p, One-p))*0.005 {
			t.Fatalf("Squash(Stretch(%d)) = %d", p, back)
		}
	}
	for x := int32(-30000); x <= 30000; x++ {
		want := One / (1 + math.Exp(-float64(x)/stretchOne))
		if got := float64(Squash(x)); math.Abs(got-want) > 0.75+want*0.0001 && got != 1 && got != One-1 {
			t.Fatalf("Squash(%d) = %.0f, want %.2f", x, got, want)
		}
	}
	if Squash(squashMin) != 1 || Squash(squashMin+1) == 0 || Squash(squashMax) != One-1 {
		t.Errorf("Squash ends with %d and %d", Squash(squashMin), Squash(squashMax))
	}
	if Squash(math.MinInt32) != 1 || Squash(math.MaxInt32) != One-1 || Squash(0) != One/2 || Stretch(One/2) != 0 {
		t.Error("Squash or Stretch is wrong at the bounds or in the middle")
	}
}

func BenchmarkCounter(b *testing.B) {
	var c Coder
	buf := make([]byte, 0, 1<<16)
	c.Write(buf)
	k, n := NewCounter(One/2, 0), 0
	for b.Loop() {
		k.Code(&c, n*7/3&1, 250)
		if n++; n&0xFFFF == 0 {
			c.Write(buf)
		}
	}
}
