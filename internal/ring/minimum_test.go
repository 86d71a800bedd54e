package ring_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/internal/ring"
)

// The minimum is that of all values in the window, found by a search.
func TestMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	type entry struct{ at, value time.Duration }
	var m ring.Minimum
	var all []entry
	at := time.Duration(0)
	for range 20_000 {
		at += time.Duration(rng.IntN(3))
		e := entry{at, time.Duration(rng.IntN(1000))}
		all = append(all, e)
		m.Add(e.at, e.value)
		from := at - 40
		m.DropBefore(from)
		want := e.value
		for i := len(all) - 1; i >= 0 && all[i].at >= from; i-- {
			want = min(want, all[i].value)
		}
		if got := m.Value(); got != want {
			t.Fatalf("at %d: %d, want %d", at, got, want)
		}
	}
	m.DropBefore(at + 1000)
	if last := all[len(all)-1].value; m.Value() != last {
		t.Errorf("%d after a pause, want the last value %d", m.Value(), last)
	}
}
