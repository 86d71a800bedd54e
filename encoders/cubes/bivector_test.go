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

// normalise returns p scaled to length 1.
func normalise(p rotation.Quaternion) rotation.Quaternion {
	n := math.Sqrt(p[0]*p[0] + p[1]*p[1] + p[2]*p[2] + p[3]*p[3])
	return rotation.Quaternion{p[0] / n, p[1] / n, p[2] / n, p[3] / n}
}

// axisRotation returns the rotation by an angle about an axis of length 1.
func axisRotation(axis [3]float64, angle float64) rotation.Quaternion {
	s, c := math.Sincos(angle / 2)
	return rotation.Quaternion{axis[0] * s, axis[1] * s, axis[2] * s, c}
}

// TestBetween compares bivectorBetween with its definition, axis times tan(angle/4).
func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const steps = 4096
	for range 5000 {
		axis := normalise(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 0})
		angle := (rng.Float64()*2 - 1) * math.Pi
		from := normalise(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		to := axisRotation([3]float64{axis[0], axis[1], axis[2]}, angle).Times(from)
		if rng.IntN(2) == 0 { // the same orientation
			to = rotation.Quaternion{-to[0], -to[1], -to[2], -to[3]}
		}
		b := bivectorBetween(from, to, steps)
		for k := range b {
			want := axis[k] * math.Tan(angle/4) * steps
			if math.Abs(float64(b[k])-want) > 0.51 {
				t.Fatalf("turn by %g about %v: component %d is %d, want %g", angle, axis, k, b[k], want)
			}
		}
	}
}

// TestTurn compares applyTo with a rotation by axis and angle.
func TestTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const steps = 710
	for range 5000 {
		b := bivector{rng.Int32N(801) - 400, rng.Int32N(801) - 400, rng.Int32N(801) - 400}
		n := math.Sqrt(float64(b[0]*b[0] + b[1]*b[1] + b[2]*b[2]))
		if n == 0 {
			continue
		}
		from := normalise(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		axis := [3]float64{float64(b[0]) / n, float64(b[1]) / n, float64(b[2]) / n}
		want := axisRotation(axis, 4*math.Atan(n/steps)).Times(from)
		got := b.applyTo(from, steps)
		if angle := angleBetween(orientation(&got), want); angle > 0.6 {
			t.Fatalf("%v from %v: error of %g degrees", b, from, angle)
		}
	}
}

// angleBetween returns the angle between two orientations in degrees.
func angleBetween(p, q rotation.Quaternion) float64 {
	dot := math.Abs(p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3])
	return 2 * math.Acos(min(1, dot)) * 180 / math.Pi
}

// TestRotorsMostlyExact checks that, with the default steps, a bivector or one of its neighbours is
// exact for nearly every rotation, so that corrections are rare.
func TestRotorsMostlyExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	steps := int32(codecByName("rotor").Params.(*rotorParams).RotorSteps)
	r := &rotor{steps: steps}
	var exact, corrected, absolute int
	for range 5000 {
		base := randomTurned(rng)
		axis := normalise(rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 0})
		to := axisRotation([3]float64{axis[0], axis[1], axis[2]}, rng.Float64()*0.3).Times(orientation(&base))
		q := quantise(to)
		switch plan := r.planTurn(&q, &base); {
		case plan.absolute:
			absolute++
		case plan.correction == noCorrection:
			exact++
		default:
			corrected++
		}
	}
	if exact < 4500 || absolute > 50 {
		t.Errorf("of 5000 rotations %d are exact, %d corrected, %d absolute; want at least 4500 exact and at most 50 absolute", exact,
			corrected, absolute)
	}
}

// TestOrientationGrid checks that decoding and quantising a smallest-three code gives the same code,
// for codes of a quantiser and unless two components tie.
func TestOrientationGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 20000 {
		q := randomTurned(rng)
		got := quantise(orientation(&q))
		if got != q && got[frame.CubeLargest] == q[frame.CubeLargest] {
			t.Fatalf("%v is decoded as %v, which is quantised as %v", q, orientation(&q), got)
		}
	}
	if q := quantise(rotation.Quaternion{0, 0, 0, 1}); q != (cube.Row{3, 256, 256, 256}) {
		t.Errorf("the identity is quantised as %v, want largest 3 and three times 256", q)
	}
}

func TestFindCorrection(t *testing.T) {
	for correction := range numCorrections {
		got := cube.Row{2, 100, 200, 300}
		want := got
		for k := range 3 {
			want[frame.CubeA+k] += correctionDigit(correction, k)
		}
		if m, ok := findCorrection(&got, &want); !ok || m != correction {
			t.Errorf("correction %d is found as %d, %v", correction, m, ok)
		}
	}
	if _, ok := findCorrection(&cube.Row{2, 100, 200, 300}, &cube.Row{2, 102, 200, 300}); ok {
		t.Error("a correction for a difference of two steps")
	}
	if _, ok := findCorrection(&cube.Row{2, 100, 200, 300}, &cube.Row{1, 100, 200, 300}); ok {
		t.Error("a correction for another largest component")
	}
}

// TestPredictRoll checks that a cube that rolls along +x turns about +y, and along +y about -x.
func TestPredictRoll(t *testing.T) {
	base := cube.Row{}
	if r := predictRoll(&cube.Row{frame.CubeX: 80}, &base, 8); r != (bivector{0, 80, 0}) {
		t.Errorf("rolling along x turns by %v", r)
	}
	if r := predictRoll(&cube.Row{frame.CubeY: 80}, &base, 4); r != (bivector{-40, 0, 0}) {
		t.Errorf("rolling along y turns by %v", r)
	}
}

// TestNoFusedInstructions checks that the compiled package has no fused multiply-add on arm64, where
// the compiler may fuse: encoder and decoder must compute the same on every machine.
func TestNoFusedInstructions(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("cross-compiles; set WIRELAB_THOROUGH=1")
	}
	cmd := exec.Command("go", "build", "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOARCH=arm64")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	if !strings.Contains(string(listing), "FMULD") {
		t.Fatal("the listing has no FMULD: it is not that of arm64")
	}
	for line := range strings.Lines(string(listing)) {
		for _, fused := range []string{"FMADD", "FMSUB", "FNMADD", "FNMSUB"} {
			if strings.Contains(line, fused) {
				t.Error(strings.TrimSpace(line))
			}
		}
	}
}

// TestInvalidCorrection checks that a decoder refuses corrections that no encoder writes, noCorrection
// included.
func TestInvalidCorrection(t *testing.T) {
	base := cube.Row{3, 256, 256, 256}
	for correction, ok := range map[uint64]bool{0: true, 12: true, noCorrection: false, 26: true, 27: false, 31: false} {
		r := &rotor{steps: 710, classes: widths{5, 7}.inClasses(1)}
		var w, c coder
		w.beginWrite(nil)
		w.codeFlag(false) // not exact
		w.codeFlag(true)  // relative
		r.classes[0].codeThree(&w, &[3]int32{})
		w.codeBits(correction, correctionBits)
		c.beginRead(w.finish(nil))
		q := base
		r.codeOrientation(&c, 0, &q, &base, 0)
		if err := c.close(); (err == nil) != ok {
			t.Errorf("correction %d: error %v", correction, err)
		}
	}
}
