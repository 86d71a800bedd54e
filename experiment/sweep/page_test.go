package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment/page"
)

// The report.html of a sweep equals the page made from its report.json, and has every point with its
// interval.
func TestPageOfASweep(t *testing.T) {
	p := newTestPlan(t, small)
	dir := filepath.Join(t.TempDir(), "out")
	store, err := NewStore(nil, dir, p, false)
	if err != nil {
		t.Fatal(err)
	}
	runSweep(t, p, Options{Store: store})
	saved, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := page.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	if err := l.Write(&made); err != nil {
		t.Fatal(err)
	}
	if made.String() != string(saved) {
		t.Error("the page made from report.json is another than the one saved with it")
	}
	for _, what := range []string{"6 points, 30 runs: from ", "at-rest", "±", "Heat maps", "nothing decoded wrong"} {
		if !strings.Contains(made.String(), what) {
			t.Errorf("the page does not contain %q", what)
		}
	}
}
