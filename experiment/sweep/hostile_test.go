//go:build unix

package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/panics"
)

// stub replaces a run: it takes no time, and its digest depends on the seed.
func stub(_ context.Context, c *config.Config) (*engine.Result, error) {
	r := &engine.Result{Digest: fmt.Sprintf("%064x", c.Seed), Totals: figures.Totals{Rates: figures.Rates{PayloadKbps: 100 + float64(c.Seed%7)}}}
	r.Seed = c.Seed
	return r, nil
}

// outcome returns the result of a run of the plan small.
func outcome(run int) Outcome {
	r := &engine.Result{Digest: fmt.Sprintf("%064x", run)}
	r.Seed = uint64(7 + run%5)
	return Outcome{run, r}
}

// The name of a result file follows from its runs, and two parts of one job do not overwrite each other.
func TestResultFileNames(t *testing.T) {
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	s := newActiveSweep(p, Options{Clock: clock, Store: store})
	for _, d := range []batch{
		{Worker: "../../escaped", Runs: []Outcome{outcome(1)}},
		{Runs: []Outcome{outcome(2), outcome(3)}},
		{Runs: []Outcome{outcome(3), outcome(4)}}, // the first again, and another
	} {
		noError(t, s.addBatch(d, true))
	}
	found := 0
	again := newActiveSweep(p, Options{Clock: clock})
	if _, err := store.Load(p, func(d batch, _ string) error { found += len(d.Runs); return again.addBatch(d, false) }); err != nil {
		t.Fatal(err)
	}
	if found != 4 || again.progress.Runs != 4 {
		t.Errorf("the folder holds %d results of %d runs, expected 4 of 4", found, again.progress.Runs)
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*.json")); len(list) > 0 {
		t.Errorf("written outside of the folder: %v", list)
	}
}

// A summary lists failed assertions in the order of the runs, not of their arrival.
func TestFailuresInOrder(t *testing.T) {
	p := newTestPlan(t, strings.Replace(small, "== 0", "== 7", 1))
	runs := make([]*engine.Result, p.Runs())
	x := newExecutor(p, "w", clock)
	for n := range runs {
		runs[n] = x.runBatch(t.Context(), []int{n}).Runs[0].Result
	}
	forward, backward := newSummary(p), newSummary(p)
	for n := range runs {
		forward.add(Outcome{n, runs[n]})
		m := len(runs) - 1 - n
		backward.add(Outcome{m, runs[m]})
	}
	forward.finish(nil, false)
	backward.finish(nil, false)
	if len(forward.Failed) != p.Runs() || fmt.Sprint(forward.Failed) != fmt.Sprint(backward.Failed) || forward.Reason != engine.Unmet {
		t.Errorf("%d and %d sentences, expected %d in one order; reason %q", len(forward.Failed), len(backward.Failed), p.Runs(), forward.Reason)
	}
}

// A second coordinator of the same plan is refused, and the first is not affected.
func TestTwoCoordinators(t *testing.T) {
	t.Parallel()
	p := newTestPlan(t, small)
	s, q := served(t)
	other := remote(t, s)
	var first atomic.Bool
	var err error
	sum := runSweep(t, p, Options{Queue: q, Jobs: 1, maxJobRuns: 2, OnResult: func(Outcome) {
		if !first.Swap(true) { // it cannot end before the other has
			_, err = Run(t.Context(), p, Options{Clock: clock, Queue: other, Jobs: 1})
		}
	}})
	var bad *QueueError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), hostName()) {
		t.Errorf("the second ended with %v", err)
	}
	if sum.Digest != runSweep(t, p, Options{Jobs: 1}).Digest {
		t.Error("another digest")
	}
}

// When a sweep with a queue is interrupted, the runs that this machine's workers have finished are
// stored, even if their job was not complete.
func TestInterruptedWithQueue(t *testing.T) {
	p := newTestPlan(t, small)
	_, q := served(t)
	_, store := newTestStore(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ran atomic.Int64
	o := Options{Clock: clock, Queue: q, Jobs: 1, Store: store, maxJobRuns: 10, run: func(ctx context.Context, c *config.Config) (*engine.Result, error) {
		if ran.Load() == 8 { // in the midst of a job: of 1, of 10, ...
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ran.Add(1)
		return stub(ctx, c)
	}}
	sum, err := Run(ctx, p, o)
	if err != nil || !sum.Interrupted || sum.Done != 8 {
		t.Errorf("%d runs were finished, %d stored: %v", ran.Load(), sum.Done, err)
	}
}

// A panic in a run ends the sweep, with and without a queue. The error has the stack, and the summary
// the results so far.
func TestPanicInRun(t *testing.T) {
	for name, after := range map[string]int64{"cores": 8, "queue": 8, "verifying": 30} {
		t.Run(name, func(t *testing.T) {
			p := newTestPlan(t, small)
			dir, store := newTestStore(t, p)
			var ran atomic.Int64
			o := Options{Clock: clock, Jobs: 1, Store: store, Verify: 1, maxJobRuns: 1, run: func(ctx context.Context, c *config.Config) (*engine.Result, error) {
				if ran.Add(1) > after {
					panic("boom")
				}
				return stub(ctx, c)
			}}
			if name == "queue" {
				_, o.Queue = served(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			sum, err := Run(ctx, p, o)
			var bug *panics.Error
			if !errors.As(err, &bug) || bug.Value != "boom" || !strings.Contains(err.Error(), "TestPanicInRun") {
				t.Fatalf("%v, want the panic with its stack", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "report.json")); err != nil || sum.Done != int(after) {
				t.Errorf("%d runs are stored, want %d; %v", sum.Done, after, err)
			}
		})
	}
}

// A worker that cannot store the files of a sweep returns its jobs to the queue.
func TestWorkerWithFullDisk(t *testing.T) {
	dir := t.TempDir()
	p := newTextPlan(t, filepath.Join(dir, "text.txt"), 6)
	s, q := served(t)
	noFolder := filepath.Join(dir, "file")
	noError(t, os.WriteFile(noFolder, nil, 0o644))
	said := make(chan string, 1)
	var once sync.Once
	work(t, s, WorkerOptions{Name: "full", Cache: noFolder, OnNotice: func(text string) {
		once.Do(func() {
			said <- text
			work(t, s, WorkerOptions{Name: "good", Cache: dir})
		})
	}})
	runSweep(t, p, Options{Queue: q, maxJobRuns: 2, Verify: 1}) // results of a worker with files in its cache equal those here
	if text := <-said; !strings.Contains(text, "cannot be run here") {
		t.Errorf("notices %q", text)
	}
}

// Results that exceed the server's maximum message are sent in parts. A single result that does so
// ends the sweep with an error.
func TestResultsTooLargeForMessage(t *testing.T) {
	p := newTestPlan(t, small)
	for _, c := range []struct {
		bytes int
		fits  bool
	}{{20_000, true}, {60_000, false}} {
		ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
			MaxPayload: 64 << 10, JetStreamMaxStore: 16 << 30})
		if err != nil {
			t.Fatal(err)
		}
		go ns.Start()
		defer ns.Shutdown()
		if !ns.ReadyForConnections(10 * time.Second) {
			t.Fatal("no server")
		}
		q := opened(t, QueueOptions{inProcess: ns})
		worker := newExecutor(p, "w", clock)
		worker.run = func(ctx context.Context, k *config.Config) (*engine.Result, error) {
			r, _ := stub(ctx, k)
			noise := make([]byte, c.bytes)
			// A run that is delivered twice must have the same result each time.
			_, _ = rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, k.Seed, k.Settings()))).Read(noise)
			r.Item = hex.EncodeToString(noise) // cannot be compressed to less than the noise
			return r, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		there := opened(t, QueueOptions{inProcess: ns})
		go func() { _ = Work(ctx, there, WorkerOptions{Clock: clock, Version: "v1", local: worker}) }()
		sum, err := Run(t.Context(), p, Options{Clock: clock, Queue: q, maxJobRuns: 8})
		switch {
		case c.fits && (err != nil || sum.Done != p.Runs()):
			t.Errorf("%d runs: %v", sum.Done, err)
		case !c.fits && (err == nil || !strings.Contains(err.Error(), "larger than the server's maximum message")):
			t.Errorf("a result that fits no message: %v", err)
		}
	}
}

// A port in use is reported at once, as a QueueError.
func TestPortTaken(t *testing.T) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	var bad *QueueError
	if _, err := Serve(l.Addr().String(), "secret", nil); !errors.As(err, &bad) {
		t.Errorf("a port that is taken: %v", err)
	}
}

// The reports are written while the sweep runs, and all three have the same results.
func TestReportsWhileRunning(t *testing.T) {
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	sum := newSummary(p)
	r, _ := stub(t.Context(), p.Run(0).Config)
	sum.add(Outcome{0, r})
	noError(t, store.writeReports(sum))
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil || !strings.Contains(string(data), `"payload_kbps"`) {
		t.Errorf("report.json has no figures of the run that was there: %v\n%.300s", err, data)
	}
}

// Watch may be read at any moment, and at the end agrees with the summary.
func TestWatch(t *testing.T) {
	p := newTestPlan(t, small)
	w := NewWatch(p)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			w.State()
			w.Means(0)
			w.Values(3, 0)
			w.Ratio(3, 0, 0)
			select {
			case <-stop:
				return
			default:
				time.Sleep(time.Millisecond)
			}
		}
	}()
	sum := runSweep(t, p, Options{Jobs: 2, OnResult: w.AddResult, OnProgress: w.SetProgress, OnNotice: w.AddNotice})
	w.SetEnded(string(sum.Reason))
	close(stop)
	<-stopped
	means, seeds := w.Means(0)
	for i, point := range sum.Points {
		want := point.Figures[w.Names[0]]
		if math.Abs(means[i].Mean-want.Mean) > 1e-9 || seeds[i] != point.Seeds || i > 0 && w.Ratio(i, 0, 0).Mean != point.Ratio[w.Names[0]].Mean {
			t.Errorf("point %d: %g of %d seeds, the summary has %g of %d", i, means[i].Mean, seeds[i], want.Mean, point.Seeds)
		}
		at := []int{i / 3, i % 3}
		if w.PointIndex(at) != i || w.Axes[1].Values[at[1]] != point.Set["down.loss"] || w.Axes[0].Values[at[0]] != point.Set["encoder.name"] {
			t.Errorf("point %d is at another place of the grid", i)
		}
	}
	if s := w.State(); s.Runs != p.Runs() || s.Ended != "finished" || s.First != 0 {
		t.Errorf("%+v", s)
	}
}
