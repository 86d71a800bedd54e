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

// go test ./lossmodel/measure -run Intervals -v -seeds 4000 measures the coverage with more
// captures.
var seeds = flag.Int("seeds", testkit.ChooseLong(400, 150, 60), "captures simulated by each test of the intervals")

// tally counts how often the intervals of each figure contain the true value.
type tally struct {
	order  []string       // names of figures in the order of their first add
	inside map[string]int // intervals that contain the true value
	total  map[string]int
}

// add counts one interval of a figure.
func (c *tally) add(name string, truth float64, in span) {
	if c.total == nil {
		c.inside, c.total = map[string]int{}, map[string]int{}
	}
	if c.total[name] == 0 {
		c.order = append(c.order, name)
	}
	if c.total[name]++; in.low <= truth && truth <= in.high {
		c.inside[name]++
	}
}

// addFit counts the intervals of a fit's estimates that have a true value in truths.
func (c *tally) addFit(f *fitter, truths map[string]float64) {
	for _, e := range f.Estimates {
		if truth, ok := truths[e.Name]; ok {
			c.add(e.Name, truth, span{e.Low, e.High})
		}
	}
}

// checkCoverage checks that the coverage of each figure's 95 % intervals is between minPercent
// and maxPercent. The limits are for 400 captures; with fewer, three standard deviations are
// added.
func (c *tally) checkCoverage(t *testing.T, what string, minPercent, maxPercent float64) {
	t.Helper()
	for _, name := range c.order {
		percent := 100 * ratio(c.inside[name], c.total[name])
		slack := 3 * 100 * math.Sqrt(0.95*0.05/float64(c.total[name])) * max(0, 1-math.Sqrt(float64(*seeds)/400))
		t.Logf("%s: %-28s %.1f %% of %d", what, name, percent, c.total[name])
		if percent < minPercent-slack || percent > maxPercent+slack {
			t.Errorf("%s: %.1f %% of the intervals of %s contain the true value, expected %g to %g", what, percent, name, minPercent, maxPercent)
		}
	}
}

// simulateLosses returns the losses of n packets of a loss model.
func simulateLosses(m loss.Model, seed uint64, n int) []bool {
	process, words := m.Process(nil, nil), random.NewStream(seed, "down.loss")
	lost := make([]bool, n)
	for i := range lost {
		p := loss.Packet{Word: words.Next(0), Fragments: 1}
		process.Judge(&p)
		lost[i] = p.Lost != loss.NotLost
	}
	return lost
}

// gilbertModel returns a model with the given loss rate and mean burst, and its true parameters.
// A burst of 1 means independent losses.
func gilbertModel(rate, burst float64) (m loss.Model, truths map[string]float64) {
	m = loss.Gilbert{Mean: rate, Burst: burst}
	if burst == 1 {
		m, burst = loss.Bernoulli{P: rate}, 1/(1-rate)
	}
	return m, map[string]float64{"loss": rate, "mean burst": burst, "p": rate / (1 - rate) / burst, "r": 1 / burst}
}

// The intervals of loss rate, mean burst, p and r have the right coverage for independent and
// bursty losses.
func TestIntervalsOfLoss(t *testing.T) {
	next := uint64(500000) // every case has its own seeds
	for _, n := range []int{20_000, 5_000} {
		for _, rate := range []float64{0.05, 0.01} {
			for _, burst := range []float64{1, 3, 10, 30} {
				model, truth := gilbertModel(rate, burst)
				var rates, chain tally
				for range *seeds {
					next++
					s := countTransitions(simulateLosses(model, next, n))
					p, r := s.enterPosterior(), s.leavePosterior()
					rates.add("loss", truth["loss"], s.lossInterval())
					chain.add("mean burst", truth["mean burst"], s.burstInterval())
					chain.add("p", truth["p"], p.interval())
					chain.add("r", truth["r"], r.interval())
				}
				what := fmt.Sprintf("%d packets, loss %g, burst %g", n, rate, burst)
				rates.checkCoverage(t, what, 93, 97)
				// Counts below about 50 are too coarse for a coverage of exactly 95 %.
				if bursts := float64(n) * rate / burst; bursts > 50 && burst > 1 {
					chain.checkCoverage(t, what, 92, 98)
				} else {
					chain.checkCoverage(t, what, 91, 99.5)
				}
			}
		}
	}
}

// newLossFitter returns a fitter for a capture with these losses only.
func newLossFitter(lost []bool) *fitter {
	f := &fitter{datagrams: make([]capture.Datagram, len(lost))}
	for i, l := range lost {
		f.datagrams[i].Lost = l
	}
	f.Measured = NewStats(&capture.Sequence{Datagrams: f.datagrams})
	return f
}

// The intervals have the right coverage for losses in both states, with the model selected by
// BIC.
func TestIntervalsOfElliott(t *testing.T) {
	for _, m := range []loss.GilbertElliott{
		{P: 0.01, R: 0.1, H: 0.3, K: 0.995},
		{P: 0.004, R: 0.05, H: 0.5, K: 0.999},
		{P: 0.02, R: 0.1, H: 0.5, K: 1},
	} {
		e := &elliott{p: m.P, r: m.R, eG: 1 - m.K, eB: 1 - m.H}
		truths := map[string]float64{"loss": e.lossRate(), "mean burst": e.meanBurst(), "p": m.P, "r": m.R, "h": m.H, "k": m.K}
		var c tally
		for seed := range uint64(*seeds / 4) { // fitElliott is slow
			f := newLossFitter(simulateLosses(m, seed, 5000))
			f.fitLoss()
			c.addFit(f, truths)
		}
		c.checkCoverage(t, fmt.Sprintf("%+v", m), 90, 99.5)
	}
}

// The intervals have the right coverage for captures of a link, written to and read from a file.
func TestIntervalsThroughFiles(t *testing.T) {
	truths := map[string]float64{"loss": 0.02, "mean burst": 5}
	spec := newSpec(t, "loss", "gilbert mean=2% burst=5", "latency", "20ms")
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
		c.addFit(&fitter{FitResult: fit}, truths)
	}
	c.checkCoverage(t, "through a file", 92, 98)
}

// Captures with hardly any information give wide intervals that contain the measured value.
func TestIntervalsOfFewBursts(t *testing.T) {
	const n = 5000
	for _, c := range []struct {
		name      string
		lost      func(i int) bool
		low, high span // ranges of the lower and the upper bound of the loss
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
		f := newLossFitter(lost)
		f.fitLoss()
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

// The coverage is not below 90 % for losses that no chain describes: runs of 1 or of 40 packets.
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
			case random.NewChance(starts * long).Hit(word):
				left = 40
			case random.NewChance(starts).Hit(word):
				left = 1
			}
			lost[i] = left > 0
		}
		f := newLossFitter(lost)
		f.fitLoss()
		c.addFit(f, truths)
	}
	c.checkCoverage(t, "no chain", 90, 100)
}

// The intervals of delays have the right coverage for correlated delays.
func TestIntervalsOfDelay(t *testing.T) {
	for _, c := range []struct {
		distribution string
		rho          float64
		sd           float64 // in units of the jitter
	}{
		{"normal", 0, 1}, {"normal", 0.9, 1}, {"uniform", 0.6, 1 / math.Sqrt(3)}, {"uniform", 0.9, 1 / math.Sqrt(3)},
	} {
		spec := newSpec(t, "loss", "2%", "latency", "80ms±6ms", "distribution", c.distribution,
			"jitter_correlation", fmt.Sprint(100*c.rho, "%"))
		truths := map[string]float64{"mean delay": 80, "standard deviation of delay": 6 * c.sd, "jitter correlation": c.rho}
		var held tally
		for seed := range uint64(*seeds / 2) {
			rows, err := Trace(spec, seed, Traffic{Packets: 5000, Interval: 10 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			f := &fitter{datagrams: mustSequence(rows).Datagrams}
			var took []time.Duration
			for i := range f.datagrams {
				if !f.datagrams[i].Lost {
					took = append(took, f.datagrams[i].Took)
				}
			}
			f.Measured.Delay = newDelayStats(f.datagrams)
			f.estimateMoments(took)
			f.addEstimate("jitter correlation", "", f.Measured.Delay.Lag1, f.lag1Interval())
			held.addFit(f, truths)
		}
		held.checkCoverage(t, fmt.Sprintf("%s, correlation %g", c.distribution, c.rho), 91.5, 98.5)
	}
}
