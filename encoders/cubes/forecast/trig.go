package forecast

import "math"

// The library's arc tangent differs in the last bit between processors. This one does
// not: it takes a few products, none of them fused.

// angle returns the angle of the point (x, y) with x and y at least 0, not both 0.
// Halving it twice makes the series short: the error is below 1e-12.
func angle(y, x float64) float64 {
	if y > x {
		return math.Pi/2 - angle(x, y)
	}
	t := half(half(y / x))
	u := float64(t * t)
	sum := 1.0 / 17
	for _, c := range [...]float64{1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1} {
		sum = c - float64(u*sum)
	}
	return float64(4 * t * sum)
}

// half returns the tangent of half the angle whose tangent is t.
func half(t float64) float64 { return t / (1 + math.Sqrt(1+float64(t*t))) }
