package window

import (
	"math/rand/v2"
	"testing"
	"time"
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

// Clock drift of 50 ppm over an hour does not change the delays above the minimum.
func TestMinimumWithClockDrift(t *testing.T) {
	const period = 30 * time.Second
	for name, millionths := range map[string]float64{"faster": 50, "slower": -50, "same": 0} {
		var m Minimum
		for at := time.Duration(0); at < time.Hour; at += 50 * time.Millisecond {
			drift := time.Duration(float64(at) * millionths / 1e6)
			took := -time.Hour + drift + time.Millisecond // the clocks differ by an hour
			m.Add(at, took, period)
			if slower := took - m.Value(); slower < 0 || slower > 3*time.Millisecond+time.Millisecond/10 {
				t.Fatalf("%s: at %v, %v above the minimum", name, at, slower)
			}
		}
	}
	// A minimum is valid in its own period and the next one.
	var m Minimum
	m.Add(0, time.Millisecond, period)
	for _, c := range []struct{ at, want time.Duration }{{time.Second, time.Millisecond}, {period - 1, time.Millisecond},
		{time.Hour, time.Millisecond}, {2 * time.Hour, 20 * time.Millisecond}} {
		m.Add(c.at, 20*time.Millisecond, period)
		if got := m.Value(); got != c.want {
			t.Errorf("at %v: %v, want %v", c.at, got, c.want)
		}
	}
}
