package ring_test

import (
	"math/rand/v2"
	"testing"

	"wirelab/internal/ring"
)

// A queue agrees with a list of all items, and does not allocate once it has grown.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var q ring.Queue[int]
	var all []int
	first := 0
	for range 20_000 {
		if rng.IntN(100) < 51 && len(all)-first < 300 {
			v := rng.Int()
			*q.Push() = v
			all = append(all, v)
		} else if first < len(all) {
			q.Pop()
			first++
		}
		if q.Len() != len(all)-first || q.First() != uint64(first) || q.Next() != uint64(len(all)) {
			t.Fatalf("%d items from %d to %d, want %d to %d", q.Len(), q.First(), q.Next(), first, len(all))
		}
		n := rng.IntN(len(all) + 2)
		got := q.At(uint64(n))
		if held := n >= first && n < len(all); held != (got != nil) || held && *got != all[n] {
			t.Fatalf("item %d of %d to %d: %v", n, first, len(all), got)
		}
	}
	for q.Len() > 0 {
		q.Pop()
	}
	if n := testing.AllocsPerRun(100, func() { q.Push(); q.Push(); q.Pop(); q.Pop() }); n > 0 {
		t.Errorf("%g allocations", n)
	}
	if n := testing.AllocsPerRun(10, func() {
		var q ring.Queue[int]
		for range 1024 {
			q.Push()
		}
	}); n > 7 { // of 16 items, 32, and so on up to 1024
		t.Errorf("%g allocations for 1024 items", n)
	}
}
