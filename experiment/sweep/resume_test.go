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
	noError(t, store.Save(p, d))
	noError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644))
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
	noError(t, os.RemoveAll(results))
	noError(t, os.WriteFile(results, nil, 0o644))
	var wrong *config.Error
	if _, _, err := OpenStore(nil, dir, "v1"); !errors.As(err, &wrong) || wrong.File != results {
		t.Error(err)
	}
}
