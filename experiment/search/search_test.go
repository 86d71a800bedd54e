package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/tune"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

var startTime = time.Now()

func clock() time.Duration { return time.Since(startTime) }

// searchSynthetic runs a search over the outcomes that value returns. It checks that the search keeps
// its limit of runs, counts them, runs no job twice, and that the result can be encoded.
func searchSynthetic(t *testing.T, ctx context.Context, c *config.Config, value func(job) outcome) (*Result, error) {
	t.Helper()
	done := map[string]bool{}
	f, err := searchWith(ctx, c, func(ctx context.Context, jobs []job) (list []outcome, _ error) {
		for _, j := range jobs {
			if ctx.Err() != nil {
				return list, ctx.Err()
			}
			key := fmt.Sprint(j)
			if done[key] {
				t.Errorf("%s is run twice", key)
			}
			done[key] = true
			list = append(list, value(j))
		}
		return list, nil
	}, nil)
	if len(done) > c.Search.Runs || f.Runs != len(done) {
		t.Errorf("%d of %d runs, reported %d", len(done), c.Search.Runs, f.Runs)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Errorf("the result cannot be encoded: %v", err)
	}
	return f, err
}

// newSpace returns a search over ordered ranges k0, k1 and so on with the given numbers of values.
func newSpace(runs, seeds int, sizes ...int) *config.Config {
	c := config.Default()
	c.Search = config.Search{Minimise: "payload_kbps", Runs: runs, Seeds: seeds}
	for d, n := range sizes {
		r := config.Range{Key: fmt.Sprint("k", d), Ordered: true}
		for v := range n {
			r.Values = append(r.Values, int64(v))
		}
		c.Search.Over = append(c.Search.Over, r)
	}
	return c
}

// tuneSpace returns a search over tune's settings for positions: small and large bit widths for x, y and
// for z, from 2 and 8 bits.
func tuneSpace(runs, seeds int) *config.Config { return newSpace(runs, seeds, 7, 5, 7, 5) }

// A search finds the optimum of tune's 1,225 settings with a tenth of the runs, with every seed.
func TestFindsOptimumOfTune(t *testing.T) {
	grid := meansByTune(t)
	if n := len(grid); n != 1225 {
		t.Fatalf("tune has %d settings, expected 1225", n)
	}
	least := math.Inf(1)
	for _, v := range grid {
		least = min(least, v)
	}
	for seed := range uint64(20) {
		c := tuneSpace(122, 8)
		c.Seed = seed
		f, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
			return outcome{Figure: grid[fmt.Sprintf("%d-%d-%d-%d", j.at[0]+2, j.at[1]+8, j.at[2]+2, j.at[3]+8)]}
		})
		if err != nil || f.Best.Figures["payload_kbps"].Mean != least {
			t.Errorf("seed %d: %s takes %.4f, the best %.4f: %v", seed, f.Best.Text, f.Best.Figures["payload_kbps"].Mean, least, err)
		}
	}
}

// meansByTune returns the mean size of each setting of tune over the demo.
func meansByTune(t *testing.T) map[string]float64 {
	t.Helper()
	src, err := dataset.Open(t.Context(), "demo", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	search := tune.New(tune.Position)
	frames := src.(dataset.Sized).Frames()
	var ring [6]frame.Frame
	for n := range ring {
		src.Initial(&ring[n])
	}
	f := src.Schema().NewFrame()
	for n := range frames {
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		search.Add(f, &ring[n%6])
		ring[n%6].CopyFrom(f)
	}
	out := map[string]float64{}
	for _, r := range search.Results() {
		out[r.String()] = r.Mean()
	}
	return out
}

// A search finds the best setting although figures are noisy. A seed changes the figures of all settings
// in the same way, and each a little by itself.
func TestFindsBestDespiteNoise(t *testing.T) {
	hits := 0
	const trials = 30
	for trial := range uint64(trials) {
		c := tuneSpace(300, 8)
		c.Seed = trial
		f, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
			common := rand.New(rand.NewPCG(trial, uint64(j.seed))).NormFloat64()
			at := uint64(j.at[0]*1000 + j.at[1]*100 + j.at[2]*10 + j.at[3])
			own := rand.New(rand.NewPCG(trial*1000+uint64(j.seed), at)).NormFloat64()
			return outcome{Figure: bowl(j.at) * (1 + 0.1*common) * (1 + 0.003*own)}
		})
		if err != nil {
			t.Fatal(err)
		}
		if f.Best.Text == "k0=3 k1=2 k2=2 k3=1" {
			hits++
		}
	}
	if hits < trials*9/10 {
		t.Errorf("the best was found in %d of %d trials", hits, trials)
	}
}

// bowl returns a quadratic function of a setting with one minimum.
func bowl(s setting) float64 {
	sum := 100.0
	for d, best := range []int{3, 2, 2, 1} {
		sum += float64((s[d] - best) * (s[d] - best))
	}
	return sum
}

// A setting that cannot be run is never the best, and is listed last.
func TestSettingsThatCannotBeRun(t *testing.T) {
	f, err := searchSynthetic(t, t.Context(), tuneSpace(122, 4), func(j job) outcome {
		if j.at[1] == 2 {
			return *failedOutcome("no")
		}
		return outcome{Figure: bowl(j.at) + 0.1*float64(j.seed)}
	})
	if err != nil || f.Best.Text != "k0=3 k1=1 k2=2 k3=1" && f.Best.Text != "k0=3 k1=3 k2=2 k3=1" || !f.Best.Keeps() {
		t.Errorf("best is %+v; expected k1 next to the refused 2: %v", f.Best, err)
	}
	refused := 0
	for _, r := range f.Rivals {
		if r.Ratio.N == 0 {
			refused++
		} else if refused > 0 {
			t.Errorf("%s comes after a setting without a ratio", r.Text)
		}
	}
	if refused == 0 {
		t.Error("no neighbour could not be run")
	}
	c := newSpace(40, 2, 3, 20, 8)
	c.Search.Subject = []config.Assertion{{Name: "playout.starved_ratio", Op: "<=", Value: 0.01}}
	f, err = searchSynthetic(t, t.Context(), c, func(job) outcome { return *failedOutcome("unsuited") })
	if err != nil || f.Best.Keeps() || len(f.Confidence) != 1 || !strings.HasSuffix(f.Confidence[0], ": unsuited.") {
		t.Errorf("%+v: %v", f, err)
	}
}

// A search does not exceed its limit of runs, with and without noise, also in a space of 10^12 settings.
func TestLimitOfRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 150 {
		c := newSpace(10+r.IntN(60), 1+r.IntN(12), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9))
		c.Seed = uint64(trial)
		noise := float64(trial % 2)
		if _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
			luck := rand.New(rand.NewPCG(uint64(j.seed), uint64(j.at[0]+10*j.at[1]+100*j.at[2]))).Float64()
			return outcome{Figure: math.Abs(float64(j.at[0]-3)) + float64(j.at[2]) + noise*luck}
		}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := searchSynthetic(t, t.Context(), newSpace(600, 4, 1000, 1000, 1000, 1000), func(j job) outcome {
		return outcome{Figure: float64(j.at[0] + j.at[2] + j.seed)}
	})
	if err != nil || f.Settings != 1e12 || f.Best == nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// An interrupted search returns the best setting so far.
func TestInterruptedSearchReturnsBest(t *testing.T) {
	for _, after := range []int{1, 12, 40, 60} {
		ctx, cancel := context.WithCancel(t.Context())
		n, least := 0, math.Inf(1)
		f, err := searchSynthetic(t, ctx, newSpace(60, 1, 9, 9, 9), func(j job) outcome {
			if n++; n == after {
				cancel()
			}
			figure := float64(j.at[0] + j.at[1] + j.at[2] + 1)
			least = min(least, figure)
			return outcome{Figure: figure}
		})
		cancel()
		if n > after || n == after && !errors.Is(err, context.Canceled) || (err != nil) != f.Interrupted || f.Best.Figures["payload_kbps"].Mean != least {
			t.Errorf("after %d of %d runs: %v, %+v; least %g", after, n, err, f.Best, least)
		}
	}
}

// The better half of the settings gets twice as many seeds, and the better half of these again.
func TestHalving(t *testing.T) {
	ran := map[string]int{} // seeds by setting
	f, err := searchSynthetic(t, t.Context(), newSpace(60, 8, 8), func(j job) outcome {
		ran[fmt.Sprint(j.at[0])]++
		figure := 10 + float64(j.at[0]) + float64(j.seed%3)
		if j.at[0] == 4 && j.seed < 2 {
			figure = 9 // 4 is the best with two seeds, and the fourth with four
		}
		return outcome{Figure: figure}
	})
	if want := map[string]int{"0": 8, "1": 8, "2": 4, "3": 2, "4": 4, "5": 2, "6": 2, "7": 2}; err != nil || !maps.Equal(ran, want) {
		t.Errorf("%v, want %v: %v", ran, want, err)
	}
	if f.Best.Text != "k0=0" || f.Seeds != 8 || f.Tried != 8 || f.Drawn != 0 || f.Runs != 32 {
		t.Errorf("%+v", f)
	}
}

// outcomeOf returns the figures by their names, also times. A figure that a run does not have is a
// problem of the setting.
func TestOutcome(t *testing.T) {
	e := &evaluator{spec: config.Search{Minimise: "encode_us.p95",
		Subject: []config.Assertion{{Name: "payload_kbps"}, {Name: "wire_kbps"}, {Name: "wrong"}}}}
	r := &engine.Result{}
	r.Totals.PayloadKbps, r.Totals.WireKbps = 200, 100
	r.Timing = figures.Timing{EncodeUS: figures.Quantiles{P50: 1, P95: 2, P99: 3, N: 1}, RunsAs: "a process"}
	v := e.outcomeOf(r)
	if v.Figure != 2 || !slices.Equal(v.Bounded, []float64{200, 100, 0}) || v.RunsAs != "a process" || v.Problem != "" || v.Shown[0] != 100 || !math.IsNaN(v.Shown[2]) {
		t.Errorf("%+v", v)
	}
	r.Timing.EncodeUS.N = 0
	if v = e.outcomeOf(r); v.Problem != "the run has no encode_us.p95" {
		t.Errorf("without a time: %+v", v)
	}
	e.spec = config.Search{Minimise: "payload_kbps", Subject: []config.Assertion{{Name: "bogus", Op: "<", Value: 1}}}
	if v = e.outcomeOf(r); v.Problem != "the run has no bogus" {
		t.Errorf("without a bounded figure: %+v", v)
	}
	for text, want := range map[string]bool{"payload_kbps": false, "decode_us.p99": true, "encode_us.p50": true} {
		if usesTimings(config.Search{Minimise: text}) != want || usesTimings(config.Search{Minimise: "wrong", Subject: []config.Assertion{{Name: text}}}) != want {
			t.Errorf("%s is a time: want %v", text, want)
		}
	}
}
