package datagram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rotate, angle and roundedSqrt agree with floating-point arithmetic.
func TestRotation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		size := 24 - rng.IntN(16)
		x, y, turn := int64(rng.IntN(1<<size)-1<<(size-1)), int64(rng.IntN(1<<size)-1<<(size-1)), int32(rng.Uint32())
		a, b := rotate(x, y, turn)
		sin, cos := math.Sincos(float64(turn) / (1 << 31) * math.Pi)
		fx, fy := float64(x), float64(y)
		near := 1 + math.Hypot(fx, fy)/(1<<16)
		if math.Abs(float64(a)-fx*cos+fy*sin) > near || math.Abs(float64(b)-fx*sin-fy*cos) > near {
			t.Fatalf("rotate(%d, %d, %d) = (%d, %d)", x, y, turn, a, b)
		}
		if x == 0 && y == 0 {
			continue
		}
		want := int32(int64(math.Atan2(fy, fx) / math.Pi * (1 << 31)))
		if d := angle(x, y) - want; max(d, -d) > 1<<15 {
			t.Fatalf("angle(%d, %d) = %d, want %d", x, y, angle(x, y), want)
		}
		v := rng.Int64N(1 << (2*size + 1))
		if r := roundedSqrt(v); math.Abs(float64(r)-math.Sqrt(float64(v))) > 0.5000001 {
			t.Fatalf("roundedSqrt(%d) = %d", v, r)
		}
	}
}
