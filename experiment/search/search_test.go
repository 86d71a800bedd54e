package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

var startTime = time.Now()

func clock() time.Duration { return time.Since(startTime) }

// searchSynthetic runs a search over the figures that value returns; nil for a setting that cannot be run. It
// checks that the search keeps its limit of runs, counts them, runs no job twice, and that the result can be
// encoded.
func searchSynthetic(t *testing.T, ctx context.Context, c *config.Config, value func(job) []float64) *Result {
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
			if figures := value(j); figures != nil {
				list = append(list, outcome{Figures: figures})
			} else {
				list = append(list, *failedOutcome("unsuited"))
			}
		}
		return list, nil
	}, nil)
	if len(done) > c.Search.Runs || f.Runs != len(done) {
		t.Errorf("%d of %d runs, reported %d", len(done), c.Search.Runs, f.Runs)
	}
	if f.Interrupted != errors.Is(err, context.Canceled) || !f.Interrupted && err != nil {
		t.Errorf("interrupted: %v, error %v", f.Interrupted, err)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Errorf("the result cannot be encoded: %v", err)
	}
	return f
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

// A search finds the best of 1,225 settings although figures are noisy. A seed changes the figures of all
// settings in the same way, and each a little by itself.
func TestFindsBestDespiteNoise(t *testing.T) {
	hits := 0
	const trials = 30
	for trial := range uint64(trials) {
		c := newSpace(300, 8, 7, 5, 7, 5)
		c.Seed = trial
		f := searchSynthetic(t, t.Context(), c, func(j job) []float64 {
			common := rand.New(rand.NewPCG(trial, uint64(j.seed))).NormFloat64()
			at := uint64(j.at[0]*1000 + j.at[1]*100 + j.at[2]*10 + j.at[3])
			own := rand.New(rand.NewPCG(trial*1000+uint64(j.seed), at)).NormFloat64()
			return []float64{bowl(j.at) * (1 + 0.1*common) * (1 + 0.003*own)}
		})
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
	f := searchSynthetic(t, t.Context(), newSpace(122, 4, 7, 5, 7, 5), func(j job) []float64 {
		if j.at[1] == 2 {
			return nil
		}
		return []float64{bowl(j.at) + 0.1*float64(j.seed)}
	})
	if f.Best.Text != "k0=3 k1=1 k2=2 k3=1" && f.Best.Text != "k0=3 k1=3 k2=2 k3=1" || !f.Best.Keeps() {
		t.Errorf("best is %+v; expected k1 next to the refused 2", f.Best)
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
	f = searchSynthetic(t, t.Context(), newSpace(40, 2, 3, 20, 8), func(job) []float64 { return nil })
	if f.Best.Keeps() || len(f.Confidence) != 1 || !strings.HasSuffix(f.Confidence[0], ": unsuited.") {
		t.Errorf("%+v", f)
	}
}

// A search does not exceed its limit of runs, with and without noise, also in a space of 10^12 settings.
func TestLimitOfRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 150 {
		c := newSpace(10+r.IntN(60), 1+r.IntN(12), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9))
		c.Seed = uint64(trial)
		searchSynthetic(t, t.Context(), c, func(j job) []float64 {
			luck := rand.New(rand.NewPCG(uint64(j.seed), uint64(j.at[0]+10*j.at[1]+100*j.at[2]))).Float64()
			return []float64{math.Abs(float64(j.at[0]-3)) + float64(j.at[2]) + luck*float64(trial%2)}
		})
	}
	f := searchSynthetic(t, t.Context(), newSpace(600, 4, 1000, 1000, 1000, 1000), func(j job) []float64 {
		return []float64{float64(j.at[0] + j.at[2] + j.seed)}
	})
	if f.Settings != 1e12 || f.Best == nil {
		t.Errorf("%+v", f)
	}
}

// An interrupted search returns the best setting so far.
func TestInterruptedSearchReturnsBest(t *testing.T) {
	for _, after := range []int{1, 12, 20} {
		ctx, cancel := context.WithCancel(t.Context())
		n, least := 0, math.Inf(1)
		f := searchSynthetic(t, ctx, newSpace(60, 1, 9, 9, 9), func(j job) []float64 {
			if n++; n == after {
				cancel()
			}
			x := float64(j.at[0] + j.at[1] + j.at[2] + 1)
			least = min(least, x)
			return []float64{x}
		})
		cancel()
		if n != after || !f.Interrupted || f.Best.Figures["payload_kbps"].Mean != least {
			t.Errorf("after %d of %d runs: %+v; least %g", after, n, f.Best, least)
		}
	}
}

// The better half of the settings gets twice as many seeds, and the better half of these again.
func TestHalving(t *testing.T) {
	ran := map[int]int{} // seeds by setting
	f := searchSynthetic(t, t.Context(), newSpace(60, 8, 8), func(j job) []float64 {
		ran[j.at[0]]++
		if j.at[0] == 4 && j.seed < 2 {
			return []float64{9} // 4 is the best with two seeds, and the fourth with four
		}
		return []float64{10 + float64(j.at[0]) + float64(j.seed%3)}
	})
	if want := map[int]int{0: 8, 1: 8, 2: 4, 3: 2, 4: 4, 5: 2, 6: 2, 7: 2}; !maps.Equal(ran, want) {
		t.Errorf("%v, want %v", ran, want)
	}
	if f.Best.Text != "k0=0" || f.Seeds != 8 || f.Tried != 8 || f.Drawn != 0 || f.Runs != 32 {
		t.Errorf("%+v", f)
	}
}

// outcomeOf returns the figures by their names, also times. A figure that a run does not have is a
// problem of the setting.
func TestOutcome(t *testing.T) {
	r := &engine.Result{}
	r.Totals.PayloadKbps, r.Totals.WireKbps = 200, 100
	r.Timing = figures.Timing{EncodeUS: figures.Quantiles{P50: 1, P95: 2, P99: 3, N: 1}, RunsAs: "a process"}
	for _, x := range []struct {
		minimise, bounded string
		times             bool // whether one of them is a time
		want              outcome
	}{
		{"encode_us.p95", "payload_kbps", true, outcome{Figures: []float64{2, 200}, RunsAs: "a process"}},
		{"wrong", "encode_us.p50", true, outcome{Figures: []float64{0, 1}, RunsAs: "a process"}},
		{"payload_kbps", "wire_kbps", false, outcome{Figures: []float64{200, 100}, RunsAs: "a process"}},
		{"decode_us.p99", "wrong", true, *failedOutcome("the run has no decode_us.p99")},
		{"wrong", "bogus", false, *failedOutcome("the run has no bogus")},
	} {
		e := &evaluator{spec: config.Search{Minimise: x.minimise, Subject: []config.Assertion{{Name: x.bounded}}}}
		got := e.outcomeOf(r)
		if len(got.Figures) > 2 {
			if wire, age := got.Figures[2], got.Figures[4]; wire != 100 || !math.IsNaN(age) {
				t.Errorf("%+v: wire_kbps is %g, and the age of no packet %g", x, wire, age)
			}
			got.Figures = got.Figures[:2]
		}
		if !reflect.DeepEqual(*got, x.want) || usesTimings(e.spec) != x.times {
			t.Errorf("%+v: %+v, times %v", x, got, usesTimings(e.spec))
		}
	}
}
