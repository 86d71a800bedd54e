package rangecoder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// Zeros writes the same bytes as Bit and Update, leaves counters in the same state, and reads up to
// the first 1.
func TestZerosMatchesBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		limit := []int{0, 1, 60, 1023}[rng.IntN(4)]
		start := make([]Counter, 1+rng.IntN(4))
		for i := range start {
			start[i] = NewCounter(edgeProbabilities[rng.IntN(len(edgeProbabilities))], rng.IntN(1100))
		}
		var runs [][]int32
		for range rng.IntN(40) {
			at := make([]int32, rng.IntN(60))
			for i := range at {
				at[i] = int32(rng.IntN(len(start)))
				if i > 0 && rng.IntN(4) > 0 {
					at[i] = at[i-1]
				}
			}
			runs = append(runs, at)
		}
		var plain, quick, reader Coder
		want, got, read := slices.Clone(start), slices.Clone(start), slices.Clone(start)
		plain.Write(nil)
		quick.Write(nil)
		bit := func(c *Coder, k *Counter, v int) int {
			if v = c.Bit(v, k.P()); limit != 0 {
				k.Update(v, limit)
			}
			return v
		}
		for _, at := range runs {
			for _, i := range at {
				bit(&plain, &want[i], 0)
			}
			bit(&plain, &want[0], 1)
			if n := quick.CodeZeros(got, at, limit); n != len(at) {
				t.Fatalf("a writer stopped after %d of %d", n, len(at))
			}
			bit(&quick, &got[0], 1)
		}
		if plain.Spent() != quick.Spent() || !slices.Equal(got, want) {
			t.Fatalf("%d units and %v, want %d and %v", quick.Spent(), got, plain.Spent(), want)
		}
		packet := quick.Finish()
		if !bytes.Equal(packet, plain.Finish()) {
			t.Fatal("bytes differ")
		}
		reader.Read(packet)
		for _, at := range runs {
			more := append(slices.Clone(at), 0, 0, 0) // which is a 1
			if n := reader.CodeZeros(read, more, limit); n != len(at) {
				t.Fatalf("a reader stops after %d, want %d", n, len(at))
			}
			if bit(&reader, &read[0], 0) != 1 {
				t.Fatal("no decision is left")
			}
		}
		if err := reader.Close(); err != nil || !slices.Equal(read, want) {
			t.Fatalf("%v, and counters %v, want %v", err, read, want)
		}
	}
}
