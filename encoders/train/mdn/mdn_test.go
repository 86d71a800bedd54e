package mdn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"wirelab/encoders/nn"
	"wirelab/internal/testkit"
)

// known returns a set drawn from a known mixture: if input 3 is zero, every other outcome is zero; otherwise
// each axis is a discretised logistic whose mean follows one of inputs 0 to 2. oracle is the mean cost of
// these samples under the true distribution, in bits.
func known(seed uint64, n int) (set *Set, oracle float64) {
	const width = 3.0
	rng := rand.New(rand.NewPCG(seed, 1))
	set = NewSet(12, 0, seed)
	x := make([]float32, 12)
	for range n {
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		x[3] = float32(rng.IntN(2))
		rests := x[3] == 0 && rng.IntN(2) == 0
		t := Target{J: [9]float32{0: 1, 4: 1, 8: 1}}
		mass := 1.0
		for a := range t.Y {
			for k := 1; k < Components; k++ {
				t.Base[k][a] = float32(5 * a)
			}
			mean := float64(5*a) + MeanScale*float64(toFixed(x[a]))/1024
			u := rng.Float64()
			if y := math.Round(mean + width*math.Log(u/(1-u))); !rests {
				t.Y[a] = float32(y)
			}
			y := float64(t.Y[a])
			mass *= 1/(1+math.Exp(-(y+0.5-mean)/width)) - 1/(1+math.Exp(-(y-0.5-mean)/width))
		}
		if x[3] == 0 {
			mass /= 2
			if t.Y == [3]float32{} {
				mass += 0.5
			}
		}
		oracle -= math.Log2(mass) / float64(n)
		set.Add(x, &t)
	}
	return set, oracle
}

// TestLearnsAKnownMixture checks that a small net comes within 2 % of the oracle on held-out samples, and that
// quantisation costs almost nothing.
func TestLearnsAKnownMixture(t *testing.T) {
	n, epochs := 60_000, 6
	if !testkit.Thorough() {
		n, epochs = 20_000, 6
	}
	set, _ := known(1, n)
	held, oracle := known(2, n/4)
	var curve []Point
	net, err := Train(context.Background(), set, held, Config{
		Hidden: [2]int{24, 16}, Epochs: epochs, Seed: 3, Point: func(p Point) { curve = append(curve, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	float, integers := curve[len(curve)-1].Held, bitsOf(net, held)
	t.Logf("oracle %.4f bits, net %.4f, in integers %.4f; %d bytes", oracle, float, integers, len(net.Append(nil)))
	if float > 1.02*oracle || float < 0.99*oracle {
		t.Errorf("%.4f bits, by the true distribution %.4f", float, oracle)
	}
	if math.Abs(integers-float) > 0.005*float {
		t.Errorf("%.4f bits in integers, %.4f in floats", integers, float)
	}
	if len(curve) != epochs || curve[0].Epoch != 1 || curve[0].Held <= float {
		t.Errorf("the loss curve does not fall: %+v", curve)
	}
}

// TestGradient compares the derivatives of a batch by the weights with finite differences.
func TestGradient(t *testing.T) {
	set := NewSet(6, 0, 1)
	rng := rand.New(rand.NewPCG(4, 5))
	var ids []uint32
	for i := range 9 {
		set.Add(someInputs(rng, 6), someTarget(rng))
		ids = append(ids, uint32(i))
	}
	n := newNet(rng, []int{6, 11, 9, Outputs})
	for _, l := range n.layers { // larger than at the start, so that bends are crossed
		for i := range l.out {
			for k := range l.in + 1 {
				l.w[l.index(k, i)] += float32(rng.NormFloat64()) * 0.2
			}
		}
	}
	w := newWorker(n, len(ids))
	w.gradients(set, ids)
	for i, l := range n.layers {
		for range 60 {
			at := l.index(rng.IntN(l.in+1), rng.IntN(l.out))
			was := l.w[at]
			up, down := was+1.0/8192, was-1.0/8192 // small, lest a bend lies between
			l.w[at] = up
			want := double(n, set, ids)
			l.w[at] = down
			want = (want - double(n, set, ids)) / (float64(up) - float64(down))
			l.w[at] = was
			if got := float64(w.grads[i][at]); math.Abs(got-want) > 1e-3*math.Abs(want)+1e-3 {
				t.Errorf("layer %d, weight %d: derivative %g, want %g", i, at, got, want)
			}
		}
	}
}

// double returns the loss of samples in nats, with the net evaluated in float64.
func double(n *net, set *Set, ids []uint32) (nats float64) {
	for _, id := range ids {
		s := set.sampleAt(id)
		var in []float64
		for _, v := range s.x {
			in = append(in, float64(v)/1024)
		}
		for i, d := range n.denseLayers() {
			out := make([]float64, d.Out)
			for k := range out {
				out[k] = float64(d.Bias[k])
				for j, v := range in {
					out[k] += float64(d.Weight[k*d.In+j]) * v
				}
				if i < len(n.layers)-1 && out[k] < 0 {
					out[k] *= 13.0 / 128
				}
			}
			in = out
		}
		nats += plainLoss(in, s.target)
	}
	return nats
}

// learnFile trains a small net and returns its file.
func learnFile(t *testing.T, seed uint64) []byte {
	t.Helper()
	set, _ := known(6, 3000)
	net, err := Train(context.Background(), set, nil, Config{Hidden: [2]int{17, 10}, Epochs: 2, Seed: seed, Batch: 33})
	if err != nil {
		t.Fatal(err)
	}
	return net.Append(nil)
}

// TestReproducible checks that the same seed gives the same net on one processor and on two.
func TestReproducible(t *testing.T) {
	want := learnFile(t, 7)
	before := runtime.GOMAXPROCS(1)
	alone := learnFile(t, 7)
	runtime.GOMAXPROCS(before)
	if !bytes.Equal(alone, want) {
		t.Error("the net differs on one processor")
	}
	if bytes.Equal(learnFile(t, 8), want) {
		t.Error("another seed gave the same net")
	}
}

// TestSameEverywhere compares the checksum of a net with that on amd64; arm64, 386 and GOAMD64=v3 give the same.
// Samples are integers, so that the arithmetic of the test itself is exact.
func TestSameEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	set := NewSet(9, 0, 1)
	for range 2000 {
		x := make([]float32, 9)
		for i := range x {
			x[i] = float32(rng.IntN(2049)-1024) / 512
		}
		target := Target{J: [9]float32{0: 0.5, 1: 0.25, 4: 1, 8: 2}}
		for a := range target.Y {
			target.Y[a] = float32(rng.IntN(7) - 3 + rng.IntN(9)*int(x[a]))
			target.Base[2][a] = float32(rng.IntN(100)) / 16
		}
		set.Add(x, &target)
	}
	net, err := Train(context.Background(), set, nil, Config{Hidden: [2]int{12, 8}, Epochs: 3})
	if err != nil {
		t.Fatal(err)
	}
	const want = "6263f19913db4d9e"
	if got := fmt.Sprintf("%x", sha256.Sum256(net.Append(nil)))[:16]; got != want {
		t.Errorf("the net's file has the sum %s..., want %s...", got, want)
	}
}

func TestInterrupted(t *testing.T) {
	set, _ := known(9, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	steps := 0
	_, err := Train(ctx, set, nil, Config{Hidden: [2]int{4, 4}, Epochs: 1000, Step: func(done, total int64) {
		if steps++; steps == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || steps != 2 {
		t.Errorf("error %v after %d steps, want context.Canceled after 2", err, steps)
	}
}

func BenchmarkTrain(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	set := NewSet(205, 0, 1)
	const samples = 20_000
	for range samples {
		set.Add(someInputs(rng, 205), someTarget(rng))
	}
	for b.Loop() {
		if _, err := Train(context.Background(), set, nil, Config{Hidden: [2]int{64, 40}, Epochs: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/samples*1e6, "µs/sample")
}

// someInputs returns random inputs, of which four in ten are zero, as for real features.
func someInputs(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if rng.IntN(10) >= 4 {
			x[i] = float32(rng.NormFloat64())
		}
	}
	return x
}

func someTarget(rng *rand.Rand) *Target {
	var t Target
	for i := range t.J {
		t.J[i] = float32(rng.NormFloat64())
	}
	for k := range t.Base {
		for a := range t.Base[k] {
			t.Base[k][a] = float32(rng.NormFloat64() * 6)
		}
	}
	for a := range t.Y {
		t.Y[a] = float32(rng.IntN(21) - 10)
	}
	return &t
}

// TestInput checks rounding and clamping of inputs.
func TestInput(t *testing.T) {
	for v, want := range map[float32]int32{
		0: 0, 1: 1024, -1: -1024, 0.5 / 1024: 1, -0.5 / 1024: 0, 1.49 / 1024: 1, -1.51 / 1024: -2, 3.9999: 4096,
		4: 4096, -4: -4096, 1e30: nn.InputMax, -1e30: -nn.InputMax, float32(math.Inf(1)): 4096, float32(math.NaN()): 0,
	} {
		if got := toFixed(v); got != want {
			t.Errorf("toFixed(%g) = %d, want %d", v, got, want)
		}
	}
}

// TestSetLimit checks that a limited set keeps a uniform choice: as many early samples as late ones.
func TestSetLimit(t *testing.T) {
	const limit, added = 6000, 60_000
	set := NewSet(1, limit, 1)
	for i := range added {
		set.Add([]float32{float32(i) / added}, &Target{})
	}
	if set.Len() != limit {
		t.Fatalf("%d samples, want %d", set.Len(), limit)
	}
	var early int
	for i := range set.Len() {
		if set.sampleAt(uint32(i)).x[0] < 512 {
			early++
		}
	}
	if early < limit/2-200 || early > limit/2+200 { // five deviations
		t.Errorf("%d of %d samples are of the first half", early, limit)
	}
}

// bitsOf returns the mean loss of a quantised net on a set in bits per sample, NaN if the set is empty.
func bitsOf(n *nn.Net, set *Set) float64 {
	if set == nil || set.Len() == 0 {
		return math.NaN()
	}
	var scratch nn.Scratch
	var y [Outputs]float32
	x, out := make([]int32, set.inputs), make([]int32, Outputs)
	total := 0.0
	for i := range set.Len() {
		s := set.sampleAt(uint32(i))
		for k, v := range s.x {
			x[k] = int32(v)
		}
		n.Run(out, x, &scratch)
		for k, v := range out {
			y[k] = float32(v) / (1 << 12) // the binary places of an output
		}
		total += loss(&y, s.target, nil)
	}
	return total / float64(set.Len())
}
