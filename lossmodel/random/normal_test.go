package random

import (
	"math"
	"testing"
	"time"

	"wirelab/internal/seed"
)

// quantileError returns the difference between z and the point that a normal variable exceeds
// with probability p, in standard deviations.
func quantileError(z, p float64) float64 {
	return (math.Erfc(z/math.Sqrt2)/2 - p) * math.Sqrt(2*math.Pi) * math.Exp(z*z/2)
}

// The table and the interpolation agree with the integral over the complete range.
func TestNormalTable(t *testing.T) {
	for i, got := range normalTable {
		p := math.Ldexp(1+float64(i%normalParts)/normalParts, i/normalParts-normalOctaves-1)
		if off := quantileError(float64(got)/(1<<normalUnitBits), p); math.Abs(off) > 3e-9 { // rounding by half a unit, and rounding errors of Erfc
			t.Fatalf("entry %d is %d, error %g standard deviations", i, got, off)
		}
	}
	worst := 0.0
	for i := range 200_000 {
		rest := seed.Derive(uint64(i), 0) >> 1 >> (i % normalOctaves) // equally often in each octave
		if rest < 1<<30 {
			continue // beyond the table's end
		}
		p := (float64(rest) + 0.5) / (1 << 32) / (1 << 32)
		z := float64(Normal(rest, time.Hour)) / float64(time.Hour)
		if mirrored := Normal(rest|1<<63, time.Hour); mirrored != Normal(rest, time.Hour)*-1 {
			t.Fatalf("word %#x: not symmetric", rest)
		}
		worst = max(worst, math.Abs(quantileError(-z, p)))
	}
	t.Logf("largest error %.6f standard deviations", worst)
	if worst > 0.0001 {
		t.Errorf("the largest error of the interpolation is %.6f standard deviations, expected at most 0.0001", worst)
	}
}
