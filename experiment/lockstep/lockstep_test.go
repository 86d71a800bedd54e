package lockstep_test

import (
	"math"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/lockstep"
)

// line returns a lane with one sample per period, from the period after began to end.
func line(began, end time.Duration, bits func(t time.Duration) int64) *engine.Lane {
	l := &engine.Lane{Began: began}
	for t := began.Truncate(meters.SamplePeriod) + meters.SamplePeriod; t <= end; t += meters.SamplePeriod {
		l.Samples = append(l.Samples, meters.Sample{T: t, Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{PayloadBits: bits(t)}})
	}
	return l
}

// Ratio divides samples of the same period, also if a lane was added late or stores fewer samples. The
// weighted mean is the ratio of the sums.
func TestRatioIsOfTheSamePeriods(t *testing.T) {
	busy := func(t time.Duration) int64 { return int64(1000 + t/meters.SamplePeriod*7) }
	base := line(0, 10*time.Second, busy)
	late := line(4*time.Second+1, 10*time.Second, func(t time.Duration) int64 { return 3 * busy(t) })
	values, weights := lockstep.RatioBySample(late, base)
	if len(values) != 50 { // from 5 s on
		t.Fatalf("%d values", len(values))
	}
	for i := range values {
		if values[i] != 3 || weights[i] != float64(busy(5*time.Second+time.Duration(i+1)*meters.SamplePeriod)) {
			t.Fatalf("value %d is %v, weight %v", i, values[i], weights[i])
		}
	}
	base.Samples = base.Samples[80:]  // the rest is forgotten
	base.Samples[3].PayloadBits = 0   // it sent nothing
	late.Samples[50].PayloadBits *= 2 // at 9.1 s
	values, weights = lockstep.RatioBySample(late, base)
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

// AfterWarmUp leaves out the first second of a shadow, in which it sends complete frames.
func TestWarmUpIsLeftOut(t *testing.T) {
	lane := engine.Lane{Began: 30 * time.Second}
	for at := lane.Began + meters.SamplePeriod; at <= 40*time.Second; at += meters.SamplePeriod {
		lane.Samples = append(lane.Samples, meters.Sample{T: at, Sizes: meters.Sizes{PayloadBits: 1}})
	}
	if s := lockstep.AfterWarmUp(&lane); len(s) != 90 || s[0].T != 31*time.Second+meters.SamplePeriod {
		t.Errorf("%d samples, the first ends at %v", len(s), s[0].T)
	}
	lane.Samples = lane.Samples[:5]
	if s := lockstep.AfterWarmUp(&lane); len(s) != 0 {
		t.Errorf("%d samples half a second after it was added", len(s))
	}
	lane.Began = 0
	if s := lockstep.AfterWarmUp(&lane); len(s) != 5 {
		t.Errorf("%d samples of a lane from the start", len(s))
	}
}

// Compare uses the period that all lanes have in common, without the warm-up of the last added lane and
// without samples of a loop point.
func TestCompare(t *testing.T) {
	busy := func(t time.Duration) int64 { return int64(1000 + 700*math.Sin(float64(t)/1e9)) }
	snap := &engine.Snapshot{Now: 30 * time.Second, Lanes: []engine.Lane{*line(0, 30*time.Second, busy),
		*line(5*time.Second+1, 30*time.Second, func(t time.Duration) int64 { return 3*busy(t) + int64(t/meters.SamplePeriod%2) })}}
	snap.Lanes[0].Encoder, snap.Lanes[1].Encoder, snap.Lanes[1].Params = "rotor", "rotor", "small=3"
	for i := range snap.Lanes {
		for k := range snap.Lanes[i].Samples {
			s := &snap.Lanes[i].Samples[k]
			if s.Changed = 10; s.T <= 6*time.Second { // the warm-up
				s.PayloadBits = 1 << 40
			}
			if s.T == 9*time.Second && i == 1 {
				s.PayloadBits, s.CrossingLoop = 1<<40, 6
			}
		}
	}
	c := lockstep.Compare(snap)
	var sum [2]float64
	n := 0.0
	for k := range snap.Lanes[1].Samples {
		a, b := snap.Lanes[0].Samples[k+50], snap.Lanes[1].Samples[k]
		if b.T > 6*time.Second+meters.SamplePeriod && b.CrossingLoop == 0 {
			sum[0], sum[1], n = sum[0]+float64(a.PayloadBits), sum[1]+float64(b.PayloadBits), n+1
		}
	}
	if c.FromS != 6.000000001 || c.ToS != 30 || c.SeamS != 0.1 || len(c.Lanes) != 2 {
		t.Fatalf("%+v", c)
	}
	for i, l := range c.Lanes {
		if got, _ := l.PayloadKbps.Value(); math.Abs(got-sum[i]/n/100) > 1e-9 {
			t.Errorf("%s: %v kbps, want %v", l.Label, got, sum[i]/n/100)
		}
		if got, _ := l.BitsPerChanged.Value(); math.Abs(got-sum[i]/n/10) > 1e-9 {
			t.Errorf("%s: %v bits, want %v", l.Label, got, sum[i]/n/10)
		}
	}
	l := c.Lanes[1]
	if times, _ := l.Times.Value(); l.Label != "rotor small=3" || math.Abs(times-sum[1]/sum[0]) > 1e-9 || !(l.TimesLo.Or(0) > 2.99) ||
		!(l.TimesHi.Or(9) < 3.01) {
		t.Errorf("%+v, want %v times", l, sum[1]/sum[0])
	}
	if lockstep.Compare(&engine.Snapshot{Lanes: snap.Lanes[:1]}) != nil {
		t.Error("a single lane has a comparison")
	}
}

// In a snapshot from before a shadow was added, the other lanes are compared and the shadow is absent.
func TestAbsentLanesAreLeftOut(t *testing.T) {
	same := func(time.Duration) int64 { return 1000 }
	late := engine.Lane{Began: 30 * time.Second}
	snap := &engine.Snapshot{Now: 20 * time.Second, Lanes: []engine.Lane{*line(0, 20*time.Second, same), *line(5*time.Second, 20*time.Second, same), late}}
	x := lockstep.CommonSamples(snap)
	if !lockstep.IsAbsent(snap, &snap.Lanes[2]) || lockstep.IsAbsent(snap, &snap.Lanes[1]) || x.From != 6*time.Second || len(x.Lanes[0].Payload) != 140 ||
		len(x.Lanes[1].Payload) != 140 || len(x.Lanes[2].Payload) != 0 {
		t.Errorf("from %v: %d, %d and %d samples", x.From, len(x.Lanes[0].Payload), len(x.Lanes[1].Payload), len(x.Lanes[2].Payload))
	}
	// While the run is paused, a report may be saved right after a shadow was added.
	late.Began = snap.Now
	snap.Lanes[2] = late
	c := lockstep.Compare(snap)
	_, hasRatio := c.Lanes[1].Times.Value()
	_, absentHasRatio := c.Lanes[2].Times.Value()
	_, absentHasPayload := c.Lanes[2].PayloadKbps.Value()
	if !hasRatio || absentHasRatio || absentHasPayload {
		t.Errorf("a shadow without a packet: %+v, another one: %+v", c.Lanes[2], c.Lanes[1])
	}
}
