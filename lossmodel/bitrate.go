package lossmodel

import (
	"math"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// bitErrors draws how many of a datagram's bits are flipped where each is by
// itself with the same probability: binomial, by adding up its terms. All is
// multiplication and division of floats one at a time, which every machine rounds
// alike.
type bitErrors struct {
	rate float64
	n    int     // bits, of the datagram before
	none float64 // (1-rate)^n
}

// count returns the number of flips that word stands for, at most maxFlips.
func (b *bitErrors) count(word uint64, n int) int {
	if n != b.n {
		b.n, b.none = n, power(1-b.rate, n)
	}
	u := float64(word>>11) / (1 << 53)
	term, below := b.none, b.none
	odds := b.rate / (1 - b.rate)
	k := 0
	for u >= below && k < min(n, maxFlips) {
		term = float64(term*odds) * float64(n-k) / float64(k+1)
		below += term
		k++
	}
	return k
}

// power returns x^n by squaring.
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

// bitRateUnit takes what people write for bit error rates: 1e-6.
var bitRateUnit = setting.Unit[float64]{
	Name: "per bit", Expected: `a bit error rate from 0 to 0.1, such as "1e-6", or "off"`, Min: "1e-15", Max: "0.1",
	Parse: func(v any) (float64, bool) {
		if setting.IsOff(v) {
			return 0, true
		}
		text, ok := v.(string)
		if !ok {
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
	Number: func(f float64) float64 { return f },
	In:     func(f float64) bool { return f == 0 && !math.Signbit(f) || f >= 1e-15 && f <= 0.1 },
}
