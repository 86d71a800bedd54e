package measure

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/random"
)

// go test ./lossmodel/measure -run Intervals -v -seeds 4000 measures with more.
var seeds = flag.Int("seeds", testkit.ChooseLong(400, 150, 60), "captures that each test of the intervals draws")

// tally counts how often the intervals of a figure held the truth.
type tally struct {
	order []string
	held  map[string]int
	of    map[string]int
}

func (c *tally) see(name string, truth float64, in span) {
	if c.of == nil {
		c.held, c.of = map[string]int{}, map[string]int{}
	}
	if c.of[name] == 0 {
		c.order = append(c.order, name)
	}
	if c.of[name]++; in.low <= truth && truth <= in.high {
		c.held[name]++
	}
}

func (c *tally) fit(f *fitter, truths map[string]float64) {
	for _, e := range f.Estimates {
		if truth, ok := truths[e.Name]; ok {
			c.see(e.Name, truth, span{e.Low, e.High})
		}
	}
}

// demand that intervals said to hold the truth in 95 cases of 100 do so, in a case. The
// limits are for 400 captures; fewer may miss them by three more standard deviations.
func (c *tally) demand(t *testing.T, what string, least, most float64) {
	t.Helper()
	for _, name := range c.order {
		percent := 100 * ratio(c.held[name], c.of[name])
		slack := 3 * 100 * math.Sqrt(0.95*0.05/float64(c.of[name])) * max(0, 1-math.Sqrt(float64(*seeds)/400))
		t.Logf("%s: %-28s %.1f %% of %d", what, name, percent, c.of[name])
		if percent < least-slack || percent > most+slack {
			t.Errorf("%s: %.1f %% of the intervals of %s held the truth, want %g to %g", what, percent, name, least, most)
		}
	}
}

// series is the loss stage of a link, and nothing else of it.
func series(m loss.Model, seed uint64, n int) []bool {
	process, words := m.Process(nil, nil), random.NewStream(seed, "down.loss")
	lost := make([]bool, n)
	for i := range lost {
		p := loss.Packet{Word: words.Next(0), Fragments: 1}
		process.Judge(&p)
		lost[i] = p.Lost != loss.Arrives
	}
	return lost
}

// bursty is a model of which the truth is known: 1 means independent losses.
func bursty(rate, burst float64) (m loss.Model, truths map[string]float64) {
	m = loss.Gilbert{Mean: rate, Burst: burst}
	if burst == 1 {
		m, burst = loss.Bernoulli{P: rate}, 1/(1-rate)
	}
	return m, map[string]float64{"loss": rate, "mean burst": burst, "p": rate / (1 - rate) / burst, "r": 1 / burst}
}

// Losses in bursts know less of the loss than as many independent ones.
func TestIntervalsOfLoss(t *testing.T) {
	next := uint64(500000) // no two cases share a seed
	for _, n := range []int{20_000, 5_000} {
		for _, rate := range []float64{0.05, 0.01} {
			for _, burst := range []float64{1, 3, 10, 30} {
				model, truth := bursty(rate, burst)
				var rates, chain tally
				for range *seeds {
					next++
					s := transitionsOf(series(model, next, n))
					p, r := s.enter(), s.leave()
					rates.see("loss", truth["loss"], s.lossInterval())
					chain.see("mean burst", truth["mean burst"], s.burstInterval())
					chain.see("p", truth["p"], p.interval())
					chain.see("r", truth["r"], r.interval())
				}
				what := fmt.Sprintf("%d packets, loss %g, burst %g", n, rate, burst)
				rates.demand(t, what, 93, 97)
				// A handful of bursts, or of losses in a row, are whole numbers: no
				// interval can hold 95 of 100 of them.
				if bursts := float64(n) * rate / burst; bursts > 50 && burst > 1 {
					chain.demand(t, what, 92, 98)
				} else {
					chain.demand(t, what, 91, 99.5)
				}
			}
		}
	}
}

// fitterOf is a fitter that has seen the losses alone.
func fitterOf(lost []bool) *fitter {
	f := &fitter{all: make([]capture.Datagram, len(lost))}
	for i, l := range lost {
		f.all[i].Lost = l
	}
	f.Measured = Of(&capture.Sequence{Datagrams: f.all})
	return f
}

// Losses within both states: what is taken for the model, and its intervals.
func TestIntervalsOfElliott(t *testing.T) {
	for _, m := range []loss.GilbertElliott{
		{P: 0.01, R: 0.1, H: 0.3, K: 0.995},
		{P: 0.004, R: 0.05, H: 0.5, K: 0.999},
		{P: 0.02, R: 0.1, H: 0.5, K: 1},
	} {
		e := &elliott{p: m.P, r: m.R, eG: 1 - m.K, eB: 1 - m.H}
		truths := map[string]float64{"loss": e.rate(), "mean burst": e.burst(), "p": m.P, "r": m.R, "h": m.H, "k": m.K}
		var c tally
		for seed := range uint64(*seeds / 4) { // the search for the model takes its time
			f := fitterOf(series(m, seed, 5000))
			f.loss()
			c.fit(f, truths)
		}
		c.demand(t, fmt.Sprintf("%+v", m), 90, 99.5)
	}
}

// The same through a link and a file.
func TestIntervalsThroughFiles(t *testing.T) {
	truths := map[string]float64{"loss": 0.02, "mean burst": 5}
	spec := specOf(t, "loss", "gilbert mean=2% burst=5", "latency", "20ms")
	var c tally
	for seed := range uint64(*seeds / 2) {
		rows, err := Trace(spec, seed, Traffic{Packets: 4000, Interval: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := capture.Write(&file, slices.Values(rows)); err != nil {
			t.Fatal(err)
		}
		read, err := capture.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := Fit(read)
		if err != nil {
			t.Fatal(err)
		}
		c.fit(&fitter{FitResult: fit}, truths)
	}
	c.demand(t, "through a file", 92, 98)
}

// Captures that know next to nothing say so: intervals are wide, and hold what was
// measured.
func TestIntervalsOfFewBursts(t *testing.T) {
	const n = 5000
	for _, c := range []struct {
		name      string
		lost      func(i int) bool
		low, high span // between which the ends of the loss's interval lie
	}{
		{"none lost", func(int) bool { return false }, span{0, 0}, span{0.01, 0.1}},
		{"all lost", func(int) bool { return true }, span{0.9, 0.99}, span{1, 1}},
		{"one lost", func(i int) bool { return i == 40 }, span{1e-6, 2e-4}, span{1e-3, 5e-3}},
		{"one burst", func(i int) bool { return i >= 100 && i < 150 }, span{1e-4, 5e-3}, span{0.05, 0.3}},
		{"one burst at the end", func(i int) bool { return i >= 4900 }, span{1e-4, 0.02}, span{0.5, 1}},
		{"all but one lost", func(i int) bool { return i != 40 }, span{0.99, 0.999}, span{0.9998, 1}},
		{"every other", func(i int) bool { return i%2 == 0 }, span{0.499, 0.5}, span{0.5, 0.501}},
	} {
		lost := make([]bool, n)
		for i := range lost {
			lost[i] = c.lost(i)
		}
		f := fitterOf(lost)
		f.loss()
		for _, e := range f.Estimates {
			if !(e.Low <= e.Value && e.Value <= e.High) {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		if e := f.Estimates[0]; e.Low < c.low.low || e.Low > c.low.high || e.High < c.high.low || e.High > c.high.high {
			t.Errorf("%s: %+v, want ends in %v and %v", c.name, e, c.low, c.high)
		}
	}
}

// Runs of losses of 1 packet or of 40 are no chain's. The chain that comes closest
// must not be surer than it may be.
func TestIntervalsOfOtherModels(t *testing.T) {
	const starts, long = 0.02, 0.1
	mean := 1 + long*39
	truths := map[string]float64{"loss": mean / (mean + 1/starts)}
	var c tally
	for seed := range min(80, uint64(*seeds)) {
		words, left := random.NewStream(seed, "down.loss"), 0
		lost := make([]bool, 10_000)
		for i := range lost {
			word := words.Next(0)
			switch {
			case left > 1:
				left--
			case left == 1:
				left = 0
			case random.ChanceOf(starts * long).Hit(word):
				left = 40
			case random.ChanceOf(starts).Hit(word):
				left = 1
			}
			lost[i] = left > 0
		}
		f := fitterOf(lost)
		f.loss()
		c.fit(f, truths)
	}
	c.demand(t, "no chain", 90, 100)
}

// Delays of neighbours that hang together know less of their mean.
func TestIntervalsOfDelay(t *testing.T) {
	for _, c := range []struct {
		distribution string
		rho          float64
		sd           float64 // in units of the jitter
	}{
		{"normal", 0, 1}, {"normal", 0.9, 1}, {"uniform", 0.6, 1 / math.Sqrt(3)}, {"uniform", 0.9, 1 / math.Sqrt(3)},
	} {
		spec := specOf(t, "loss", "2%", "latency", "80ms±6ms", "distribution", c.distribution,
			"jitter_correlation", fmt.Sprint(100*c.rho, "%"))
		truths := map[string]float64{"mean delay": 80, "standard deviation of delay": 6 * c.sd, "jitter correlation": c.rho}
		var held tally
		for seed := range uint64(*seeds / 2) {
			rows, err := Trace(spec, seed, Traffic{Packets: 5000, Interval: 10 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			f := &fitter{all: sequenceOf(rows).Datagrams}
			var took []time.Duration
			for i := range f.all {
				if !f.all[i].Lost {
					took = append(took, f.all[i].Took)
				}
			}
			f.Measured.Delay = delayOf(f.all)
			f.estimateSpread(took)
			f.estimate("jitter correlation", "", f.Measured.Delay.Lag1, f.lag1Interval())
			held.fit(f, truths)
		}
		held.demand(t, fmt.Sprintf("%s, correlation %g", c.distribution, c.rho), 91.5, 98.5)
	}
}
