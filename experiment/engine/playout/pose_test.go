package playout

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
	"wirelab/dataset/physics"
)

// The spline reproduces a parabola, with unequal spacing and with a neighbour missing. Without
// neighbours it is linear.
func TestSplineReproducesParabola(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		at := [4]time.Duration{0: time.Duration(rng.IntN(1e9))}
		for i := 1; i < 4; i++ {
			at[i] = at[i-1] + time.Duration(1e7+rng.IntN(3e8))
		}
		f := func(t time.Duration) float64 { return a + b*t.Seconds() + c*t.Seconds()*t.Seconds() }
		value := func(w *spline) (sum float64) {
			for i, v := range w {
				sum += v * f(at[i])
			}
			return sum
		}
		moment := at[1] + time.Duration(rng.Int64N(int64(at[2]-at[1])))
		before, after := rng.IntN(2) == 0, rng.IntN(2) == 0
		s := newSpline(at, before, after, moment)
		want := f(moment)
		if !before && !after {
			u := float64(moment-at[1]) / float64(at[2]-at[1])
			want = f(at[1]) + u*(f(at[2])-f(at[1]))
		}
		if got := value(&s); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v at %v, neighbours %v %v: %g, want %g", at, moment, before, after, got, want)
		}
	}
}

// The angle of the normalised interpolation at t of a rotation by phi is twice the angle whose
// tangent is t sin(phi/2) / (1 - t + t cos(phi/2)). The sign of a quaternion does not matter.
func TestNlerpTakesShorterArc(t *testing.T) {
	about := func(phi float64) physics.Quat {
		const x, y, z = 2.0 / 7, 3.0 / 7, 6.0 / 7
		sin, cos := math.Sincos(phi / 2)
		return physics.Quat{X: x * sin, Y: y * sin, Z: z * sin, W: cos}
	}
	rng := rand.New(rand.NewPCG(6, 1))
	for range 2000 {
		from, phi, share := rng.Float64()*6-3, rng.Float64()*3.1, rng.Float64()
		a, b := about(from), about(from+phi)
		if rng.IntN(2) == 0 {
			b = physics.Quat{X: -b.X, Y: -b.Y, Z: -b.Z, W: -b.W}
		}
		got := nlerp(a, b, share)
		turned := 2 * math.Atan2(share*math.Sin(phi/2), 1-share+share*math.Cos(phi/2))
		want := about(from + turned)
		if d := math.Abs(dot(got, want)); math.Abs(d-1) > 1e-12 {
			t.Fatalf("%g of the way by %g: %+v, want %+v", share, phi, got, want)
		}
		p, q := cubePose{pos: physics.Vec{X: 1}, rot: a}, cubePose{pos: physics.Vec{X: 1.25, Y: 0.5}, rot: got}
		um, mdeg := poseError(&p, &q)
		if math.Abs(float64(mdeg)-turned*180_000/math.Pi) > 0.6 || math.Abs(float64(um)-math.Hypot(250_000, 500_000)) > 0.6 {
			t.Fatalf("%d um and %d thousandths of a degree apart, want %g and %g", um, mdeg, math.Hypot(250_000, 500_000),
				turned*180_000/math.Pi)
		}
	}
	if q := nlerp(about(0), about(math.Pi), 0.5); math.Abs(dot(q, q)-1) > 1e-9 {
		t.Errorf("half a turn apart: %+v", q)
	}
	if q := nlerp(physics.Quat{W: 1}, physics.Quat{W: -1}, 0.5); q != (physics.Quat{W: 1}) {
		t.Errorf("the same rotation with another sign: %+v", q)
	}
}
