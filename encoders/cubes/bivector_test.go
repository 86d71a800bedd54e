package cubes

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
	"wirelab/internal/testkit"
)

// unit returns q at length 1.
func unit(p rotation.Quaternion) rotation.Quaternion {
	n := math.Sqrt(p[0]*p[0] + p[1]*p[1] + p[2]*p[2] + p[3]*p[3])
	return rotation.Quaternion{p[0] / n, p[1] / n, p[2] / n, p[3] / n}
}

// about is the rotation about an axis of length 1.
func about(axis [3]float64, angle float64) rotation.Quaternion {
	s, c := math.Sincos(angle / 2)
	return rotation.Quaternion{axis[0] * s, axis[1] * s, axis[2] * s, c}
}

// between finds the axis and tan(angle/4) of a known turn: the definition.
func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const steps = 4096
	for range 5000 {
		axis := unit(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 0})
		angle := (rng.Float64()*2 - 1) * math.Pi
		from := unit(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		to := about([3]float64{axis[0], axis[1], axis[2]}, angle).Times(from)
		if rng.IntN(2) == 0 { // the same orientation
			to = rotation.Quaternion{-to[0], -to[1], -to[2], -to[3]}
		}
		b := between(from, to, steps)
		for k := range b {
			want := axis[k] * math.Tan(angle/4) * steps
			if math.Abs(float64(b[k])-want) > 0.51 {
				t.Fatalf("turn by %g about %v: component %d is %d, want %g", angle, axis, k, b[k], want)
			}
		}
	}
}

// turn, which computes with fractions of integers, does what rotating by axis and
// angle does.
func TestTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const steps = 710
	for range 5000 {
		b := bivector{rng.Int32N(801) - 400, rng.Int32N(801) - 400, rng.Int32N(801) - 400}
		n := math.Sqrt(float64(b[0]*b[0] + b[1]*b[1] + b[2]*b[2]))
		if n == 0 {
			continue
		}
		from := unit(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		axis := [3]float64{float64(b[0]) / n, float64(b[1]) / n, float64(b[2]) / n}
		want := about(axis, 4*math.Atan(n/steps)).Times(from)
		got := b.turn(from, steps)
		if angle := apart(orientation(&got), want); angle > 0.6 {
			t.Fatalf("%v from %v: %g degrees from where it should be", b, from, angle)
		}
	}
}

// apart is the angle between two orientations, in degrees.
func apart(p, q rotation.Quaternion) float64 {
	dot := math.Abs(p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3])
	return 2 * math.Acos(min(1, dot)) * 180 / math.Pi
}

// At the default resolution a rotor or one of its neighbours nearly always hits
// the orientation exactly, whatever the turn, so the residual is rare.
func TestRotorsMostlyHit(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	steps := int32(named("rotor").Params.(*rotorParams).RotorSteps)
	r := &rotor{steps: steps}
	var hits, misses, useless int
	for range 5000 {
		base := randomTurned(rng)
		axis := unit(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 0})
		to := about([3]float64{axis[0], axis[1], axis[2]}, rng.Float64()*0.3).Times(orientation(&base))
		q := quantise(to)
		switch plan := r.plan(&q, &base); {
		case plan.useless:
			useless++
		case plan.miss == noMiss:
			hits++
		default:
			misses++
		}
	}
	if hits < 4500 || useless > 50 {
		t.Errorf("of 5000 turns %d are hit, %d are missed by a step, %d have no rotor; want at least 4500 and at most 50", hits,
			misses, useless)
	}
}

// Orientations keep their grid point: quantising what a code stands for gives
// the code again, if a quantiser made it and no two components tie.
func TestOrientationGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 20000 {
		q := randomTurned(rng)
		got := quantise(orientation(&q))
		if got != q && got[frame.CubeLargest] == q[frame.CubeLargest] {
			t.Fatalf("%v stands for %v, which is quantised as %v", q, orientation(&q), got)
		}
	}
	if q := quantise(rotation.Quaternion{0, 0, 0, 1}); q != (cube.Row{3, 256, 256, 256}) {
		t.Errorf("no rotation is %v, want largest 3 and three times 256", q)
	}
}

func TestMiss(t *testing.T) {
	for miss := range misses {
		got := cube.Row{2, 100, 200, 300}
		want := got
		for k := range 3 {
			want[frame.CubeA+k] += digit(miss, k)
		}
		if m, ok := missOf(&got, &want); !ok || m != miss {
			t.Errorf("miss %d reads as %d, %v", miss, m, ok)
		}
	}
	if _, ok := missOf(&cube.Row{2, 100, 200, 300}, &cube.Row{2, 102, 200, 300}); ok {
		t.Error("two steps can be said, but should not")
	}
	if _, ok := missOf(&cube.Row{2, 100, 200, 300}, &cube.Row{1, 100, 200, 300}); ok {
		t.Error("another largest component can be said, but should not")
	}
}

// A cube that rolls along +x turns about +y, along +y about -x.
func TestRolled(t *testing.T) {
	base := cube.Row{}
	if r := rollPrediction(&cube.Row{frame.CubeX: 80}, &base, 8); r != (bivector{0, 80, 0}) {
		t.Errorf("rolling along x turns by %v", r)
	}
	if r := rollPrediction(&cube.Row{frame.CubeY: 80}, &base, 4); r != (bivector{-40, 0, 0}) {
		t.Errorf("rolling along y turns by %v", r)
	}
}

// What the compiler makes of the arithmetic for a processor that can fuse holds
// no fused instruction: both ends of a packet agree whatever they run on.
func TestNothingIsFused(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("builds for another machine: under WIRELAB_THOROUGH=1")
	}
	cmd := exec.Command("go", "build", "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOARCH=arm64")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	if !strings.Contains(string(listing), "FMULD") {
		t.Fatal("the listing holds no product of floats: the test tests nothing")
	}
	for line := range strings.Lines(string(listing)) {
		for _, fused := range []string{"FMADD", "FMSUB", "FNMADD", "FNMSUB"} {
			if strings.Contains(line, fused) {
				t.Error(strings.TrimSpace(line))
			}
		}
	}
}

// A miss that no rotor has is refused, and so is none where one must follow.
func TestMissIsChecked(t *testing.T) {
	base := cube.Row{3, 256, 256, 256}
	for miss, ok := range map[uint64]bool{0: true, 12: true, noMiss: false, 26: true, 27: false, 31: false} {
		r := &rotor{steps: 710, gears: widths{5, 7}.inGears(1)}
		var w, c coder
		w.write(nil)
		w.flag(false) // no hit
		w.flag(true)  // but relative
		r.gears[0].three(&w, &[3]int32{})
		w.bits(miss, missBits)
		c.read(w.finish(nil))
		q := base
		r.code(&c, 0, &q, &base, 0)
		if err := c.close(); (err == nil) != ok {
			t.Errorf("miss %d: error %v", miss, err)
		}
	}
}
