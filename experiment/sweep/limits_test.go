//go:build unix

package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"wirelab/experiment/engine"
)

// ReadResults returns the runs of a sweep in their order, and an error for a file with results that are not of
// this sweep.
func TestReadResults(t *testing.T) {
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	if _, err := ReadResults(dir); err == nil || !strings.Contains(err.Error(), "contains no results yet") {
		t.Errorf("before the first run: %v", err)
	}
	want := make([]string, p.Runs())
	runSweep(t, p, Options{Jobs: 2, Store: store, maxJobRuns: 3, OnResult: func(o Outcome) { want[o.Run] = o.Result.Digest }})
	r, err := ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range r.Runs {
		got = append(got, run.Digest)
	}
	if !slices.Equal(got, want) || r.Planned != p.Runs() || !r.Sweep {
		t.Errorf("%d of %d runs planned, digests %.8q, want %.8q", len(got), r.Planned, got, want)
	}
	good := jobResult{Plan: p.ID, Version: "v1", Runs: []Outcome{{Run: 0, Result: r.Runs[0]}}}
	with := func(change func(*jobResult)) jobResult {
		changed := good
		changed.Runs = slices.Clone(good.Runs)
		change(&changed)
		return changed
	}
	for problem, result := range map[string]jobResult{
		"": good,
		"contains the results of another sweep: plan":       with(func(r *jobResult) { r.Plan = "x" }),
		"contains the results of another sweep: version":    with(func(r *jobResult) { r.Version = "v0" }),
		"contains a run that is not of this sweep: -1":      with(func(r *jobResult) { r.Runs[0].Run = -1 }),
		"contains a run that is not of this sweep: too far": with(func(r *jobResult) { r.Runs[0].Run = p.Runs() }),
		"contains a run that is not of this sweep: nil":     with(func(r *jobResult) { r.Runs[0].Result = nil }),
		"contains a run that is not of this sweep: digest":  with(func(r *jobResult) { r.Runs[0].Result = &engine.Result{} }),
	} {
		data, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, resultsName, "other.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = ReadResults(dir)
		want, _, _ := strings.Cut(problem, ":")
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", problem, err)
		}
	}
}

// A job that ends without a complete run does not change the expected duration of a run.
func TestJobWithoutRuns(t *testing.T) {
	var now time.Duration
	c := newScheduler(newTestPlan(t, medium), func() time.Duration { return now })
	c.setWorkers(1)
	for _, runs := range []int{1, 0} {
		j, _ := c.assignJob()
		now += time.Second
		c.endJob(j.Key, 1, runs)
		if c.perRun != 1 {
			t.Errorf("after a job of 1 s with %d runs: %g s a run, want 1", runs, c.perRun)
		}
	}
}

// Space in the cache is made by deleting the oldest files of the cache, as few as possible, and no other files.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	c, err := openCache(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string, size int64, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1e9, 0).Add(-age)
		if err := os.Truncate(path, size); err != nil { // a sparse file
			t.Skip(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const third = maxCacheBytes / 3
	for i := range 3 {
		create(strings.Repeat(fmt.Sprint(i), 64), third, time.Duration(i)*time.Hour)
	}
	create("a-file-of-the-user", 10, time.Hour*24)
	for _, x := range []struct{ needed, kept int64 }{{maxCacheBytes - 3*third, 3}, {maxCacheBytes - 3*third + 1, 2}, {third, 2}, {2 * third, 1}} {
		if err := c.makeRoom(x.needed); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != int(x.kept)+1 || entries[0].Name()[0] != '0' {
			t.Errorf("%d bytes needed: %v, %v; want the %d newest files", x.needed, entries, err, x.kept)
		}
	}
}

// A worker downloads plans of at most maxPlanBytes.
func TestPlanSize(t *testing.T) {
	_, q := served(t)
	store, err := q.fileStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{q: q, opt: WorkerOptions{Clock: clock, Version: "v1", Cache: t.TempDir(), OnNotice: func(string) {}}}
	for size, refused := range map[int]bool{maxPlanBytes: false, maxPlanBytes + 1: true} {
		id := fmt.Sprint(size)
		if _, err := store.PutBytes(t.Context(), "plan-"+id, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		_, err := w.fetchPlan(t.Context(), id)
		if err == nil || strings.Contains(err.Error(), "expected at most") != refused {
			t.Errorf("a damaged plan of %d bytes: %v", size, err)
		}
	}
}

// However many workers send a hello, the set stores at most maxWorkers. A hello of a known worker updates its
// number of jobs and keeps its place.
func TestWorkersAreBounded(t *testing.T) {
	p := newTestPlan(t, small)
	c := &workerSet{s: newActiveSweep(p, Options{Clock: clock}), byName: map[string]*workerInfo{}}
	say := func(name string, jobs int) {
		data, _ := json.Marshal(hello{Name: name, Version: p.Version, Jobs: jobs})
		c.handleHello(&nats.Msg{Data: data})
	}
	say("first", 2)
	first := c.byName["first"]
	for _, x := range []struct{ jobs, want int }{{3, 3}, {0, 3}, {4097, 3}, {4096, 4096}, {1, 1}} {
		if say("first", x.jobs); c.byName["first"] != first || c.parallelJobs() != x.want {
			t.Errorf("a hello with %d jobs: %d jobs, want %d", x.jobs, c.parallelJobs(), x.want)
		}
	}
	for i := len(c.byName); i < maxWorkers-1; i++ {
		c.byName[fmt.Sprint(i)] = &workerInfo{}
	}
	for i := range 3 {
		say(fmt.Sprint("late-", i), 1)
	}
	if len(c.byName) != maxWorkers || c.byName["late-0"] == nil {
		t.Errorf("%d workers, want the first %d", len(c.byName), maxWorkers)
	}
}

// OnJobDone is called for each job whose results were sent.
func TestOnJobDone(t *testing.T) {
	t.Parallel()
	s, q := served(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := newTestPlan(t, small)
	there := opened(t, QueueOptions{URL: "nats://secret@" + s.Addr()})
	done := make(chan int, p.Runs())
	go func() {
		_ = Work(ctx, there, WorkerOptions{Clock: clock, Version: "v1", Cache: t.TempDir(), OnJobDone: func(runs int) { done <- runs }})
	}()
	runSweep(t, p, Options{Queue: q, maxJobRuns: 4})
	for sum := 0; sum < p.Runs(); {
		select {
		case runs := <-done:
			sum += runs
		case <-time.After(time.Minute):
			t.Fatalf("OnJobDone was called for %d of %d runs", sum, p.Runs())
		}
	}
}
