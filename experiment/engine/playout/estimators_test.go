package playout

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestIsqrt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := []int64{0, 1, 2, 3, 4, math.MaxInt32, 1<<62 - 1}
	for range 10_000 {
		root := rng.Int64N(1 << 31)
		values = append(values, rng.Int64N(1<<62)>>rng.IntN(62), root*root, root*root+2*root)
	}
	for _, v := range values {
		if want := new(big.Int).Sqrt(big.NewInt(v)).Int64(); isqrt(v) != want {
			t.Fatalf("the root of %d is %d, want %d", v, isqrt(v), want)
		}
	}
}

// arrival is a snapshot that arrives.
type arrival struct{ at, source time.Duration }

// randomArrivals returns snapshots of a link with jitter, losses, reordering and a spike every 5 s.
func randomArrivals(seed uint64, interval, length time.Duration) (list []arrival) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for source := time.Duration(0); source < length; source += interval {
		if rng.IntN(20) == 0 {
			continue
		}
		latency := 30*time.Millisecond + time.Duration(rng.IntN(20_000))*time.Microsecond
		if source%(5*time.Second) < 100*time.Millisecond {
			latency += 60 * time.Millisecond
		}
		list = append(list, arrival{source + latency, source})
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return int(a.at - b.at) })
	return list
}

// play passes arrivals to a clock and calls visit at each display tick, with the newest source time.
func play(c *clock, list []arrival, length time.Duration, visit func(now, moment, newest time.Duration)) {
	newest := time.Duration(-1)
	for now := time.Duration(0); now < length; now += testTick {
		for len(list) > 0 && list[0].at <= now {
			c.arrive(list[0].at, list[0].source)
			newest = max(newest, list[0].source)
			list = list[1:]
		}
		if moment, ok := c.tick(now); ok {
			visit(now, moment, newest)
		}
	}
}

const (
	testSend = time.Second / 60
	testTick = 10 * time.Second / 599
)

var testRhythm = Rhythm{Send: testSend, Display: testTick, Tick: time.Second / 60}

// floatMirror is Mirror's algorithm in floating point, in seconds, as published.
type floatMirror struct {
	interval, buffer, line, scale, at float64
	drift, delivery                   floatEMA
	started                           bool
	newest, newestAt, previousAt      float64
}

// floatEMA is Mirror's ExponentialMovingAverage.
type floatEMA struct {
	alpha, value, variance float64
	started                bool
}

func (e *floatEMA) add(v float64) {
	if !e.started {
		e.started, e.value = true, v
		return
	}
	d := v - e.value
	e.value += e.alpha * d
	e.variance = (1 - e.alpha) * (e.variance + e.alpha*d*d)
}

func (m *floatMirror) arrive(now, source float64) {
	if m.started {
		m.buffer = 2*m.interval + math.Sqrt(m.delivery.variance)
		if source > m.newest {
			m.previousAt, m.newest, m.newestAt = m.newestAt, source, now
		}
		m.delivery.add(m.newestAt - m.previousAt)
	} else {
		m.started, m.buffer, m.line, m.at, m.scale = true, 2*m.interval, source-2*m.interval, now, 1
		m.newest, m.newestAt = source, now
	}
	m.advance(now)
	m.line = math.Max(source-2*m.buffer, math.Min(m.line, source))
	m.drift.add(source - m.line)
	switch d := m.drift.value - m.buffer; {
	case d > m.interval:
		m.scale = 1.02
	case d < -m.interval:
		m.scale = 0.96
	default:
		m.scale = 1
	}
}

func (m *floatMirror) advance(now float64) {
	m.line += (now - m.at) * m.scale
	m.at = now
}

// The integer implementation of mirror stays within 0.1 ms of Mirror's algorithm in floating point,
// except where Mirror's timeline goes back: the display then stands still.
func TestMirrorAgreesWithFloatingPoint(t *testing.T) {
	for seed := range uint64(5) {
		m, _ := newEstimator(Timing{Policy: Policies.Default("mirror")}, testRhythm)
		alpha := func(n float64) floatEMA { return floatEMA{alpha: 2 / (n + 1)} }
		want := floatMirror{interval: testSend.Seconds(), drift: alpha(60), delivery: alpha(120)}
		list := randomArrivals(seed, testSend, 60*time.Second)
		for now := time.Duration(0); now < 60*time.Second; now += testTick {
			for len(list) > 0 && list[0].at <= now {
				m.arrive(list[0].at, list[0].source)
				want.arrive(list[0].at.Seconds(), list[0].source.Seconds())
				list = list[1:]
			}
			if !want.started {
				continue
			}
			want.advance(now.Seconds())
			if got := m.target(now).Seconds(); math.Abs(got-want.line) > 1e-4 {
				t.Fatalf("seed %d at %v: %.6f s, want %.6f s", seed, now, got, want.line)
			}
		}
	}
}

// After the time that a histogram forgets in, a value has 1/e of its weight: so newer values are half of
// the weight after ln 2 of that time, however long the older ones lasted.
func TestHistogramForgets(t *testing.T) {
	for _, text := range []string{"age", "age forget=2s", "delay forget=30s"} {
		timing, _ := ParseTiming(text)
		h := newDecayingHistogram(timing.Policy, testTick)
		want := time.Duration(float64(timing.Policy.Duration("forget")) * math.Ln2)
		for range 20 * want / testTick {
			h.add(10 * time.Millisecond)
		}
		took := time.Duration(0)
		for ; h.valueAt(500_000) == 11*time.Millisecond; took += testTick {
			h.add(70 * time.Millisecond)
		}
		if h.valueAt(500_000) != 71*time.Millisecond || (took-want).Abs() > want/50 {
			t.Errorf("%s: the median is %v after %v, expected after %v", text, h.valueAt(500_000), took, want)
		}
	}
}

// lightyear displays the mean transit time, 1.7 intervals, one tick and four deviations behind.
func TestLightyearInFloatingPoint(t *testing.T) {
	x, _ := newEstimator(Timing{Policy: Policies.Default("lightyear")}, testRhythm)
	transit := floatEMA{alpha: 2.0 / 61}
	for _, a := range randomArrivals(1, testSend, 10*time.Second) {
		x.arrive(a.at, a.source)
		transit.add((a.at - a.source).Seconds())
		behind := transit.value + 1.7*testSend.Seconds() + 1.0/60 + 4*math.Sqrt(transit.variance)
		if got := (a.at - x.target(a.at)).Seconds(); math.Abs(got-behind) > 2e-4 {
			t.Fatalf("%v behind at %v, expected %v", got, a.at, behind)
		}
	}
}

// The largest deviations and intervals that a peer can send do not overflow.
func TestMovingMeanIsBounded(t *testing.T) {
	for _, samples := range []int64{0, 60, 1 << 62} {
		m := newMovingMean(samples)
		for i := range 50_000 {
			m.add(time.Duration(i%2) * 1000 * time.Hour)
			if d := m.deviation(); m.variance < 0 || d < 0 || d > time.Second {
				t.Fatalf("%d samples: variance %d, deviation %v", samples, m.variance, d)
			}
		}
	}
}

// On a link without outages, the age quantile starves as often as it was asked to, in spite of losses,
// which the delay quantile does not see.
func TestAgeQuantileStarvesAsAsked(t *testing.T) {
	for _, share := range []struct {
		text   string
		lo, hi float64
	}{{"age quantile=99%", .005, .013}, {"age quantile=95%", .04, .06}, {"age quantile=99.9%", 0, .003}} {
		timing, err := ParseTiming(share.text)
		if err != nil {
			t.Fatal(err)
		}
		starved, shown := 0, 0
		for seed := range uint64(5) {
			c := newClock(timing, testRhythm)
			play(&c, randomArrivals(seed, testSend, 120*time.Second), 119*time.Second, func(now, moment, newest time.Duration) {
				if now > 10*time.Second {
					shown++
					if moment > newest {
						starved++
					}
				}
			})
		}
		if got := float64(starved) / float64(shown); got < share.lo || got > share.hi {
			t.Errorf("%s starves on %.4f of the ticks, want %g to %g", share.text, got, share.lo, share.hi)
		}
	}
}

// An outage of one second delays the age quantile by at most the limit for outages, unless outages
// count; a link that stays slower is followed.
func TestAgeQuantileLeavesOutagesOut(t *testing.T) {
	lagAfter := func(text string, outage, extra time.Duration) time.Duration {
		timing, err := ParseTiming(text)
		if err != nil {
			t.Fatal(err)
		}
		var list []arrival
		for source := time.Duration(0); source < 20*time.Second; source += testSend {
			latency := 30 * time.Millisecond
			if source > 10*time.Second {
				latency += extra
			}
			if source < 10*time.Second || source > 10*time.Second+outage {
				list = append(list, arrival{source + latency, source})
			}
		}
		c, lag := newClock(timing, testRhythm), time.Duration(0)
		play(&c, list, 19*time.Second, func(now, moment, _ time.Duration) { lag = now - moment })
		return lag
	}
	if lag := lagAfter("age", time.Second, 0); lag > 210*time.Millisecond { // 50 ms as before, and at most the ages up to the limit of 150 ms
		t.Errorf("%v behind after an outage, want at most 210 ms", lag)
	}
	if lag := lagAfter("age outage=0ms", time.Second, 0); lag < 500*time.Millisecond {
		t.Errorf("%v behind although the outage counts", lag)
	}
	if lag := lagAfter("age", 0, 400*time.Millisecond); lag < 430*time.Millisecond {
		t.Errorf("%v behind on a link that stays slower by 400 ms", lag)
	}
}

// After any change of the delay, also beyond the range of a histogram, and after long outages, each
// policy aims at an ordinary delay within 20 s: its target is rarely newer than the newest snapshot, and
// never much older.
func TestPoliciesFollowAnyDelay(t *testing.T) {
	const change, end = 20 * time.Second, 60 * time.Second
	for _, text := range append(Policies.Names(), "age outage=0ms", "60ms") {
		for _, x := range []struct{ before, after, outage time.Duration }{
			{30 * time.Millisecond, 6 * time.Second, 0},
			{30 * time.Millisecond, 12 * time.Second, 0},
			{6 * time.Second, 30 * time.Millisecond, 0},
			{2 * time.Second, 30 * time.Millisecond, 0},
			{30 * time.Millisecond, 30 * time.Millisecond, 10 * time.Second},
			{30 * time.Millisecond, 5 * time.Second, 10 * time.Second},
		} {
			timing, err := ParseTiming(text)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := newEstimator(timing, testRhythm)
			var list []arrival // in order, as after a queue
			last := time.Duration(0)
			for source := time.Duration(0); source < end; source += testSend {
				if latency := x.before; source < change {
					last = max(last, source+latency)
				} else if last = max(last, source+x.after); source < change+x.outage {
					continue
				}
				list = append(list, arrival{last, source})
			}
			starved, shown, oldest, newest := 0, 0, time.Duration(0), time.Duration(-1)
			for now := time.Duration(0); now < end; now += testTick {
				for ; len(list) > 0 && list[0].at <= now; list = list[1:] {
					e.arrive(list[0].at, list[0].source)
					newest = list[0].source
				}
				if newest < 0 {
					continue
				}
				target := e.target(now)
				if now > change+x.outage+20*time.Second {
					shown++
					oldest = max(oldest, newest-target)
					if target > newest {
						starved++
					}
				}
			}
			if oldest > 250*time.Millisecond || shown == 0 || starved > shown/50 {
				t.Errorf("%s after %+v: the target is up to %v older than the newest snapshot, and newer on %d of %d ticks", text, x, oldest, starved, shown)
			}
		}
	}
}

// Whatever arrives and however the timing changes, the displayed time never goes back, and no policy panics.
func TestDisplayNeverGoesBack(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		timings := []Timing{Fixed(0), Fixed(85 * time.Millisecond)}
		for _, name := range Policies.Names() {
			timings = append(timings, Timing{Policy: Policies.Default(name)})
		}
		c := newClock(timings[rng.IntN(len(timings))], testRhythm)
		before := time.Duration(math.MinInt64)
		play(&c, randomArrivals(seed, time.Duration(1+rng.IntN(100))*time.Millisecond, 30*time.Second), 30*time.Second,
			func(now, moment, _ time.Duration) {
				if moment < before {
					t.Fatalf("seed %d: at %v the display went back from %v to %v with %v", seed, now, before, moment, c.timing)
				}
				before = moment
				if rng.IntN(200) == 0 {
					c.set(timings[rng.IntN(len(timings))], testRhythm)
				}
			})
	}
}
