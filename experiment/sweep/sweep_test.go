package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

var began = time.Now()

func clock() time.Duration { return time.Since(began) }

const small = `
duration = "100ms"
encoder.name = "changed-index"
down.latency = "10ms"
sender.history = 32
receiver.history = 32
[assert]
wrong = "== 0"
[sweep]
repeat = 5
[[sweep.axis]]
key = "encoder.name"
values = ["changed-index", "at-rest"]
[[sweep.axis]]
key = "down.loss"
values = ["0%", "10%", "30%"]
`

func parseConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	c := must(config.Parse("test.toml", []byte(text)))
	return c
}

func newTestPlan(t *testing.T, text string) *Plan {
	t.Helper()
	p := must(NewPlan(t.Context(), parseConfig(t, text), "v1"))
	return p
}

// newTestStore returns the store of a new sweep, and its folder.
func newTestStore(t testing.TB, p *Plan) (dir string, store *Store) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	store = must(NewStore(nil, dir, p, false))
	return dir, store
}

func runSweep(t *testing.T, p *Plan, o Options) *Summary {
	t.Helper()
	o.Clock = clock
	sum := must(Run(t.Context(), p, o))
	if sum.Done != p.Runs() || sum.Digest == "" {
		t.Fatalf("%d of %d runs done", sum.Done, p.Runs())
	}
	return sum
}

// Every run has the seed of its number and gives the same result as when it is run alone.
func TestRunsEqualSingleRuns(t *testing.T) {
	p := newTestPlan(t, small)
	var seen []Outcome
	sum := runSweep(t, p, Options{Jobs: 2, OnResult: func(o Outcome) { seen = append(seen, o) }})
	if len(seen) != 30 || p.Runs() != 30 {
		t.Fatalf("%d results for %d runs, expected 30", len(seen), p.Runs())
	}
	for _, o := range seen {
		point, seed := o.Run/5, uint64(7+o.Run%5)
		wantSet := map[string]string{"encoder.name": []string{"changed-index", "at-rest"}[point/3],
			"down.loss": []string{"0%", "10%", "30%"}[point%3]}
		for k, v := range wantSet {
			if o.Result.Set[k] != v {
				t.Errorf("run %d has %s = %s, expected %s", o.Run, k, o.Result.Set[k], v)
			}
		}
		if o.Result.Seed != seed {
			t.Errorf("run %d has seed %d, expected %d", o.Run, o.Result.Seed, seed)
		}
		c := parseConfig(t, strings.Split(small, "[assert]")[0])
		c.Seed = seed
		for k, v := range wantSet {
			noError(t, c.Set(k, v))
		}
		alone := must(engine.NewSession(t.Context(), c, engine.Options{}))
		for !alone.Done() {
			noError(t, alone.Advance(time.Second))
		}
		if r := alone.Result(); r.Digest != o.Result.Digest {
			t.Errorf("run %d: digest %.12s, by itself %.12s", o.Run, o.Result.Digest, r.Digest)
		}
	}
	if m := sum.Points[2].Figures["lost"]; m.N != 5 || m.Mean == 0 || m.Lo == nil && m.Range == nil {
		t.Errorf("30 %% loss over 5 seeds lost %+v", m)
	}
	if sum.Points[3].Ratio["payload_kbps"].Mean <= 0 || sum.Points[0].Ratio != nil {
		t.Error("ratios to the first point are missing, or the first has one")
	}
}

// An interrupted sweep keeps its results, and when resumed repeats no run and gives the same summary.
func TestResume(t *testing.T) {
	p := newTestPlan(t, small)
	want := runSweep(t, p, Options{Jobs: 1}).Digest
	dir, store := newTestStore(t, p)
	runs := 0
	for stop := 1; ; stop += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		sum, err := Run(ctx, p, Options{Clock: clock, Jobs: 1, Store: store, maxJobRuns: 2, OnResult: func(Outcome) {
			if n++; n >= stop {
				cancel()
			}
		}})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		runs = max(runs, sum.Done)
		if sum.Done == p.Runs() {
			if sum.Digest != want {
				t.Errorf("resumed: digest %.12s, in one go %.12s", sum.Digest, want)
			}
			break
		}
		if !sum.Interrupted || sum.Reason != engine.Interrupted {
			t.Fatalf("broken off with %d runs: reason %q", sum.Done, sum.Reason)
		}
		store.Close()
		if store, p, err = OpenStore(nil, dir, "v1"); err != nil {
			t.Fatal(err)
		}
	}
	again := 0
	store.Close()
	store, p, err := OpenStore(nil, dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(p) // loaded results are one step of progress
	loaded := 0
	load := func(o Outcome) {
		w.AddResult(o)
		loaded++
		if s := w.State(); s.Runs != loaded || s.First != loaded {
			t.Errorf("%d results are shown, the progress is %+v", loaded, s)
		}
	}
	sum := runSweep(t, p, Options{Jobs: 2, Store: store, Verify: 0.1, OnProgress: w.SetProgress, OnResult: load})
	if sum.Verified == nil || sum.Verified.Runs != 3 || w.State().First != p.Runs() {
		t.Errorf("verified %+v, expected 3 runs; %d of %d loaded", sum.Verified, w.State().First, p.Runs())
	}
	files := must(filepath.Glob(filepath.Join(dir, "results", "*.json")))
	for _, f := range files {
		data := must(os.ReadFile(f))
		var d sealedBatch
		noError(t, json.Unmarshal(data, &d))
		again += len(d.Runs)
	}
	if again != 30 {
		t.Errorf("the folder holds %d results, expected 30: each run once", again)
	}
	store.Close()
	if _, _, err := OpenStore(nil, dir, "v2"); err == nil || !strings.Contains(err.Error(), "v1") || !strings.Contains(err.Error(), "v2") {
		t.Errorf("another version: %v, expected both named", err)
	}
	if _, err := NewStore(nil, dir, p, false); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a folder in use: %v, expected to hear of --resume", err)
	}
}

// The error of a failing run names the point and the cause.
func TestFailingRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "walk.bin")
	frame := make([]byte, 901*32)
	noError(t, os.WriteFile(path, bytes.Repeat(frame, 30), 0o644))
	c := parseConfig(t, "duration = \"100ms\"\n[data]\nsource = \"file:"+path+"\"\n[sweep]\nrepeat = 3\n")
	p, err := NewPlan(t.Context(), c, "v1")
	if err != nil {
		t.Skip("the recording is refused beforehand:", err)
	}
	noError(t, os.Remove(path))
	sum, err := Run(t.Context(), p, Options{Clock: clock, Jobs: 1})
	if err == nil || !strings.Contains(err.Error(), path) || sum.Reason != engine.BadData {
		t.Errorf("a recording that went away: %v, reason %q", err, sum.Reason)
	}
}

// A sweep over data sources gives the same plan on every machine: settings that depend on the data
// are derived there.
func TestSweepOverData(t *testing.T) {
	p := newTestPlan(t, "duration = \"200ms\"\n[sweep]\nrepeat = 2\n[[sweep.axis]]\nkey = \"data.source\"\nvalues = [\"demo\", \"rpc\"]\n")
	c := must(config.Parse("there", p.TOML))
	q, err := newPlan(c, "v1", p.Files)
	if err != nil || q.ID != p.ID {
		t.Fatalf("the plan is another one there: %v\n%s\n%s", err, p.TOML, q.TOML)
	}
	if a, b := runSweep(t, p, Options{Jobs: 1}), runSweep(t, q, Options{Jobs: 2}); a.Digest != b.Digest {
		t.Error("two machines come to different results")
	}
}

// The jobs cover the runs in order, each once, in the given number of parts or more.
func TestJobs(t *testing.T) {
	for _, x := range []struct{ runs, parts, limit, size int }{{10, 250, 0, 1}, {999, 250, 0, 3}, {100_000, 250, 0, 64}, {30, 2, 7, 7}, {0, 8, 0, 1}} {
		p := &Plan{Grid: experiment.Grid{Points: make([]config.Point, x.runs+5), Repeat: 1}, ID: "x"}
		var missing, got []int
		for n := range x.runs {
			missing = append(missing, n+5)
		}
		list := p.jobs(missing, x.parts, x.limit)
		for _, j := range list {
			if err := p.checkJob(j); err != nil || len(j.Runs) > x.size {
				t.Errorf("%+v: %d runs in a job, %v", x, len(j.Runs), err)
			}
			got = append(got, j.Runs...)
		}
		if !slices.Equal(got, missing) || len(list) != (x.runs+x.size-1)/x.size {
			t.Errorf("%+v: %d runs in %d jobs", x, len(got), len(list))
		}
	}
}

// A job of long runs gives a batch after each of them, one of short runs all at once.
func TestBatches(t *testing.T) {
	p := newTestPlan(t, small)
	var now time.Duration
	x := newExecutor(p, "w", func() time.Duration { return now })
	for _, c := range []struct {
		length time.Duration // of a run
		want   int           // runs of each batch but the last
	}{{batchTime, 1}, {batchTime / 2, 2}, {batchTime/2 - 1, 3}, {0, 7}} {
		x.run = func(context.Context, *config.Config) (*engine.Result, error) {
			now += c.length
			return &engine.Result{}, nil
		}
		var got []int
		err := x.runJob(t.Context(), []int{1, 2, 3, 4, 5, 6, 7}, func(b batch) error {
			for i, o := range b.Runs {
				if o.Run != len(got)+1 || i >= c.want {
					t.Errorf("runs of %v: run %d is number %d of a batch", c.length, o.Run, i)
				}
				got = append(got, o.Run)
			}
			return nil
		})
		if err != nil || len(got) != 7 {
			t.Errorf("runs of %v: %v, %v", c.length, got, err)
		}
	}
}

// must returns v, and panics on an error.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// noError ends the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
