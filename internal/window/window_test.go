package window

import (
	"math/rand/v2"
	"testing"
)

// Both windows agree with the set of all numbers that have arrived, among those that the window covers.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var recent Recent[uint64]
	var seen Seen
	arrived, newest := map[uint64]bool{}, uint64(0)
	for step := range 100_000 {
		n := newest + uint64(rng.IntN(3))
		switch rng.IntN(10) {
		case 0, 1, 2:
			n = newest - min(newest, uint64(rng.IntN(2*Span)))
		case 3, 4:
			n = newest - min(newest, uint64(rng.IntN(2*Reach)))
		case 5:
			n = newest + uint64(rng.IntN(2*Span))*uint64(rng.IntN(100)/99)
		}
		isOld := newest >= Span && n <= newest-Span
		if want := arrived[n] && !isOld; seen.Has(n) != want || seen.IsOld(n) != isOld {
			t.Fatalf("step %d: number %d, newest %d: has %v, is old %v", step, n, newest, seen.Has(n), seen.IsOld(n))
		}
		if rng.IntN(2) == 0 {
			continue
		}
		seen.Add(n)
		wasNear := !recent.Any || n+Reach >= newest
		recent.Add(n)
		newest = max(newest, n)
		arrived[n] = arrived[n] || !isOld
		for i := range min(uint64(Reach), newest) {
			if has := recent.Mask>>i&1 == 1; recent.Newest != newest || has != arrived[newest-1-i] && wasNear {
				t.Fatalf("step %d: newest %d, want %d; bit %d is %v", step, recent.Newest, newest, i, has)
			}
		}
	}
}
