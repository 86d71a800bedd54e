package rotation_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/encoders/rotation"
)

func random(rng *rand.Rand) rotation.Quaternion {
	q := rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	n := math.Sqrt(dot(q, q))
	return rotation.Quaternion{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

func dot(p, q rotation.Quaternion) float64 { return p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3] }

// TestQuaternion checks Times, Conjugate, Negative and Largest.
func TestQuaternion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		p, q := random(rng), random(rng)
		if back := p.Conjugate().Times(p.Times(q)); dot(back, q) < 1-1e-12 {
			t.Fatalf("%v times a rotation and its inverse is %v", q, back)
		}
		if dot(q, q.Negative()) > -1+1e-12 {
			t.Fatalf("the negative of %v is %v", q, q.Negative())
		}
		first, second := q.Largest()
		for i, v := range q {
			if v = math.Abs(v); v > math.Abs(q[first]) || i != first && v > math.Abs(q[second]) {
				t.Fatalf("largest of %v: %d, then %d", q, first, second)
			}
		}
	}
	if first, second := (&rotation.Quaternion{0.5, 0.5, -0.5, 0.5}).Largest(); first != 0 || second != 1 {
		t.Errorf("largest of equal components: %d and %d, want 0 and 1", first, second)
	}
}

// TestSmallestThree checks that decoding has no larger error than rounding, and that DecodeUnit returns a unit
// quaternion for any code.
func TestSmallestThree(t *testing.T) {
	g := rotation.SmallestThree{Scale: 361.33, Zero: 256}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		q := random(rng)
		largest, _ := q.Largest()
		var small []int32
		for i, v := range q {
			if i != largest {
				small = append(small, int32(math.Round(v*math.Copysign(g.Scale, q[largest])+g.Zero)))
			}
		}
		if got := g.Decode(int32(largest), small); math.Abs(dot(got, q)) < 1-1e-5 {
			t.Fatalf("%v is decoded as %v", q, got)
		}
		if got := g.DecodeUnit(int32(largest), small); math.Abs(dot(got, q)) < 1-1e-5 {
			t.Fatalf("%v is decoded as %v", q, got)
		}
		small = []int32{rng.Int32N(512), rng.Int32N(512), rng.Int32N(512)}
		if got := g.DecodeUnit(rng.Int32(), small); math.Abs(dot(got, got)-1) > 1e-12 {
			t.Fatalf("%v is decoded to length %v", small, dot(got, got))
		}
	}
}

// TestDecodeUnitRounds compares DecodeUnit, to the bit, with a direct computation for each largest component.
func TestDecodeUnitRounds(t *testing.T) {
	g := rotation.SmallestThree{Scale: 361.3315623039, Zero: 255.5}
	rng := rand.New(rand.NewPCG(5, 4))
	for range 10_000 {
		largest, small := rng.Int32(), []int32{rng.Int32N(512), rng.Int32N(512), rng.Int32N(512)}
		var want rotation.Quaternion
		square, k := 0.0, 0
		for i := range want {
			if int32(i) != largest&3 {
				want[i] = (float64(small[k]) - g.Zero) / g.Scale
				square += float64(want[i] * want[i])
				k++
			}
		}
		rest := max(1-square, 0.01)
		want[largest&3] = math.Sqrt(rest)
		scale := 1 / math.Sqrt(square+rest)
		for i := range want {
			want[i] = float64(want[i] * scale)
		}
		if got := g.DecodeUnit(largest, small); got != want {
			t.Fatalf("%d %v is decoded as %v, want %v", largest, small, got, want)
		}
	}
}
