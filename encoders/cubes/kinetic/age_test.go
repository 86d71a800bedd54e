package kinetic

import (
	"math/rand/v2"
	"testing"
)

// However a chain of packets gets from one frame to a later one, a cube at rest has
// been so for as many times six frames as have passed.
func TestAgesGrowWithTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		var past *memo
		var a age // just moved
		passed := uint32(0)
		for most := rng.Uint32N(12); passed < 6*(stillMax-4); {
			frames := 1 + rng.Uint32N(most+1)
			passed += frames
			growth, part := past.growth(frames)
			past = &memo{partFrames: part}
			a = a.next(false, growth, 0)
			if a.still() != int(passed/6) {
				t.Fatalf("%d after %d frames, want %d", a.still(), passed, passed/6)
			}
		}
	}
	if growth, part := (*memo)(nil).growth(1 << 31); growth != stillMax || part > 5 {
		t.Errorf("an age grows by %d, and %d frames are left", growth, part)
	}
}
