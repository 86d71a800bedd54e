package playout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// Truths stores frames as long as they are needed, up to its limit. The test compares it with a
// list of all frames.
func TestTruths(t *testing.T) {
	next := randomCubes(rand.New(rand.NewPCG(4, 4)), 2, false)
	pool := frame.NewPool(frame.Cubes(2))
	var all []int32
	var x Truths
	most := 0
	for n := range uint64(5000) {
		f := pool.Get()
		next(&f.Frame)
		needed := n - min(n, 40+n%30)
		if n > 2000 && n < 4000 {
			needed = 2000 // a display that stands still
		}
		x.Add(f, false, needed)
		most = max(most, x.frames.Len())
		if kept := uint64(x.frames.Len()); kept > n-needed+1 {
			t.Fatalf("%d frames are kept at %d, of which those from %d are needed", kept, n, needed)
		}
		f.Release()
		all = append(all, f.Table[frame.CubeX])
		for _, back := range []uint64{0, 1, 30, 69, 500, maxTruthFrames - 1, maxTruthFrames} {
			tick := n - min(n, back)
			got := x.get(tick)
			if got != nil && got.Table[frame.CubeX] != all[tick] {
				t.Fatalf("tick %d is that of another", tick)
			}
			if needs := tick >= needed && back < maxTruthFrames; needs && got == nil {
				t.Fatalf("tick %d was forgotten at %d", tick, n)
			}
		}
	}
	const large = 1 << 18 // values: 128 frames are the limit
	big := frame.NewPool(&frame.Schema{Rows: large, Fields: []frame.Field{{Name: "x"}}})
	f := big.Get()
	f.Residual = make([]float32, large) // count like values
	var y Truths
	for range 300 { // the same frame, to save memory
		y.Add(f, false, 0)
	}
	if y.frames.Len() != maxTruthCells/large/2 {
		t.Errorf("%d frames of %d values are kept, expected %d", y.frames.Len(), 2*large, maxTruthCells/large/2)
	}
	if x.get(5000) != nil || most != maxTruthFrames {
		t.Errorf("%d frames kept, or one that is still to come", most)
	}
}

// Ticks of events are compared with a list of all. Before the oldest of those that are stored, any answer
// is yes.
func TestEventTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	var x eventTicks
	var all []uint64
	tick := uint64(0)
	for range 300 {
		tick += rng.Uint64N(3)
		x.add(tick)
		all = append(all, tick)
		oldest := all[max(0, len(all)-len(x.ticks))]
		for from := range tick + 2 {
			to := from + rng.Uint64N(4)
			want := slices.ContainsFunc(all, func(n uint64) bool { return n > from && n <= to })
			if len(all) > len(x.ticks) && from < oldest {
				want = true
			}
			if x.between(from, to) != want {
				t.Fatalf("%d events, after %d up to %d: %t", len(all), from, to, !want)
			}
		}
	}
}
