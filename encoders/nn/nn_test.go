package nn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A referenceNet computes a net one product at a time, with 64 bits, from the rows of its file.
type referenceNet [][]row

func newReferenceNet(n *Net) referenceNet {
	var p referenceNet
	for i := range n.layers {
		_, outBits := limits(i, len(n.layers))
		p = append(p, n.layers[i].rows(outBits))
	}
	return p
}

func (p referenceNet) run(x []int32) []int32 {
	in := make([]int64, len(x))
	for i, v := range x {
		in[i] = int64(min(max(v, -4096), 4096))
	}
	var out []int32
	for i, rows := range p {
		places := 10
		if i == len(p)-1 {
			places = 12
		}
		next := make([]int64, len(rows))
		out = out[:0]
		for k, r := range rows {
			sum := int64(r.bias)
			for j, w := range r.weight {
				sum += int64(w) * in[j]
			}
			// Rounded to nearest, halves up.
			if drop := int(r.shift) + 10 - places; drop > 0 {
				sum = (sum + 1<<(drop-1)) >> drop
			}
			out = append(out, int32(sum))
			h := min(max(sum, -32767), 32767)
			if h < 0 {
				h = int64(math.Floor(float64(h*13) / 128))
			}
			next[k] = h
		}
		in = next
	}
	return out
}

// forEachRun calls f with each implementation of Run: the exported one, and the one in plain Go.
func (n *Net) forEachRun(f func(name string, run func(out, x []int32, s *Scratch))) {
	f("Run", n.Run)
	f("plain Go", n.run)
}

// randomLayers returns layers of random weights; heavy scales them. Large weights come near the
// bound of sums.
func randomLayers(rng *rand.Rand, shape []int, heavy float64) []Dense {
	var layers []Dense
	for i, in := range shape[:len(shape)-1] {
		d := Dense{In: in, Out: shape[i+1], Weight: make([]float32, in*shape[i+1]), Bias: make([]float32, shape[i+1])}
		for j := range d.Weight {
			d.Weight[j] = float32(rng.NormFloat64() * heavy / math.Sqrt(float64(in)))
		}
		for j := range d.Bias {
			d.Bias[j] = float32(rng.NormFloat64() * heavy)
		}
		layers = append(layers, d)
	}
	return layers
}

func randomInputs(rng *rand.Rand, n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		switch rng.IntN(4) {
		case 0: // many features are zero
		case 1:
			x[i] = []int32{-4096, 4096, math.MinInt32, math.MaxInt32}[rng.IntN(4)]
		default:
			x[i] = int32(rng.NormFloat64() * 700)
		}
	}
	return x
}

var shapes = [][]int{{1, 1}, {3, 2}, {7, 9, 8}, {205, 24, 16, 35}, {205, 64, 40, 35}, {5, 1, 1, 17}, {64, 8, 8, 8, 8, 3}}

// All implementations match the reference, for all weights and inputs.
func TestRunMatchesReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Scratch
	for _, shape := range shapes {
		for _, heavy := range []float64{0, 0.01, 1, 4, 100} {
			n, err := Quantise(randomLayers(rng, shape, heavy))
			if err != nil {
				t.Fatalf("%v, weight %g: %v", shape, heavy, err)
			}
			p, out := newReferenceNet(n), make([]int32, n.Out())
			for range 30 {
				x := randomInputs(rng, n.In())
				want := p.run(x)
				n.forEachRun(func(name string, run func(out, x []int32, s *Scratch)) {
					if run(out, x, &s); !slices.Equal(out, want) {
						t.Fatalf("%s, %v, weight %g:\n%d, want\n%d", name, shape, heavy, out, want)
					}
				})
			}
		}
	}
}

// With the largest sums that are accepted, both halves of a word reach 2^31-1 and its negative
// without affecting each other.
func TestLargestSums(t *testing.T) {
	const in = 16
	for _, signs := range [][2]int16{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		rows := make([]row, 2)
		for k := range rows {
			rows[k] = row{shift: 2, weight: make([]int16, in)}
			for i := range rows[k].weight {
				rows[k].weight[i] = signs[k] * math.MaxInt16
			}
			rows[k].bias = int32(signs[k]) * int32(math.MaxInt32-in*math.MaxInt16*InputMax)
		}
		l, err := packLayer(rows, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		n := &Net{layers: []layer{l}, vectors: newVectorNet([]layer{l})}
		x, out := make([]int32, in), make([]int32, 2)
		for _, v := range []int32{-InputMax, InputMax} {
			for i := range x {
				x[i] = v
			}
			want := newReferenceNet(n).run(x)
			n.forEachRun(func(name string, run func(out, x []int32, s *Scratch)) {
				if run(out, x, new(Scratch)); !slices.Equal(out, want) {
					t.Errorf("%s, signs %d, inputs %d: %d, want %d", name, signs, v, out, want)
				}
			})
		}
		rows[1].bias += int32(signs[1])
		if _, err := packLayer(rows, 0, 1); !errors.Is(err, errInvalidNet) {
			t.Errorf("one more than the bound: error %v, want errInvalidNet", err)
		}
	}
}

// The outputs of a quantised net differ from those of the float net by at most the computed bound.
func TestQuantisationError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range [][]int{{205, 24, 16, 35}, {205, 64, 40, 35}} {
		layers := randomLayers(rng, shape, 1)
		n, err := Quantise(layers)
		if err != nil {
			t.Fatal(err)
		}
		p, out := newReferenceNet(n), make([]int32, n.Out())
		worst, bounds := 0.0, 0.0
		for range 200 {
			x := randomInputs(rng, n.In())
			n.Run(out, x, new(Scratch))
			want, bound := floatRun(layers, p, x)
			for k := range out {
				off := math.Abs(float64(out[k])/(1<<outputBits) - want[k])
				if off > bound[k] {
					t.Fatalf("%v: output %d is off by %g, bound %g", shape, k, off, bound[k])
				}
				worst, bounds = max(worst, off), max(bounds, bound[k])
			}
		}
		t.Logf("%v: largest error %.4f, bound %.4f", shape, worst, bounds)
		if worst > 0.01 {
			t.Errorf("%v: off by %g", shape, worst)
		}
	}
}

// floatRun runs the float net in float64 and bounds the rounding errors of the quantised net: in
// each layer, half a unit of each weight times its input plus half a unit of the value, propagated
// by the absolute weights of the next layers.
func floatRun(layers []Dense, p referenceNet, x []int32) (out, bound []float64) {
	in, off := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		in[i] = float64(min(max(v, -InputMax), InputMax)) / 1024
	}
	for i, d := range layers {
		out, bound = make([]float64, d.Out), make([]float64, d.Out)
		for k := range out {
			place := 0.5 / float64(int64(1)<<p[i][k].shift)
			out[k] = float64(d.Bias[k])
			bound[k] = place/1024 + 0.5/1024
			for j, v := range in {
				w := float64(d.Weight[k*d.In+j])
				out[k] += w * v
				bound[k] += place*(math.Abs(v)+off[j]) + math.Abs(w)*off[j]
			}
		}
		if i < len(layers)-1 {
			in, off = out, bound
			for k, v := range in {
				if in[k] = min(max(v, -float64(HiddenMax)), float64(HiddenMax)); in[k] < 0 {
					in[k] *= 13.0 / 128
					off[k] += 1.0 / 1024 // the leaky ReLU rounds down
				}
			}
		}
	}
	return out, bound
}

func TestNoAllocations(t *testing.T) {
	n, x := benchNet(t, []int{205, 64, 40, 35})
	var s Scratch
	out := make([]int32, n.Out())
	n.Run(out, x, &s)
	if allocs := testing.AllocsPerRun(10, func() { n.Run(out, x, &s) }); allocs != 0 {
		t.Errorf("%v allocations per run, want none", allocs)
	}
}

// benchNet returns a net of a shape, with inputs of which 40 % are zero.
func benchNet(tb testing.TB, shape []int) (*Net, []int32) {
	rng := rand.New(rand.NewPCG(5, 6))
	n, err := Quantise(randomLayers(rng, shape, 1))
	if err != nil {
		tb.Fatal(err)
	}
	x := make([]int32, n.In())
	for i := range x {
		if rng.IntN(10) >= 4 {
			x[i] = int32(rng.NormFloat64() * 700)
		}
	}
	return n, x
}

func BenchmarkRun(b *testing.B) {
	for _, shape := range [][]int{{212, 80, 48, 35}, {158, 32, 24, 35}} {
		b.Run(fmt.Sprint(shape), func(b *testing.B) {
			n, x := benchNet(b, shape)
			var s Scratch
			out := make([]int32, n.Out())
			n.forEachRun(func(name string, run func(out, x []int32, s *Scratch)) {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						run(out, x, &s)
					}
				})
			})
		})
	}
}

// FuzzRun checks that all implementations agree for any net and inputs.
func FuzzRun(f *testing.F) {
	f.Add(uint64(1), uint8(212), uint8(80), uint8(48), uint8(35), 1.0)
	f.Add(uint64(2), uint8(1), uint8(1), uint8(1), uint8(1), 100.0)
	f.Add(uint64(3), uint8(17), uint8(33), uint8(15), uint8(16), 0.01)
	f.Fuzz(func(t *testing.T, seed uint64, in, first, second, out uint8, heavy float64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n, err := Quantise(randomLayers(rng, []int{int(in) + 1, int(first) + 1, int(second) + 1, int(out) + 1}, heavy))
		if err != nil {
			if !errors.Is(err, errInvalidNet) {
				t.Fatal(err)
			}
			return
		}
		p, s, got := newReferenceNet(n), new(Scratch), make([]int32, n.Out())
		for range 4 {
			x := randomInputs(rng, n.In())
			want := p.run(x)
			n.forEachRun(func(name string, run func(out, x []int32, s *Scratch)) {
				if run(got, x, s); !slices.Equal(got, want) {
					t.Fatalf("%s: %d, want %d", name, got, want)
				}
			})
		}
	})
}
