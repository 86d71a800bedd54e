package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/rotation"
)

func TestTrigonometry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		x, y := math.Abs(rng.NormFloat64()), math.Abs(rng.NormFloat64())
		if got, want := angle(y, x), math.Atan2(y, x); math.Abs(got-want) > 1e-12 {
			t.Fatalf("angle(%v, %v) = %v, want %v", y, x, got, want)
		}
	}
	if angle(0, 1) != 0 || math.Abs(angle(1, 0)-math.Pi/2) > 1e-12 {
		t.Errorf("on the axes: %v, %v", angle(0, 1), angle(1, 0))
	}
}

func distance(a, b quat) float64 {
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
		if d := distance(Mul(Conj(exp(w)), Mul(exp(w), exp(v))), exp(v)); d > 1e-6 {
			t.Fatalf("a turn and back leaves %v", d)
		}
	}
	if v := Log(exp(vec{X: 1e-12})); v.X != 1e-12 {
		t.Errorf("a tiny turn became %v", v)
	}
}

// Quantised as the recorder does and read back, a rotation is off by no more than
// the rounding.
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
		if d := distance(RotationOf(row), quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}); d > 0.008 {
			t.Fatalf("%v became %v: %v off", q, RotationOf(row), d)
		}
	}
	row := []int32{3, 511, 511, 511, 0, 0, 0, 0} // no such rotation: three times 0.7
	q := RotationOf(row)
	if n := q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W; math.Abs(n-1) > 1e-12 {
		t.Errorf("a row that is no rotation became %v", q)
	}
}

// Mul and Conj are those of package rotation, to the bit.
func TestProducts(t *testing.T) {
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
