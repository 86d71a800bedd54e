package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// arrivals records when each snapshot arrived.
type arrivals struct{ log []packetlog.Record }

func (a *arrivals) Sample(*meters.Sample) {}
func (a *arrivals) Settled(uint64)        {}
func (a *arrivals) Packet(p *packetlog.Record, _ *Problem) {
	if p.Outcome == packetlog.Decoded || p.Outcome == packetlog.Stale {
		a.log = append(a.log, *p)
	}
}

// referencePlayout is an independent implementation of the playout clock that only uses the times
// of arrival.
type referencePlayout struct {
	log    []packetlog.Record
	hz     float64
	delay  func(time.Duration) time.Duration
	moment time.Duration
	begun  bool

	starved, freezes, longest, late int
	ages                            []time.Duration // of the displayed state, by display tick
	steps                           bool            // the data are not interpolated
}

// age returns the age of the displayed state at now.
func (d *referencePlayout) age(now time.Duration) time.Duration {
	before, after := time.Duration(-1), time.Duration(-1)
	for i := range d.log {
		at := d.source(&d.log[i])
		switch {
		case d.log[i].Arrived > now:
		case at <= d.moment:
			before = max(before, at)
		case after < 0 || at < after:
			after = at
		}
	}
	switch {
	case before < 0:
		return now - after
	case d.steps || after < 0 && before < d.moment:
		return now - before
	}
	return now - d.moment
}

// source returns the source time of a packet's frame.
func (d *referencePlayout) source(p *packetlog.Record) time.Duration {
	tick := p.Sent * 60 / time.Second
	for time.Duration(tick+1)*time.Second/60 <= p.Sent {
		tick++
	}
	return time.Duration(tick) * time.Second / 60
}

// offset returns the minimum delay of a packet in two windows of five seconds. Each
// window begins with the first arrival after the one before.
func (d *referencePlayout) offset(now time.Duration) time.Duration {
	const none = time.Hour
	begun, old, least := time.Duration(-1), none, none
	for i := range d.log {
		p := &d.log[i]
		if p.Arrived > now {
			break
		}
		if begun < 0 {
			begun, old = p.Arrived, p.Arrived-d.source(p)
		}
		if p.Arrived-begun >= 5*time.Second {
			begun, old, least = p.Arrived, least, none
		}
		least = min(least, p.Arrived-d.source(p))
	}
	return min(old, least)
}

func (d *referencePlayout) run(until time.Duration) {
	frozen, last := 0, time.Duration(0)
	tick := func(n int) time.Duration { return time.Duration(math.Floor(float64(n) / d.hz * 1e9)) }
	for n := 0; tick(n) < until; n++ {
		now, next := tick(n), tick(n+1)
		if len(d.log) == 0 || d.log[0].Arrived > now {
			continue
		}
		want := now - d.offset(now) - d.delay(now)
		before := d.moment
		switch {
		case !d.begun && want < d.source(&d.log[0]):
			continue
		case !d.begun || want-before > time.Second+(now-last):
			d.moment, d.begun = want, true
		case want > before+(now-last)*5/4:
			d.moment = before + (now - last) + (now-last)/4
		case want < before+(now-last)*3/4:
			d.moment = before + (now - last) - (now-last)/4
		default:
			d.moment = want
		}
		here := false
		for i := range d.log {
			p := &d.log[i]
			here = here || p.Arrived <= now && d.source(p) >= d.moment
			if p.Arrived > now && p.Arrived < next && d.source(p) < d.moment+(p.Arrived-now) {
				d.late++
			}
		}
		last = now
		d.ages = append(d.ages, d.age(now))
		if frozen++; here {
			frozen = 0
			continue
		}
		if d.starved++; frozen == 1 {
			d.freezes++
		}
		d.longest = max(d.longest, frozen)
	}
}

// The display agrees with referencePlayout, with losses, jitter, a link that becomes slower and
// faster, and a delay that changes twice.
func TestPlayoutAgreesWithArrivals(t *testing.T) {
	for _, x := range []struct {
		rate int
		hz   float64 // of the display
	}{{60, 60}, {25, 60}, {10, 60}, {60, 59.9}, {10, 59.9}, {60, 143.856}} {
		rate := x.rate
		c := config.Default()
		c.Sender.RateHz, c.Receiver.Playout, c.Receiver.DisplayMilliHz = rate, 120*time.Millisecond, int(math.Round(x.hz*1000))
		testkit.Set(t, c, "down.loss", "10%", "down.latency", "40ms", "down.jitter", "35ms", "down.duplicate", "3%")
		delays := map[time.Duration]time.Duration{7 * time.Second: 20 * time.Millisecond, 14 * time.Second: 400 * time.Millisecond,
			17 * time.Second: 60 * time.Millisecond}
		log := &arrivals{}
		for at, d := range delays {
			c.At = append(c.At, config.Stamp(at, config.NewChange("receiver.playout_delay", (d).String())))
		}
		c.At = append(c.At, config.Stamp(5*time.Second, config.NewChange("down.latency", "90ms")),
			config.Stamp(12*time.Second, config.NewChange("down.latency", "36ms")))
		s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 3), Options{Observer: log})
		const length = 24 * time.Second
		mustRun(t, s, length-1)
		d := referencePlayout{log: log.log, hz: x.hz, delay: func(now time.Duration) time.Duration {
			delay := c.Receiver.Playout
			for at := time.Duration(0); at <= now; at += time.Second {
				if later, ok := delays[at]; ok {
					delay = later
				}
			}
			return delay
		}}
		d.run(length)
		got := s.lanes[0].totals(s.Now()).Playout
		want := fmt.Sprintf("%d late, %d freezes, the longest %.3f ms", d.late, d.freezes, float64(d.longest)*1000/x.hz)
		if have := fmt.Sprintf("%d late, %d freezes, the longest %.3f ms", got.Late, got.Freezes, got.LongestFreezeMS); have != want {
			t.Errorf("%v: %s, want %s", x, have, want)
		}
		if n := int(got.StarvedRatio.Or(-1)*float64(got.Displayed) + 0.5); n != d.starved {
			t.Errorf("%v: %d ticks starved, want %d", x, n, d.starved)
		}
		checkAges(t, s.lanes[0].totals(s.Now()).AgeMS, d.ages)
		if d.starved == 0 || d.late == 0 || d.freezes < 3 {
			t.Errorf("%v: %s: too little happened to test anything", x, want)
		}
	}
}

// checkAges compares the quantiles of ages with those of a list.
func checkAges(t *testing.T, got figures.Quantiles, ages []time.Duration) {
	t.Helper()
	ages = slices.Sorted(slices.Values(ages))
	at := func(p int) float64 { return float64(ages[(len(ages)*p+99)/100-1].Microseconds()) / 1000 }
	least := float64(ages[0].Microseconds()) / 1000
	if int(got.N) != len(ages) || math.Abs(got.Min-least) > 0.0011 || math.Abs(got.Max-at(100)) > 0.0011 { // rounded down to microseconds
		t.Errorf("%d ages from %g to %g ms, want %d from %g to %g", got.N, got.Min, got.Max, len(ages), least, at(100))
	}
	for p, q := range map[int]float64{50: got.P50, 95: got.P95, 99: got.P99} {
		if want := at(p); math.Abs(q-want) > 0.02*want {
			t.Errorf("%d %% of what was shown was up to %g ms old, want %g", p, q, want)
		}
	}
}

// The age of data that are not interpolated is that of the displayed snapshot.
func TestAgeWithoutInterpolation(t *testing.T) {
	for _, data := range []string{"rpc", "text"} {
		c := config.Default()
		c.Data.Source, c.Duration = data, 20*time.Second
		testkit.Set(t, c, "down.loss", "20%", "down.burst", "4", "down.latency", "40ms", "down.jitter", "35ms")
		log := &arrivals{}
		s, err := NewSession(t.Context(), c, Options{Observer: log})
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, s, c.Duration-1)
		d := referencePlayout{log: log.log, hz: 60, steps: true, delay: func(time.Duration) time.Duration { return c.Receiver.Playout }}
		d.run(c.Duration)
		checkAges(t, s.lanes[0].totals(s.Now()).AgeMS, d.ages)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The age of the displayed state increases while nothing arrives. On a link that delivered nothing
// it is unknown.
func TestAgeGrowsWhileNothingArrives(t *testing.T) {
	c := config.Default()
	c.At = []config.StampedChange{config.Stamp(2*time.Second, config.NewChange("down.loss", "100%"))}
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 3), Options{})
	mustRun(t, s, 10*time.Second)
	if got := s.lanes[0].totals(s.Now()).AgeMS; got.Max < 8000 || got.Max > 8100 {
		t.Errorf("after 8 s without a packet it is %g ms old", got.Max)
	}
	if err := c.Set("down.loss", "100%"); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 3), Options{})
	mustRun(t, s, time.Second)
	if got := s.lanes[0].totals(s.Now()).AgeMS; got.N != 0 {
		t.Errorf("nothing was shown, and is %v old", got)
	}
}
