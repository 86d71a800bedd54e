package patch

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"wirelab/internal/testkit"
)

const (
	applyLimit = 10 << 20
	makeLimit  = 64<<20 + 32<<20 // besides the index, and the index
)

// TestMemory checks that making and applying patches of files larger than the memory limits stays below the
// limits. The parts of the file have moved, so all of the old file is searched.
func TestMemory(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes files of 24 MB; set WIRELAB_THOROUGH=1, without the race detector")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	old := randomBytes(24<<20, 1)
	new := append(edit(old[12<<20:12<<20+600_000], 2), old...)
	copy(new[18<<20:], edit(text(100_000), 3))
	for name, b := range map[string][]byte{"old": old, "new": new} {
		if err := os.WriteFile(path(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old, new = nil, nil
	var err error
	made := measurePeak(func() { _, err = MakeFile(path("old"), path("new"), path("patch"), Options{}) })
	if err != nil {
		t.Fatal(err)
	}
	applied := measurePeak(func() { _, err = ApplyFile(nil, path("old"), path("patch"), path("out"), nil) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %.1f MB, applied in %.1f MB", float64(made)/1e6, float64(applied)/1e6)
	if made > makeLimit || applied > applyLimit {
		t.Errorf("%d bytes of memory to make and %d to apply, expected at most %d and %d", made, applied, makeLimit, applyLimit)
	}
}

// measurePeak returns the maximum growth of heap in use and stacks during a job.
func measurePeak(job func()) (peak int64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"}}
	read := func() (sum int64) {
		metrics.Read(samples)
		for _, s := range samples {
			sum += int64(s.Value.Uint64())
		}
		return sum
	}
	runtime.GC()
	before := read()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak = max(peak, read()-before)
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	job()
	close(done)
	<-stopped
	return max(peak, read()-before)
}
