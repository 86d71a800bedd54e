package experiment

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// Two shadows with the same encoder have different names in every file of a report. Cells before a
// shadow joined are empty, and its bandwidth in the comparison is the mean over the time in which
// all lanes ran.
func TestShadowLabelsInReport(t *testing.T) {
	dir := t.TempDir()
	c := labtest.QuickConfig(t)
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
		head := "payload_kbps [" + r.Comparison.Lanes[i].Lane + "]"
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
		start := fmt.Sprintf("| %s %s", "ABC"[i:i+1], name)
		for _, line := range []string{start + " | " + lane.PayloadKbps.Text(1) + " |", start + []string{"", "", " from 1.55 s"}[i] + " | "} {
			if !strings.Contains(read("report.md"), line) {
				t.Errorf("report.md lacks %s", line)
			}
		}
	}
}

// After a swap, every report names the lane by its letter and each row by its encoder. The stretches
// between swaps add up to the totals. A shadow that leaves keeps its totals, its samples and its digest
// in every report.
func TestSwapsAndDepartures(t *testing.T) {
	dir := t.TempDir()
	c := labtest.QuickConfig(t)
	c.Data.Source, c.Data.Cubes = labtest.WriteRecording(t, 60, 400), 60
	c.Encoder, c.Duration = config.Encoder{Name: "raw"}, 6*time.Second
	c.Shadows = []config.Encoder{{Name: "adaptive"}, {Name: "quantized"}}
	c.At = []config.StampedChange{
		config.Stamp(2060*time.Millisecond, config.NewChange("encoder.name", "rotor")),
		config.Stamp(3*time.Second, config.NewChange("shadow_off", "adaptive", "down.loss", "20%")),
		config.Stamp(4*time.Second, config.NewChange("shadow", "adaptive")),
	}
	r := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var lanes []string
	for _, s := range r.Shadows {
		lanes = append(lanes, fmt.Sprint(s.Lane, s.Encoder, s.FromS, s.ToS, s.Totals.Sent))
	}
	if got, want := fmt.Sprint(lanes), "[Cquantized0 0 360 Dadaptive4 0 120 Badaptive0 3 180]"; r.Lane != "A" || got != want {
		t.Errorf("first lane %s, shadows %s, want %s", r.Lane, got, want)
	}
	if len(r.Stretches) != 2 || r.Stretches[0].Encoder != "raw" || r.Stretches[1].Encoder != "rotor" || r.Encoders() != "raw, rotor" {
		t.Fatalf("stretches %+v", r.Stretches)
	}
	var sum engine.Result // of the stretches
	bits := 0.0
	for _, s := range r.Stretches {
		sum.Totals.Sent, sum.Totals.Decoded, sum.Totals.Lost = sum.Totals.Sent+s.Sent, sum.Totals.Decoded+s.Decoded, sum.Totals.Lost+s.Lost
		bits += s.PayloadKbps * (s.ToS - s.FromS)
	}
	if x := &r.Totals; x.Sent != sum.Totals.Sent || x.Decoded != sum.Totals.Decoded || x.Lost != sum.Totals.Lost || x.Lost == 0 ||
		math.Abs(bits-x.PayloadKbps*r.DurationS) > 1e-6*bits {
		t.Errorf("the stretches have %+v and %g kbit, the run %+v", sum.Totals.Counts, bits, x)
	}
	// The cells of a lane in shadows.csv add up to its totals: also those of the shadow that left.
	rows, err := csv.NewReader(strings.NewReader(read("shadows.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) (cells []string) {
		col := slices.Index(rows[0], name)
		if col < 0 {
			t.Fatalf("no column %q in %q", name, rows[0])
		}
		for _, row := range rows[1:] {
			cells = append(cells, row[col])
		}
		return cells
	}
	for _, x := range []struct {
		lane    string
		seconds float64 // how long the lane ran
		kbps    float64
	}{{"A", 6, r.Totals.PayloadKbps}, {"B", 3, r.Shadows[2].Totals.PayloadKbps}, {"C", 6, r.Shadows[0].Totals.PayloadKbps},
		{"D", 2, r.Shadows[1].Totals.PayloadKbps}} {
		sum := 0.0
		for _, cell := range column("payload_kbps [" + x.lane + "]") {
			kbps, _ := strconv.ParseFloat(cell, 64) // 0 for an empty cell
			sum += kbps / 10
		}
		if want := x.kbps * x.seconds; math.Abs(sum-want) > 1e-4*want {
			t.Errorf("lane %s: %g kbit in shadows.csv, %g in the totals", x.lane, sum, want)
		}
	}
	if got := slices.Compact(column("encoder [A]")); !slices.Equal(got, []string{"raw", "raw+rotor", "rotor"}) {
		t.Errorf("encoders of lane A: %q", got)
	}
	for name, parts := range map[string][]string{
		"report.md":   {"| raw | 0.0 | 2.", " adaptive until 3 s |", "| A raw, rotor |", "| rotor | 2."},
		"report.html": {"adaptive", "raw, rotor", "Between swaps"},
		"samples.csv": {",raw+rotor,"},
		"report.json": {`"to_s": 3`, `"stretches"`},
	} {
		for _, part := range parts {
			if !strings.Contains(read(name), part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
	again, err := Replay(t.Context(), dir, RunOptions{})
	if err != nil || !again.Same || len(strings.Fields(again.Runs[0].Want)) != 4 {
		t.Errorf("replay: %+v, %v", again, err)
	}
}
