package experiment

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The buffer against a slow model that remembers every arrival, over less than
// one offset window, so that the least offset is that of all arrivals.
func TestPlayoutAgreesWithASlowModel(t *testing.T) {
	const delay = 60 * time.Millisecond
	rng := rand.New(rand.NewPCG(3, 3))
	at := map[time.Duration][]time.Duration{} // source times by arrival, in whole milliseconds
	for i := range 240 {
		source := tickTime(uint64(i), 60)
		when := (source + 30*time.Millisecond + time.Duration(rng.IntN(120))*time.Millisecond).Truncate(time.Millisecond)
		at[when] = append(at[when], source)
	}
	p := playout{delay: delay}
	var came []time.Duration // source times, in order of arrival
	least, lateWant, lateGot, starvedTicks := time.Hour, 0, 0, 0
	for now := time.Duration(0); now < 4*time.Second; now += time.Millisecond {
		for _, source := range at[now] {
			least = min(least, now-source)
			if len(came) > 0 && source < now-least-delay {
				lateWant++
			}
			if p.arrive(now, source) {
				lateGot++
			}
			came = append(came, source)
		}
		target := now - least - delay
		wantShown := len(came) > 0 && target >= came[0]
		wantStarved := wantShown && slices.Max(came) < target
		if shown, starved := p.display(now); shown != wantShown || starved != wantStarved {
			t.Fatalf("%v: shown %v, starved %v; want %v, %v", now, shown, starved, wantShown, wantStarved)
		}
		if wantStarved {
			starvedTicks++
		}
	}
	if lateGot != lateWant || lateWant == 0 || starvedTicks == 0 {
		t.Errorf("%d late, want %d; %d ticks starved: neither may be zero, or nothing was tested", lateGot, lateWant, starvedTicks)
	}
}

// When the link becomes slower for good, the estimate follows within two windows.
func TestPlayoutFollowsALongerRoute(t *testing.T) {
	p := playout{delay: 50 * time.Millisecond}
	latency := 20 * time.Millisecond
	for i := range 60 * 30 {
		source := tickTime(uint64(i), 60)
		if source > 10*time.Second {
			latency = 300 * time.Millisecond
		}
		p.arrive(source+latency, source)
		_, starved := p.display(source + latency)
		if source > 21*time.Second && starved {
			t.Fatalf("still starved %v after the route changed", source-10*time.Second)
		}
	}
}
