package playout

import (
	"testing"
	"time"
	"wirelab/experiment/endpoint"
)

// When the latency of the link increases permanently, the estimate follows within two windows.
func TestPlayoutAdaptsToLongerDelay(t *testing.T) {
	p := newClock(Fixed(50*time.Millisecond), Rhythm{})
	latency := 20 * time.Millisecond
	newest := time.Duration(0)
	for i := range 60 * 30 {
		source := endpoint.TickTime(uint64(i), 60)
		if source > 10*time.Second {
			latency = 300 * time.Millisecond
		}
		p.arrive(source+latency, source)
		newest = source
		moment, shown := p.tick(source + latency)
		if source > 23*time.Second && (!shown || newest < moment) {
			t.Fatalf("still starved %v after the route changed", source-10*time.Second)
		}
	}
}

// After a change of the delay, the display runs at most a quarter slower or faster until it is
// right, and never backwards. It only jumps if it is more than a second behind.
func TestDelayChangeIsGradual(t *testing.T) {
	const tick = time.Second / 60
	for _, c := range []struct {
		from, to time.Duration
		took     time.Duration // until the new delay is reached: four times the difference
		leaps    bool
	}{
		{85 * time.Millisecond, 350 * time.Millisecond, 1060 * time.Millisecond, false},
		{350 * time.Millisecond, 85 * time.Millisecond, 1060 * time.Millisecond, false},
		{0, 3 * time.Second, 12 * time.Second, false},
		{1050 * time.Millisecond, 50 * time.Millisecond, 4 * time.Second, false},
		{3 * time.Second, 0, tick, true},
		{100 * time.Millisecond, 100 * time.Millisecond, 0, false},
	} {
		p := newClock(Fixed(c.from), Rhythm{})
		for at := time.Duration(0); at < 10*time.Second; at += tick {
			p.arrive(at+50*time.Millisecond, at)
			p.tick(at + 50*time.Millisecond)
		}
		p.set(Fixed(c.to), Rhythm{})
		settled := time.Duration(0)
		for at := 10 * time.Second; at < 30*time.Second; at += tick {
			now := at + 50*time.Millisecond
			before, since := p.moment, now-p.tickedAt
			p.arrive(now, at)
			moment, _ := p.tick(now)
			step := moment - before
			if leap := step > since; leap && c.leaps && moment == p.estimator.target(now) {
				continue
			}
			if step < since-since/4 || step > since+since/4 {
				t.Fatalf("%v to %v: the display advanced by %v in %v", c.from, c.to, step, since)
			}
			if moment != p.estimator.target(now) {
				settled = now - 10*time.Second - 50*time.Millisecond + tick
			}
		}
		if settled < c.took-2*tick || settled > c.took+2*tick {
			t.Errorf("%v to %v: took %v, want %v", c.from, c.to, settled, c.took)
		}
	}
}
