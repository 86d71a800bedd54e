package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/rotation"
)

func TestAtan2(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		x, y := math.Abs(rng.NormFloat64()), math.Abs(rng.NormFloat64())
		if got, want := atan2(y, x), math.Atan2(y, x); math.Abs(got-want) > 1e-12 {
			t.Fatalf("angle(%v, %v) = %v, want %v", y, x, got, want)
		}
	}
	if atan2(0, 1) != 0 || math.Abs(atan2(1, 0)-math.Pi/2) > 1e-12 {
		t.Errorf("on the axes: %v, %v", atan2(0, 1), atan2(1, 0))
	}
}

// angleBetween returns the angle between two orientations in radians.
func angleBetween(a, b quat) float64 {
	dot := math.Abs(a.X*b.X + a.Y*b.Y + a.Z*b.Z + a.W*b.W)
	return 2 * math.Acos(min(dot, 1))
}

// exp is the inverse of Log.
func exp(v vec) quat {
	length := v.Length()
	sin, cos := math.Sincos(length / 2)
	k := 0.5
	if length > 0 {
		k = sin / length
	}
	return quat{X: v.X * k, Y: v.Y * k, Z: v.Z * k, W: cos}
}

func TestLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		v := vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
		v = v.Limit(3.14)
		if d := Log(exp(v)).Sub(v).Length(); d > 1e-9 {
			t.Fatalf("%v became %v", v, Log(exp(v)))
		}
		w := vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
		if d := angleBetween(Mul(Conj(exp(w)), Mul(exp(w), exp(v))), exp(v)); d > 1e-6 {
			t.Fatalf("a rotation and its inverse give a rotation by %v", d)
		}
	}
	if v := Log(exp(vec{X: 1e-12})); v.X != 1e-12 {
		t.Errorf("Log of a tiny rotation is %v", v)
	}
}

// TestRotationOf checks that decoding a quantised rotation has no larger error than rounding.
func TestRotationOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		q := [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		norm := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		largest := 0
		for i := range q {
			q[i] /= norm
			if math.Abs(q[i]) > math.Abs(q[largest]) {
				largest = i
			}
		}
		row, at := make([]int32, frame.CubeFields), frame.CubeA
		row[frame.CubeLargest] = int32(largest)
		for i := range q {
			if i != largest {
				v := q[i] * math.Copysign(1, q[largest])
				row[at] = int32(math.Floor((v+math.Sqrt2/2)/math.Sqrt2*511 + 0.5))
				at++
			}
		}
		if d := angleBetween(Orientation(row), quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}); d > 0.008 {
			t.Fatalf("%v is decoded as %v, an error of %v", q, Orientation(row), d)
		}
	}
	row := []int32{3, 511, 511, 511, 0, 0, 0, 0} // not a rotation: three components of 0.7
	q := Orientation(row)
	if n := q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W; math.Abs(n-1) > 1e-12 {
		t.Errorf("a row that is not a rotation is decoded as %v, want a unit quaternion", q)
	}
}

// TestMulConj compares Mul and Conj with package rotation, to the bit.
func TestMulConj(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	random := func() rotation.Quaternion {
		return rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	}
	for range 10_000 {
		p, q := random(), random()
		if got, want := Mul(toQuat(p), toQuat(q)), toQuat(p.Times(q)); got != want {
			t.Fatalf("%v times %v is %v, want %v", p, q, got, want)
		}
		if got, want := Conj(toQuat(p)), toQuat(p.Conjugate()); got != want {
			t.Fatalf("the inverse of %v is %v, want %v", p, got, want)
		}
	}
}
