package mdn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainLoss returns the loss in nats by its definition, with package math.
func plainLoss(y []float64, t *Target) float64 {
	all, sum := 0.0, 0.0
	for k := range Components {
		o := y[k*7 : k*7+7]
		p := math.Exp(o[0])
		all += p
		for a := range 3 {
			j := [3]float64{float64(t.J[3*a]), float64(t.J[3*a+1]), float64(t.J[3*a+2])}
			width := math.Exp(min(max(o[4+a], -2.5), 7)) * (math.Sqrt(j[0]*j[0]+j[1]*j[1]+j[2]*j[2]) + 1e-3)
			x := float64(t.Y[a]) - float64(t.Base[k][a]) - 8*(j[0]*o[1]+j[1]*o[2]+j[2]*o[3])
			p *= math.Tanh((x+0.5)/width/2)/2 - math.Tanh((x-0.5)/width/2)/2 + 1e-7
		}
		sum += p
	}
	return math.Log(all) - math.Log(sum)
}

func someOutputs(rng *rand.Rand) *[Outputs]float32 {
	var y [Outputs]float32
	for i := range y {
		y[i] = float32(rng.NormFloat64())
		if i%7 >= 4 {
			y[i] *= 3
		}
	}
	return &y
}

func widen(y *[Outputs]float32) []float64 {
	wide := make([]float64, len(y))
	for i, v := range y {
		wide[i] = float64(v)
	}
	return wide
}

// TestLoss compares the loss with its definition and the gradient with finite differences. A gradient that is
// too long must keep its direction.
func TestLoss(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cuts := 0
	for range 500 {
		y, target := someOutputs(rng), someTarget(rng)
		var g [Outputs]float32
		got, want := loss(y, target, &g)*math.Ln2, plainLoss(widen(y), target)
		if math.Abs(got-want) > 1e-6 {
			t.Fatalf("%.9f nats, want %.9f", got, want)
		}
		slope, length := make([]float64, len(y)), 0.0
		for i := range y {
			at := widen(y)
			at[i] += 1e-5
			slope[i] = plainLoss(at, target)
			at[i] -= 2e-5
			slope[i] = (slope[i] - plainLoss(at, target)) / 2e-5
			length += slope[i] * slope[i]
		}
		cut := 1.0
		if length = math.Sqrt(length); length > 20 {
			cut = 20 / length
			cuts++
		}
		for i, v := range g {
			if want := slope[i] * cut; math.Abs(float64(v)-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("derivative by output %d is %g, want %g", i, v, want)
			}
		}
	}
	if cuts == 0 || cuts == 500 {
		t.Errorf("%d of 500 gradients were cut: this tests one side only", cuts)
	}
}

// TestLossFarOff checks that the loss of very improbable outcomes is bounded by minMass and finite.
func TestLossFarOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		y, target := someOutputs(rng), someTarget(rng)
		for i := range y {
			y[i] *= 1e4
		}
		target.Y = [3]float32{-262143, 262143, 1e9}
		var g [Outputs]float32
		bits := loss(y, target, &g)
		if !(bits > 0 && bits < 1200) {
			t.Fatalf("%g bits", bits)
		}
		for _, v := range g {
			if v != v || math.IsInf(float64(v), 0) {
				t.Fatalf("gradient %g", g)
			}
		}
	}
}

// TestExpLog compares exp and log with package math.
func TestExpLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		x := rng.NormFloat64() * 100
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
		v := math.Exp(x)
		if got, want := log(v), math.Log(v); math.Abs(got-want) > 1e-9*math.Abs(want)+1e-10 {
			t.Fatalf("log(%g) = %g, want %g", v, got, want)
		}
	}
	for _, x := range []float64{-1e300, -701, 701, 1e300} {
		if v := exp(x); !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("exp(%g) = %g", x, v)
		}
	}
}
