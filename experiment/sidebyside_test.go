package experiment

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// Two shadows with the same encoder have different names in every file of a report. Cells before a
// shadow joined are empty, and its bandwidth in the comparison is the mean over the time in which
// all lanes ran.
func TestShadowLabelsInReport(t *testing.T) {
	dir := t.TempDir()
	c := quickConfig(t)
	c.Data.Source, c.Data.Cubes = labtest.WriteRecording(t, 60, 400), 60 // longer than the run
	c.Encoder = config.Encoder{Name: "relative-orientation"}
	tuned := func(bits int) config.Encoder {
		return config.Encoder{Name: "relative-orientation", Params: map[string]any{"orientation_small": bits}}
	}
	c.Shadows, c.Duration = []config.Encoder{tuned(3)}, 6*time.Second
	c.At = []config.StampedChange{config.Stamp(1550*time.Millisecond, config.NewChange("shadow", []config.Encoder{tuned(4)}))}
	r := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	rows, err := csv.NewReader(strings.NewReader(read("shadows.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"relative-orientation", "relative-orientation orientation_small=3", "relative-orientation orientation_small=4"}
	for i, name := range names {
		lane := r.Comparison.Lanes[i]
		head := "payload_kbps [" + name + "]"
		if i > 0 && (r.Shadows[i-1].Encoder != "relative-orientation" || r.Shadows[i-1].Label != name) {
			t.Errorf("shadow %q of %q", r.Shadows[i-1].Label, r.Shadows[i-1].Encoder)
		}
		col := slices.Index(rows[0], head)
		if col < 0 || lane.Label != name {
			t.Fatalf("lane %q, columns %q", lane.Label, rows[0])
		}
		sum, n := 0.0, 0.0
		for _, row := range rows[1:] {
			at, _ := strconv.ParseFloat(row[0], 64)
			kbps, err := strconv.ParseFloat(row[col], 64)
			if there := i < 2 || at > 1.55; there != (err == nil) {
				t.Errorf("%s at %v: %q", name, at, row[col])
			}
			if at-0.1 >= r.Comparison.FromS-1e-9 {
				sum, n = sum+kbps, n+1
			}
		}
		if got, _ := lane.PayloadKbps.Value(); r.Comparison.FromS < 2.55 || r.Comparison.FromS > 2.56 || got-sum/n > 0.01 || sum/n-got > 0.01 {
			t.Errorf("%s: %v kbps from %v s, the samples have %v", name, got, r.Comparison.FromS, sum/n)
		}
		if line := fmt.Sprintf("| %s | %s s | %s |", name, []string{"0.0", "0.0", "1.6"}[i], lane.PayloadKbps.Text(1)); !strings.Contains(
			read("report.md"), line) {
			t.Errorf("report.md lacks %s", line)
		}
	}
}
