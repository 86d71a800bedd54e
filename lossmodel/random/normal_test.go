package random

import (
	"math"
	"testing"
	"time"

	"wirelab/internal/seed"
)

// offBy returns how far, in standard deviations, z is from the point beyond which
// the normal distribution has probability p.
func offBy(z, p float64) float64 {
	return (math.Erfc(z/math.Sqrt2)/2 - p) * math.Sqrt(2*math.Pi) * math.Exp(z*z/2)
}

// The table and the interpolation against the integral, over the whole range.
func TestNormalTable(t *testing.T) {
	for i, got := range normalTable {
		p := math.Ldexp(1+float64(i%normalParts)/normalParts, i/normalParts-normalOctaves-1)
		if off := offBy(float64(got)/(1<<normalUnitBits), p); math.Abs(off) > 3e-9 { // half a unit, and some rounding of Erfc
			t.Fatalf("entry %d is %d, off by %g standard deviations", i, got, off)
		}
	}
	worst := 0.0
	for i := range 200_000 {
		rest := seed.Derive(uint64(i), 0) >> 1 >> (i % normalOctaves) // as often in each octave
		if rest < 1<<30 {
			continue // beyond the table's end
		}
		p := (float64(rest) + 0.5) / (1 << 32) / (1 << 32)
		z := float64(Normal(rest, time.Hour)) / float64(time.Hour)
		if mirrored := Normal(rest|1<<63, time.Hour); mirrored != Normal(rest, time.Hour)*-1 {
			t.Fatalf("word %#x: not symmetric", rest)
		}
		worst = max(worst, math.Abs(offBy(-z, p)))
	}
	t.Logf("off by at most %.6f standard deviations", worst)
	if worst > 0.0001 {
		t.Errorf("the interpolation is off by up to %.6f standard deviations", worst)
	}
}
