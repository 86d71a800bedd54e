package rangecoder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixed codes decisions that seed draws, by plain Go or as Code has it, and returns what came
// of them, and of the counters and weights.
func mixed(c *Coder, seed uint64, plain bool) (bits []int, table []Counter, weights []Weights) {
	rng := rand.New(rand.NewPCG(seed, 8))
	table, weights = make([]Counter, 1<<(3+rng.IntN(8))), make([]Weights, 3)
	for i := range table {
		p := uint32(1 + rng.IntN(One-1))
		if rng.IntN(3) == 0 {
			p = edges[rng.IntN(len(edges))]
		}
		table[i] = NewCounter(p, rng.IntN(maxCount+1)>>rng.IntN(10))
	}
	for i := range weights {
		for j := range weights[i] {
			weights[i][j] = (rng.Int32N(2*maxWeight+1) - maxWeight) >> rng.IntN(20)
		}
	}
	own := NewCounter(One/3, 3)
	x := Mix{Coder: c, Table: table, Bias: rng.Int32N(4000) - 2000, Limit: rng.IntN(maxCount + 1), Rate: rng.Int32N(1 << 15)}
	for range 60 {
		x.N = rng.IntN(MixContexts + 1)
		for i := range x.At {
			x.At[i] = rng.Uint32()
		}
		w, salt, bit, more := &weights[rng.IntN(len(weights))], rng.Uint32(), rng.IntN(2), &own
		if rng.IntN(3) > 0 {
			more = nil
		}
		if plain {
			bit = x.codeScalar(w, salt, bit, more)
		} else {
			bit = x.Code(w, salt, bit, more)
		}
		bits = append(bits, bit)
	}
	return bits, append(table, own), weights
}

// FuzzMix: vector instructions do what is written in Go, in both directions.
func FuzzMix(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte{})
	}
	f.Fuzz(func(t *testing.T, seed uint64, forged []byte) {
		var quick, plain Coder
		check := func() {
			gotBits, got, gotWeights := mixed(&quick, seed, false)
			wantBits, want, wantWeights := mixed(&plain, seed, true)
			if !slices.Equal(gotBits, wantBits) || !slices.Equal(got, want) || !slices.Equal(gotWeights, wantWeights) {
				t.Fatalf("%v, %v, %v, want %v, %v, %v", gotBits, got, gotWeights, wantBits, want, wantWeights)
			}
		}
		inTurns(t, &quick, &plain, forged, check)
	})
}

// inTurns calls check while two coders write, which gives the same packet, while they read that, and while they
// read forged bytes.
func inTurns(t *testing.T, quick, plain *Coder, forged []byte, check func()) {
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

func BenchmarkMix(b *testing.B) {
	var c Coder
	x := Mix{Coder: &c, Table: make([]Counter, 1<<15), N: 4, Bias: 256, Limit: 250, Rate: 400}
	Fill(x.Table, NewCounter(One/2, 0))
	w := make([]Weights, 16)
	buf := make([]byte, 0, 1<<16)
	c.Write(buf)
	n := uint32(0)
	for b.Loop() {
		x.At = [MixContexts]uint32{n * 0x9E3779B1, n & 63 * 0x85EBCA6B, n & 255 * 0xC2B2AE35, 17}
		x.Code(&w[n&15], n, int(n*7/3&1), nil)
		if n++; n&0xFFFF == 0 {
			c.Write(buf)
		}
	}
}
