//go:build unix

package sweep

import (
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

// ReadResults returns the runs of a sweep in their order, and an error for a file with results that are
// not of this sweep.
func TestReadResults(t *testing.T) {
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	if _, err := ReadResults(dir); err == nil || !strings.Contains(err.Error(), "contains no results yet") {
		t.Errorf("before the first run: %v", err)
	}
	want := make([]string, p.Runs())
	runSweep(t, p, Options{Jobs: 2, Store: store, maxJobRuns: 3, OnResult: func(o Outcome) { want[o.Run] = o.Result.Digest }})
	r := must(ReadResults(dir))
	var got []string
	for _, run := range r.Runs {
		got = append(got, run.Digest)
	}
	if !slices.Equal(got, want) || r.Planned != p.Runs() || !r.Sweep {
		t.Errorf("%d of %d runs planned, digests %.8q, want %.8q", len(got), r.Planned, got, want)
	}
	good := batch{Runs: []Outcome{{Run: 0, Result: r.Runs[0]}}}
	run := func(n int, r *engine.Result) batch { return batch{Runs: []Outcome{{n, r}}} }
	for problem, x := range map[string]struct {
		batch
		plan, version string
	}{
		"": {good, p.ID, "v1"},
		"contains the results of another sweep: plan":       {good, "x", "v1"},
		"contains the results of another sweep: version":    {good, p.ID, "v0"},
		"contains a run that is not of this sweep: -1":      {run(-1, r.Runs[0]), p.ID, "v1"},
		"contains a run that is not of this sweep: too far": {run(p.Runs(), r.Runs[0]), p.ID, "v1"},
		"contains a run that is not of this sweep: nil":     {run(0, nil), p.ID, "v1"},
		"contains a run that is not of this sweep: digest":  {run(0, &engine.Result{}), p.ID, "v1"},
	} {
		data := must(x.seal(x.plan, x.version))
		noError(t, os.WriteFile(filepath.Join(dir, resultsName, "other.json"), data, 0o644))
		_, err := ReadResults(dir)
		want, _, _ := strings.Cut(problem, ":")
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", problem, err)
		}
	}
}

// Space in the cache is made by deleting the oldest files of the cache, as few as possible, and no other
// files.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := must(openCache(nil, dir))
	create := func(name string, size int64, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		noError(t, os.WriteFile(path, nil, 0o600))
		at := time.Unix(1e9, 0).Add(-age)
		if err := os.Truncate(path, size); err != nil { // a sparse file
			t.Skip(err)
		}
		noError(t, os.Chtimes(path, at, at))
	}
	const third = maxCacheBytes / 3
	for i := range 3 {
		create(strings.Repeat(fmt.Sprint(i), 64), third, time.Duration(i)*time.Hour)
	}
	create("a-file-of-the-user", 10, time.Hour*24)
	for _, x := range []struct{ needed, kept int64 }{{maxCacheBytes - 3*third, 3}, {maxCacheBytes - 3*third + 1, 2}, {third, 2}, {2 * third, 1}} {
		noError(t, c.makeRoom(x.needed))
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != int(x.kept)+1 || entries[0].Name()[0] != '0' {
			t.Errorf("%d bytes needed: %v, %v; want the %d newest files", x.needed, entries, err, x.kept)
		}
	}
}

// A worker downloads plans of at most maxPlanBytes.
func TestPlanSize(t *testing.T) {
	_, q := served(t)
	store := must(q.fileStore(t.Context()))
	w := &worker{q: q, opt: WorkerOptions{Clock: clock, Version: "v1", Cache: t.TempDir(), OnNotice: func(string) {}}}
	for size, refused := range map[int]bool{maxPlanBytes: false, maxPlanBytes + 1: true} {
		id := fmt.Sprint(size)
		must(store.PutBytes(t.Context(), "plan-"+id, make([]byte, size)))
		_, err := w.fetchPlan(t.Context(), id)
		if err == nil || strings.Contains(err.Error(), "expected at most") != refused {
			t.Errorf("a damaged plan of %d bytes: %v", size, err)
		}
	}
}

// However many workers send a hello, the set stores at most maxWorkers. Each notice is reported once,
// and at most maxNotes are.
func TestWorkersAreBounded(t *testing.T) {
	p := newTestPlan(t, small)
	notices := 0
	c := &workerSet{s: newActiveSweep(p, Options{Clock: clock, OnNotice: func(string) { notices++ }}), missed: map[string]int{}, notices: map[string]bool{}}
	for version, names := range map[string]int{p.Version: maxWorkers + 100, "v0": maxNotes + 100} {
		for i := range names {
			data := must(json.Marshal(hello{Name: fmt.Sprint("worker-", i%(names-50)), Version: version}))
			c.handleHello(&nats.Msg{Data: data})
		}
	}
	if len(c.missed) != maxWorkers || notices != maxNotes || c.s.progress.Workers != maxWorkers {
		t.Errorf("%d workers, want %d; %d notices, want %d", len(c.missed), maxWorkers, notices, maxNotes)
	}
	for range maxMissedChecks + 1 {
		c.markAlive("worker-1")
		c.removeSilent()
	}
	if len(c.missed) != 1 || c.s.progress.Workers != 1 {
		t.Errorf("%d workers, want only the one that is alive", len(c.missed))
	}
}
