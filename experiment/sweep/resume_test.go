package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"wirelab/experiment/config"
)

// A sweep is resumed after a job failed halfway, with other files in its folder, and from a working
// directory inside it.
func TestResumeAfterFailedJob(t *testing.T) {
	p := newTestPlan(t, small)
	want := runSweep(t, p, Options{Jobs: 2}).Digest
	dir, store := newTestStore(t, p)
	d := newExecutor(p, "w", clock).runBatch(t.Context(), []int{0, 1})
	d.Error = "the disk was full"
	if err := store.Save(p, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	store.Close()
	t.Chdir(dir)
	store, p, err := OpenStore(nil, ".", "v1")
	if err != nil {
		t.Fatal(err)
	}
	if got := runSweep(t, p, Options{Jobs: 2, Store: store}).Digest; got != want {
		t.Errorf("digest %.12s, in one go %.12s", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
}

// A file in the place of the folder of results is an error of the configuration, which names it.
func TestResumeWithoutResultsFolder(t *testing.T) {
	dir, store := newTestStore(t, newTestPlan(t, small))
	store.Close()
	results := filepath.Join(dir, resultsName)
	if err := os.RemoveAll(results); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(results, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var wrong *config.Error
	if _, _, err := OpenStore(nil, dir, "v1"); !errors.As(err, &wrong) || wrong.File != results {
		t.Error(err)
	}
}

// The results loaded at the start of a resumed sweep are reported as one step of progress.
func TestLoadedAtOnce(t *testing.T) {
	p := newTestPlan(t, small)
	_, store := newTestStore(t, p)
	runSweep(t, p, Options{Jobs: 2, Store: store, maxJobRuns: 3})
	first := -1
	runSweep(t, p, Options{Jobs: 1, Store: store, OnProgress: func(x Progress) {
		if first < 0 {
			first = x.Runs
		}
	}})
	if first != p.Runs() {
		t.Errorf("the first progress is %d runs of %d", first, p.Runs())
	}
}
