package lossmodel

import (
	"math"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// bitErrors draws the number of flipped bits of a datagram from a binomial distribution: every
// bit is flipped independently with probability rate. It sums the terms of the distribution. Each
// float operation is rounded separately, so that all machines give the same result.
type bitErrors struct {
	rate     float64
	bits     int     // size of the last datagram, to which noneProb belongs
	noneProb float64 // (1-rate)^bits
}

// draw returns the number of flips for a random word and a datagram of n bits, at most maxFlips.
// It inverts the distribution function.
func (b *bitErrors) draw(word uint64, n int) int {
	if n != b.bits {
		b.bits, b.noneProb = n, power(1-b.rate, n)
	}
	u := float64(word>>11) / (1 << 53)    // uniform in [0, 1): the 53 bits that a float64 holds exactly
	term, total := b.noneProb, b.noneProb // probability of k flips, and of at most k flips
	odds := b.rate / (1 - b.rate)         // term(k+1) = term(k) * odds * (n-k) / (k+1)
	k := 0
	for u >= total && k < min(n, maxFlips) {
		term = float64(term*odds) * float64(n-k) / float64(k+1)
		total += term
		k++
	}
	return k
}

// power returns x^n by repeated squaring.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// bitErrorRateUnit is the unit of bit error rates such as 1e-6.
var bitErrorRateUnit = setting.Unit[float64]{
	Name: "per bit", Expected: `a bit error rate from 0 to 0.1, such as "1e-6", or "off"`, Min: "1e-15", Max: "0.1",
	Parse: func(v any) (float64, bool) {
		if setting.IsOff(v) {
			return 0, true
		}
		text, ok := v.(string)
		if !ok { // numbers of a configuration file are not texts
			return setting.ParseNumber(v)
		}
		text = strings.TrimSpace(text)
		if len(text) > units.MaxDigits || strings.Trim(text, "0123456789.eE+-") != "" {
			return 0, false
		}
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	},
	Format: func(f float64) string {
		if f == 0 {
			return "off"
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	},
	Number:  func(f float64) float64 { return f },
	InRange: func(f float64) bool { return f == 0 && !math.Signbit(f) || f >= 1e-15 && f <= 0.1 },
}
