package rangecoder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// codeRandom codes random decisions of the seed, with plain Go or with vector routines, and returns
// them with the resulting counters and weights.
func codeRandom(c *Coder, seed uint64, plain bool) (bits []int, table []Counter, weights []Weights) {
	rng := rand.New(rand.NewPCG(seed, 8))
	table, weights = make([]Counter, 1<<(3+rng.IntN(8))), make([]Weights, 3)
	for i := range table {
		p := uint32(1 + rng.IntN(One-1))
		if rng.IntN(3) == 0 {
			p = edgeProbabilities[rng.IntN(len(edgeProbabilities))]
		}
		table[i] = NewCounter(p, rng.IntN(maxCount+1)>>rng.IntN(10))
	}
	for i := range weights {
		for j := range weights[i] {
			weights[i][j] = (rng.Int32N(2*maxWeight+1) - maxWeight) >> rng.IntN(20)
		}
	}
	own := NewCounter(One/3, 3)
	x := Mixer{Coder: c, Counters: table, Bias: rng.Int32N(4000) - 2000, Limit: rng.IntN(maxCount + 1), Rate: rng.Int32N(1 << 15)}
	for range 60 {
		x.N = rng.IntN(mixerContexts + 1)
		for i := range x.Hashes {
			x.Hashes[i] = rng.Uint32()
		}
		w, salt, bit, more := &weights[rng.IntN(len(weights))], rng.Uint32(), rng.IntN(2), &own
		if rng.IntN(3) > 0 {
			more = nil
		}
		if plain {
			bit = x.codeScalar(w, salt, bit, more)
		} else {
			bit = x.codeDecision(w, salt, bit, more)
		}
		bits = append(bits, bit)
	}
	return bits, append(table, own), weights
}

// FuzzMixer checks that the vector routine of Mixer equals the Go code, in both directions.
func FuzzMixer(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte{})
	}
	f.Fuzz(func(t *testing.T, seed uint64, forged []byte) {
		var quick, plain Coder
		check := func() {
			gotBits, got, gotWeights := codeRandom(&quick, seed, false)
			wantBits, want, wantWeights := codeRandom(&plain, seed, true)
			if !slices.Equal(gotBits, wantBits) || !slices.Equal(got, want) || !slices.Equal(gotWeights, wantWeights) {
				t.Fatalf("%v, %v, %v, want %v, %v, %v", gotBits, got, gotWeights, wantBits, want, wantWeights)
			}
		}
		checkBothDirections(t, &quick, &plain, forged, check)
	})
}

// checkBothDirections calls check three times: while two coders write, which must give equal
// packets; while they read that packet; and while they read forged bytes.
func checkBothDirections(t *testing.T, quick, plain *Coder, forged []byte, check func()) {
	t.Helper()
	quick.Write(nil)
	plain.Write(nil)
	check()
	packet := quick.Finish()
	if want := plain.Finish(); !bytes.Equal(packet, want) {
		t.Fatalf("%x, want %x", packet, want)
	}
	for _, src := range [][]byte{packet, forged} {
		quick.Read(src)
		plain.Read(src)
		check()
		if got, want := quick.Close(), plain.Close(); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func BenchmarkMixer(b *testing.B) {
	var c Coder
	x := Mixer{Coder: &c, Counters: make([]Counter, 1<<15), contexts: contexts{N: 4}, Bias: 256, Limit: 250, Rate: 400}
	Fill(x.Counters, NewCounter(One/2, 0))
	w := make([]Weights, 16)
	buf := make([]byte, 0, 1<<16)
	c.Write(buf)
	n := uint32(0)
	for b.Loop() {
		x.Hashes = [maxContexts]uint32{n * 0x9E3779B1, n & 63 * 0x85EBCA6B, n & 255 * 0xC2B2AE35, 17}
		x.codeDecision(&w[n&15], n, int(n*7/3&1), nil)
		if n++; n&0xFFFF == 0 {
			c.Write(buf)
		}
	}
}

// FuzzLearn checks that learnAVX2 equals learnScalar.
func FuzzLearn(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, int32(seed*seed*5000000)-1<<20, uint32(seed<<27))
	}
	f.Fuzz(func(t *testing.T, seed uint64, wrong int32, chance uint32) {
		if chance &= 1<<30 - 1; !hasVectors {
			t.Skip("no vector instructions")
		}
		rng := rand.New(rand.NewPCG(seed, 9))
		for range 20 {
			var in [maxStateInputs]int32
			var want [maxStateInputs]int16
			top := firstPredictor + rng.IntN(MaxPredictors+1)
			for i := range want {
				want[i] = int16(rng.Uint32()) >> rng.IntN(14)
				if i < top {
					in[i] = (rng.Int32N(2*23000+1) - 23000) >> rng.IntN(17)
				}
			}
			got := want
			learnScalar(&want, &in, top, wrong, chance)
			learnAVX2(&got, &in, (top+7)/8, wrong, chance)
			if got != want {
				t.Fatalf("by %v times %d, and %d: %v, want %v", in, wrong, chance, got, want)
			}
			wrong = wrong>>1 ^ int32(rng.Uint32())>>3
		}
	})
}
