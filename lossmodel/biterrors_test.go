package lossmodel

import (
	"strings"
	"testing"

	"wirelab/internal/units"
)

// The number of flips inverts the binomial distribution function. For three bits at a rate of 0.1 its values are
// 0.729, 0.972, 0.999 and 1.
func TestBitErrorQuantiles(t *testing.T) {
	b := bitErrors{rate: 0.1}
	for _, x := range []struct {
		u    float64
		want int
	}{{0, 0}, {0.728, 0}, {0.730, 1}, {0.971, 1}, {0.973, 2}, {0.998, 2}, {0.9995, 3}, {1 - 1e-15, 3}} {
		if got := b.draw(uint64(x.u*(1<<53))<<11, 3); got != x.want {
			t.Errorf("%g: %d flips of 3 bits, want %d", x.u, got, x.want)
		}
	}
}

// A bit error rate has at most units.MaxDigits characters.
func TestBitErrorRateLength(t *testing.T) {
	for n, want := range map[int]bool{units.MaxDigits: true, units.MaxDigits + 1: false} {
		text := "0.001" + strings.Repeat("0", n-len("0.001"))
		if rate, ok := bitErrorRateUnit.Parse(text); ok != want || ok && rate != 0.001 {
			t.Errorf("%d characters: %g, %v", n, rate, ok)
		}
	}
}
