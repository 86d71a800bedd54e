package mdn

import "math"

// The library's exp and log are assembly on some processors and fuse products on
// others; these are equal everywhere, and good to about 1e-10.

const (
	ln2Hi = 6.93147180369123816490e-01 // its low bits are zero: times a small integer it is exact
	ln2Lo = 1.90821492927058770002e-10
)

// exp is the exponential function; it gives up to be small below -700 and to grow
// above 700.
func exp(x float64) float64 {
	x = min(max(x, -700), 700)
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	// The series of e^r, |r| < 0.347.
	p := 1.0 / 362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 0.5
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	return p * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

// log is the natural logarithm of a positive, normal number.
func log(x float64) float64 {
	bits := math.Float64bits(x)
	k := float64(int64(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // 1 to 2
	if m > math.Sqrt2 {
		m /= 2
		k++
	}
	// log m = 2 artanh s, |s| < 0.172.
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	p := 1.0 / 13
	p = float64(p*q) + 1.0/11
	p = float64(p*q) + 1.0/9
	p = float64(p*q) + 1.0/7
	p = float64(p*q) + 1.0/5
	p = float64(p*q) + 1.0/3
	p = float64(p*q) + 1
	return float64(2*s*p) + float64(k*ln2Lo) + float64(k*ln2Hi)
}

func logistic(x float64) float64 { return 1 / (1 + exp(-x)) }
