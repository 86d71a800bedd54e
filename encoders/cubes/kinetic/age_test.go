package kinetic

import (
	"math/rand/v2"
	"testing"
)

// TestAgesGrowWithTime checks that the age of a cube at rest depends only on the time that passed,
// and not on the number of packets or on their distances.
func TestAgesGrowWithTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		var past *memo
		var a age // of a cube that just moved
		passed := uint32(0)
		for maxGap := rng.Uint32N(12); passed < 6*(stillMax-4); {
			frames := 1 + rng.Uint32N(maxGap+1)
			passed += frames
			growth, part := past.ageUnits(frames)
			past = &memo{leftoverFrames: part}
			a = a.next(false, growth, 0)
			if a.still() != int(passed/6) {
				t.Fatalf("%d after %d frames, want %d", a.still(), passed, passed/6)
			}
		}
	}
	if growth, part := (*memo)(nil).ageUnits(1 << 31); growth != stillMax || part > 5 {
		t.Errorf("growth without a memo: %d, %d frames left over; want %d and at most 5", growth, part, stillMax)
	}
}
