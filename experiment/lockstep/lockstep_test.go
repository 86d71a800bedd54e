package lockstep

import (
	"math"
	"testing"
	"time"

	"wirelab/experiment/engine"
)

// line is a lane with one sample a period, from the period after began to end.
func line(began, end time.Duration, bits func(t time.Duration) int64) *engine.Lane {
	l := &engine.Lane{Began: began}
	for t := began.Truncate(engine.SamplePeriod) + engine.SamplePeriod; t <= end; t += engine.SamplePeriod {
		l.Samples = append(l.Samples, engine.Sample{T: t, Sent: 6, PayloadBits: bits(t)})
	}
	return l
}

// The ratio is that of one period's samples, also where a lane joined late or the other
// is not remembered as far back. Weighted, it is the ratio of the sums.
func TestRatioIsOfTheSamePeriods(t *testing.T) {
	busy := func(t time.Duration) int64 { return int64(1000 + t/engine.SamplePeriod*7) }
	base := line(0, 10*time.Second, busy)
	late := line(4*time.Second+1, 10*time.Second, func(t time.Duration) int64 { return 3 * busy(t) })
	values, weights := Ratio(late, base)
	if len(values) != 50 { // from 5 s on
		t.Fatalf("%d values", len(values))
	}
	for i := range values {
		if values[i] != 3 || weights[i] != float64(busy(5*time.Second+time.Duration(i+1)*engine.SamplePeriod)) {
			t.Fatalf("value %d is %v, weight %v", i, values[i], weights[i])
		}
	}
	base.Samples = base.Samples[80:]  // the rest is forgotten
	base.Samples[3].PayloadBits = 0   // it sent nothing
	late.Samples[50].PayloadBits *= 2 // at 9.1 s
	values, weights = Ratio(late, base)
	above, below, gaps := 0.0, 0.0, 0
	for i := range values {
		above, below = above+values[i]*weights[i], below+weights[i]
		if weights[i] == 0 {
			gaps++
		}
	}
	sent, other := 0.0, 0.0
	for i, s := range base.Samples {
		if s.PayloadBits > 0 {
			sent, other = sent+float64(late.Samples[40+i].PayloadBits), other+float64(s.PayloadBits)
		}
	}
	if gaps != 31 || math.Abs(above/below-sent/other) > 1e-12 {
		t.Errorf("%d gaps; %v, the sums have %v", gaps, above/below, sent/other)
	}
}

// A shadow's first second, in which it sends everything anew, does not count.
func TestShadowsCountOnceTheyHaveCaughtUp(t *testing.T) {
	lane := engine.Lane{Began: 30 * time.Second}
	for at := lane.Began + engine.SamplePeriod; at <= 40*time.Second; at += engine.SamplePeriod {
		lane.Samples = append(lane.Samples, engine.Sample{T: at, PayloadBits: 1})
	}
	if s := CaughtUp(&lane); len(s) != 90 || s[0].T != 31*time.Second+engine.SamplePeriod {
		t.Errorf("%d samples, the first ends at %v", len(s), s[0].T)
	}
	lane.Samples = lane.Samples[:5]
	if s := CaughtUp(&lane); len(s) != 0 {
		t.Errorf("%d samples half a second after it came", len(s))
	}
	lane.Began = 0
	if s := CaughtUp(&lane); len(s) != 5 {
		t.Errorf("%d samples of a lane that was there from the beginning", len(s))
	}
}
