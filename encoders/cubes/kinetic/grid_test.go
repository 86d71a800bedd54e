package kinetic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGridSearch checks that a search finds every cube within its radius, also where cells wrap
// around, and none where all cubes are far away.
func TestGridSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	const n, reach = 150, 1 << cellShift
	var g grid
	for range 50 {
		g.reset(n)
		var x, y [n]int32
		for i := range x {
			x[i], y[i] = rng.Int32N(1<<14)-1<<13, rng.Int32N(1<<14)-1<<13
			g.add(i, x[i], y[i])
		}
		for range 50 {
			atX, atY := rng.Int32N(1<<14)-1<<13, rng.Int32N(1<<14)-1<<13
			found := g.search(atX, atY, nil)
			for i := range x {
				if max(x[i]-atX, atX-x[i]) <= reach && max(y[i]-atY, atY-y[i]) <= reach && !slices.Contains(found, int32(i)) {
					t.Fatalf("from %d, %d: cube %d at %d, %d is not found", atX, atY, i, x[i], y[i])
				}
			}
		}
	}
	g.reset(n)
	g.add(0, 0, 0)
	if found := g.search(3*reach, 0, nil); len(found) != 0 {
		t.Errorf("found %v three cells away", found)
	}
}
