package playout

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
)

// A comparison measures what lists of all ticks of separate clocks give: those of the policies, and
// those of fixed delays.
func TestComparison(t *testing.T) {
	const length = 20 * time.Second
	for seed := range uint64(4) {
		timings := []Timing{Fixed(40 * time.Millisecond), {Policy: Policies.Default("mirror")},
			{Policy: Policies.Default("age")}}
		list := randomArrivals(seed, testSend, length)
		for i := range list {
			x := &list[i]
			x.at += time.Second // so that the comparison begins before the first arrival
			x.source = endpoint.TickTime(seqOf(*x), 60)
		}
		x := NewComparison(time.Second, timings, testRhythm, endpoint.Cadence{TickHz: 60, RateHz: 60})
		isOther := x.Compares(timings[1:], testRhythm) || x.Compares(timings, Rhythm{})
		if isOther || !x.Compares(slices.Clone(timings), testRhythm) {
			t.Error("the comparison is said to have other timings or intervals")
		}
		rest, samples := list, [][]int{}
		for now := time.Duration(0); now < length; now += testTick {
			for ; len(rest) > 0 && rest[0].at <= now; rest = rest[1:] {
				x.Arrive(rest[0].at, seqOf(rest[0]))
			}
			x.Tick(now)
			if rand.New(rand.NewPCG(seed, uint64(now))).IntN(100) == 0 {
				samples = append(samples, []int{})
				for _, s := range x.CloseSample() {
					samples[len(samples)-1] = append(samples[len(samples)-1], s.Shown)
				}
			}
		}
		got := x.Figures()
		if got.FromS != 1 || len(got.List) != len(timings) || len(got.Fixed) != 51+60+30 || len(samples) == 0 {
			t.Fatalf("from %v s, %d policies, %d fixed delays, %d samples", got.FromS, len(got.List), len(got.Fixed), len(samples))
		}
		for i, timing := range timings {
			want, ages := listed(timing, list, length)
			p := got.List[i]
			median := slices.Sorted(slices.Values(ages))[len(ages)/2]
			if math.Abs(p.AgeMS.P50-median) > 0.002*median {
				t.Errorf("%s: median age %v ms, of the list %v", p.Label, p.AgeMS.P50, median)
			}
			p.AgeMS, p.BestFixedMS, p.VsBestFixedMS = figures.Quantiles{}, figures.Figure{}, figures.Figure{}
			if want.Policy, want.Label = timing.String(), timing.Label(); p != want {
				t.Errorf("seed %d: measured\n%+v, of the list\n%+v", seed, p, want)
			}
		}
		for i := range got.Fixed {
			f := &got.Fixed[i]
			want, _ := listed(Fixed(time.Duration(f.DelayMS*1e6)), list, length)
			if f.StarvedRatio != want.StarvedRatio || i > 0 && f.DelayMS <= got.Fixed[i-1].DelayMS {
				t.Errorf("%v ms starves %v, of the list %v", f.DelayMS, f.StarvedRatio, want.StarvedRatio)
			}
		}
		if last := got.Fixed[len(got.Fixed)-1].DelayMS; last != 1000 {
			t.Errorf("the longest fixed delay is %v ms", last)
		}
	}
}

// A nil comparison compares nothing.
func TestNoComparison(t *testing.T) {
	var x *Comparison
	x.Arrive(0, 0)
	x.Tick(0)
	if x.Compares(nil, Rhythm{}) || x.CloseSample() != nil || x.Figures() != nil {
		t.Error("a nil comparison has results")
	}
}

// seqOf returns the sequence number of a snapshot.
func seqOf(x arrival) uint64 { return uint64(math.Round(x.source.Seconds() * 60)) }

// listed returns what a clock with a timing gives on arrivals, computed from the list of its ticks, and
// its ages in ms.
func listed(timing Timing, list []arrival, length time.Duration) (p figures.PlayoutPolicy, ages []float64) {
	type shown struct{ now, moment, newest time.Duration }
	var ticks []shown
	c := newClock(timing, testRhythm)
	play(&c, list, length, func(now, moment, newest time.Duration) {
		ticks = append(ticks, shown{now, moment, newest})
	})
	frozen, longest, starved, pace := 0, 0, 0, 0
	for i, x := range ticks {
		if x.now < list[0].at+3*time.Second {
			continue
		}
		p.Displayed++
		ages = append(ages, float64(x.now-min(x.moment, x.newest))/1e6)
		if frozen++; x.moment <= x.newest {
			frozen = 0
		} else if starved++; frozen == 1 {
			p.Freezes++
		}
		longest = max(longest, frozen)
		if i == 0 {
			continue
		}
		shift := x.moment - ticks[i-1].moment - testTick
		now := 0
		if shift.Abs() > testTick/1000 {
			now = int(shift / shift.Abs())
			p.ShiftedMS += float64(shift.Abs()) / 1e6
		}
		if now != pace {
			p.SpeedChanges++
		}
		if shift > testTick/2 || shift < -testTick/2 {
			p.Jumps++
		}
		pace = now
	}
	p.StarvedRatio = figures.RatioFigure(float64(starved), float64(p.Displayed))
	p.LongestFreezeMS = figures.RatioFigure(float64(longest)*1000, float64(time.Second)/float64(testTick))
	p.ShiftedMS = math.Round(p.ShiftedMS*1e6) / 1e6
	return p, ages
}
