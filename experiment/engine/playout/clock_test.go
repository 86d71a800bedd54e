package playout

import (
	"testing"
	"time"
)

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

// Until the first arrival after a change to a policy, the display runs at normal speed.
func TestClockWaitsForArrival(t *testing.T) {
	for _, name := range Policies.Names() {
		c := newClock(Fixed(85*time.Millisecond), testRhythm)
		play(&c, randomArrivals(1, testSend, 5*time.Second), 5*time.Second, func(_, _, _ time.Duration) {})
		before, at := c.moment, c.tickedAt
		c.set(Timing{Policy: Policies.Default(name)}, testRhythm)
		for range 30 {
			if moment, ok := c.tick(c.tickedAt + testTick); !ok || moment-before != c.tickedAt-at {
				t.Fatalf("%s: the display advanced by %v in %v", name, moment-before, c.tickedAt-at)
			}
		}
	}
}

// A timing has a text from which it is parsed, and is fixed or a policy.
func TestParseTiming(t *testing.T) {
	for text, want := range map[string]struct {
		label string
		fixed bool
	}{"85ms": {"fixed 85ms", true}, "0s": {"fixed 0ms", true}, "1h": {"fixed 3600s", true}, "age": {"age", false}, "mirror buffer=3": {"mirror buffer=3", false}} {
		x, err := ParseTiming(text)
		again, errAgain := ParseTiming(x.String())
		if err != nil || errAgain != nil || again != x || x.Label() != want.label || x.IsFixed() != want.fixed {
			t.Errorf("%s: %+v, label %q, %v", text, x, x.Label(), err)
		}
	}
	for _, text := range []string{"-1ms", "1h1ns", "soon", "age quantile=2", ""} {
		if x, err := ParseTiming(text); err == nil {
			t.Errorf("%q is parsed as %v", text, x)
		}
	}
}
