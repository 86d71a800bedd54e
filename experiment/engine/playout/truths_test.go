package playout

import (
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
)

// Truths stores frames as long as they are needed, up to its limit. The test compares it with a
// list of all frames.
func TestTruths(t *testing.T) {
	next := randomCubes(rand.New(rand.NewPCG(4, 4)), 2, false)
	pool := frame.NewPool(frame.Cubes(2))
	var all []int32
	seams := map[uint64]bool{}
	var x Truths
	most := 0
	for n := range uint64(5000) {
		f := pool.Get()
		next(&f.Frame)
		seam := n%97 == 13
		seams[n] = seam
		needed := n - min(n, 40+n%30)
		if n > 2000 && n < 4000 {
			needed = 2000 // a display that stands still
		}
		x.Add(f, seam, needed)
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
			want := false
			for k := tick + 1; k <= n; k++ {
				want = want || seams[k]
			}
			if x.loops.between(tick, n) != want {
				t.Fatalf("a loop point after %d, up to %d: %v", tick, n, !want)
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
