package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/tune"
	"wirelab/experiment/config"
)

var startTime = time.Now()

func clock() time.Duration { return time.Since(startTime) }

// tuneSpace returns a search over tune's settings for positions: small and large bit widths for x, y and for z.
// The keys a to d are not configuration keys.
func tuneSpace() *config.Config {
	c := config.Default()
	for i, key := range []string{"a", "b", "c", "d"} {
		r := config.Range{Key: key, Ordered: true}
		for v := []int64{2, 8}[i%2]; v <= []int64{8, 12}[i%2]; v++ {
			r.Values = append(r.Values, v)
		}
		c.Search.Over = append(c.Search.Over, r)
	}
	c.Search.Minimise, c.Search.Runs = []string{"bits_per_item"}, 122
	return c
}

// A search finds the optimum of tune's 1,225 settings with a tenth of the runs, with every seed.
func TestFindsOptimumOfTune(t *testing.T) {
	grid := map[int]map[string]float64{}
	for _, divisor := range divisors {
		grid[divisor] = meansByTune(t, divisor)
	}
	if n := len(grid[1]); n != 1225 {
		t.Fatalf("tune has %d settings, expected 1225", n)
	}
	least := math.Inf(1)
	for _, v := range grid[1] {
		least = min(least, v)
	}
	found := 0
	const seeds = 20
	for seed := range uint64(seeds) {
		c := tuneSpace()
		c.Seed = seed
		cost := 0.0
		f, err := searchWith(t.Context(), c, evaluateEach(func(j job) outcome {
			cost += 1 / float64(j.Divisor)
			s := j.Setting
			v, ok := grid[j.Divisor][fmt.Sprintf("%d-%d-%d-%d", s[0]+2, s[1]+8, s[2]+2, s[3]+8)]
			if !ok {
				t.Fatalf("no setting %v", s)
			}
			return outcome{Figures: []float64{v}}
		}), nil, outcome{})
		if err != nil {
			t.Fatal(err)
		}
		if cost > 122.5 || math.Abs(cost-f.Runs) > 1e-9 {
			t.Errorf("seed %d: cost %.1f runs, reported %.1f, expected at most a tenth of 1225", seed, cost, f.Runs)
		}
		if f.Best.Figures["bits_per_item"].Mean == least {
			found++
		} else {
			t.Logf("seed %d: %s takes %.4f, the best %.4f", seed, f.Best.Text, f.Best.Figures["bits_per_item"].Mean, least)
		}
	}
	if found < seeds {
		t.Errorf("found the optimum with %d of %d seeds", found, seeds)
	}
}

// meansByTune returns the mean size of each setting of tune over the first 1/divisor of the demo.
func meansByTune(t *testing.T, divisor int) map[string]float64 {
	t.Helper()
	src, err := dataset.Open(t.Context(), "demo", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	search := tune.New(tune.Position)
	frames := src.(dataset.Sized).Frames() / divisor
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

// A search finds the best setting although figures are noisy. A seed changes the figures of all settings in the
// same way, and each a little by itself.
func TestFindsBestDespiteNoise(t *testing.T) {
	hits := 0
	const trials = 30
	for trial := range uint64(trials) {
		c := tuneSpace()
		c.Seed, c.Search.Runs, c.Search.Seeds = trial, 300, 8
		f, err := searchWith(t.Context(), c, evaluateEach(func(j job) outcome {
			common := rand.New(rand.NewPCG(trial, uint64(j.Seed))).NormFloat64()
			own := rand.New(rand.NewPCG(trial*1000+uint64(j.Seed), uint64(j.Setting[0]*1000+j.Setting[1]*100+j.Setting[2]*10+j.Setting[3]))).NormFloat64()
			return outcome{Figures: []float64{bowl(j.Setting) * (1 + 0.1*common) * (1 + 0.003*own)}}
		}), nil, outcome{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Best.Set["a"] == int64(5) && f.Best.Set["b"] == int64(10) && f.Best.Set["c"] == int64(4) && f.Best.Set["d"] == int64(9) {
			hits++
		}
		if f.Runs > 300 {
			t.Errorf("trial %d cost %.0f runs, expected at most 300", trial, f.Runs)
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

// The front has all settings that no other dominates if the whole grid is run.
func TestFront(t *testing.T) {
	c := tuneSpace()
	c.Search.Over = c.Search.Over[:2]
	c.Search.Minimise = []string{"payload_kbps", "encode_us.p50"}
	value := func(s setting) []float64 { return []float64{float64((s[0] - 6) * (s[0] - 6)), float64(s[0] + s[1])} }
	f, err := searchWith(t.Context(), c, evaluateEach(func(j job) outcome {
		return outcome{Figures: value(j.Setting)}
	}), nil, outcome{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range f.Front {
		got = append(got, x.Text)
	}
	var want []string
	for a := 8; a >= 2; a-- { // with each a, the smallest b is best
		want = append(want, fmt.Sprintf("a=%d b=8", a))
	}
	if !slices.Equal(got, want) {
		t.Errorf("front %v, expected %v", got, want)
	}
}

// Bounds have priority over figures, and a setting that cannot be run is never the best.
func TestBounds(t *testing.T) {
	c := tuneSpace()
	f, err := searchWith(t.Context(), c, evaluateEach(func(j job) outcome {
		v := outcome{Figures: []float64{bowl(j.Setting)}}
		if j.Setting[0] < 5 {
			v.Violation, v.Reason = float64(5-j.Setting[0]), "a is small"
		}
		if j.Setting[1] == 2 {
			v = (&evaluator{spec: c.Search}).failedOutcome(errors.New("no"))
		}
		return v
	}), nil, outcome{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Best.Text != "a=7 b=9 c=4 d=9" && f.Best.Text != "a=7 b=11 c=4 d=9" || f.Best.Violations != "" {
		t.Errorf("best is %q, breaking %q; expected a=7 and b next to the refused 10", f.Best.Text, f.Best.Violations)
	}
}

// ownSetting compares quantities, not texts.
func TestOwnSettingComparesQuantities(t *testing.T) {
	text := `
down.latency = "1s"
down.rate = "1mbit"
[search]
minimise = "payload_kbps"
[search.over]
"down.latency" = ["10ms", "1000ms"]
"down.rate" = ["1000kbit", "2mbit", "off"]
"sender.every" = [2, 1]
`
	c, err := config.Parse("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ownSetting(c), (setting{1, 0, 1}); !slices.Equal(got, want) {
		t.Errorf("ownSetting is %v, want %v", got, want)
	}
	if err := c.Set("down.latency", "20ms"); err != nil {
		t.Fatal(err)
	}
	if got := ownSetting(c); got != nil {
		t.Errorf("ownSetting with 20ms is %v, want nil", got)
	}
}

// With real runs, a search gives the same result with any number of parallel jobs, and ignores the parameters of
// other encoders.
func TestRealRuns(t *testing.T) {
	text := `
duration = "1s"
down.loss = "5%"
encoder.name = "changed-index"
[search]
minimise = "payload_kbps"
subject_to = ["wrong == 0", "playout.starved_ratio <= 50%"]
runs = 20
seeds = 3
[search.over]
"encoder.name" = ["changed-index", "relative-orientation"]
"encoder.params.orientation_small" = { from = 3, to = 6 }
"sender.history" = [2, 30, 255]
`
	var results []string
	for jobs := 1; jobs <= 2; jobs++ {
		c, err := config.Parse("test.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Run(t.Context(), c, Options{Clock: clock, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		if f.Runs > 20 {
			t.Errorf("cost %.1f runs of 20", f.Runs)
		}
		if f.Best.Set["encoder.name"] != "relative-orientation" || f.RatioToOwn != nil && f.RatioToOwn.Mean > 1 {
			t.Errorf("best %+v", f.Best)
		}
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, string(data))
	}
	if results[0] != results[1] {
		t.Error("the results with one and two jobs differ")
	}
}
