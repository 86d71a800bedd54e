package cubes

import (
	"math"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// roundTrip writes a cube with code, reads it with code, and returns the result.
func roundTrip(t *testing.T, q cube.Row, code func(c *coder, q *cube.Row)) cube.Row {
	t.Helper()
	var w, r coder
	w.beginWrite(nil)
	code(&w, &q)
	payload := w.finish(nil)
	r.beginRead(payload)
	var got cube.Row
	code(&r, &got)
	if err := r.close(); err != nil {
		t.Fatalf("%v: %v", q, err)
	}
	return got
}

// TestFloatPositionsAreExact sends every coordinate as a float.
func TestFloatPositionsAreExact(t *testing.T) {
	for v := int32(-1 << 17); v < 1<<17; v++ {
		q := cube.Row{frame.CubeX: v, frame.CubeY: -v - 1, frame.CubeZ: v & (1<<14 - 1)}
		if got := roundTrip(t, q, codeFloatPosition); got != q {
			t.Fatalf("%v is decoded as %v", q, got)
		}
	}
}

// TestFloatOrientationsAreExact sends orientation codes as floats: each value of a component with many
// values of the others, the extremes included, also codes that no quantiser makes.
func TestFloatOrientationsAreExact(t *testing.T) {
	some := []int32{0, 1, 2, 255, 256, 257, 509, 510, 511}
	for v := int32(3); v < 509; v += 23 {
		some = append(some, v)
	}
	for largest := range int32(4) {
		for v := range int32(512) {
			for _, u := range some {
				w := some[int(v+7*u)%len(some)]
				for _, q := range []cube.Row{{largest, v, u, w}, {largest, w, v, u}, {largest, u, w, v}} {
					if got := roundTrip(t, q, codeFloatOrientation); got != q {
						t.Fatalf("%v is decoded as %v", q[:4], got[:4])
					}
				}
			}
		}
	}
}

// TestFloatQuaternionsAreUnit checks that codes of a quantiser give unit quaternions.
func TestFloatQuaternionsAreUnit(t *testing.T) {
	for a := int32(120); a < 400; a += 9 {
		for b := int32(120); b < 400; b += 7 {
			f := floatQuaternion(&cube.Row{3, a, b, 256})
			var sum float64
			for _, v := range f {
				sum += float64(v) * float64(v)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Fatalf("codes %d %d 256 give a quaternion of squared length %g", a, b, sum)
			}
		}
	}
}

// TestInvalidFloats checks that a decoder refuses floats out of range, infinities and NaN.
func TestInvalidFloats(t *testing.T) {
	for _, f := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 256, -256.01, 1e30} {
		var w, r coder
		w.beginWrite(nil)
		for range 3 {
			w.codeFloat(f)
		}
		r.beginRead(w.finish(nil))
		var q cube.Row
		codeFloatPosition(&r, &q)
		if r.close() == nil {
			t.Errorf("position %g m was decoded as %v, want an error", f, q)
		}
	}
}

func TestVelocity(t *testing.T) {
	if v := velocity(512, 0, 60); v != 1 {
		t.Errorf("512 units in 60 ticks: %g m/s, want 1", v)
	}
	if v := velocity(0, 512, 6); v != -10 {
		t.Errorf("-512 units in 6 ticks: %g m/s, want -10", v)
	}
	for _, test := range []struct {
		v    float64
		want uint64
	}{{0, 1024}, {1.0 / 32, 1025}, {-32, 0}, {-1e9, 0}, {32, 2047}, {1e9, 2047}} {
		if got := quantiseVelocity(test.v); got != test.want {
			t.Errorf("%g m/s is step %d, want %d", test.v, got, test.want)
		}
	}
	// Not positive for the initial state, and if ticks wrap.
	for _, test := range []struct{ cur, base uint32 }{{5, 5}, {5, 9}, {6, 5}, {0, math.MaxUint32}} {
		if got := elapsedTicks(&frame.Frame{Tick: test.cur}, &frame.Frame{Tick: test.base}); got != 1 {
			t.Errorf("from tick %d to %d: %d elapsed, want 1", test.base, test.cur, got)
		}
	}
}
