package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/internal/labtest"
)

// After a swap, every report names the lane by its letter and each row by its encoder. The stretches
// between swaps add up to the totals. A shadow that leaves keeps its totals, its samples and its digest
// in every report. Shadows with the same encoder have different names.
func TestSwapsAndDepartures(t *testing.T) {
	dir := t.TempDir()
	c := labtest.QuickConfig(t)
	c.Data.Source, c.Data.Cubes = labtest.WriteRecording(t, 60, 400), 60
	c.Encoder, c.Duration = config.Encoder{Name: "raw"}, 6*time.Second
	tuned := func(bits int) config.Encoder {
		return config.Encoder{Name: "relative-orientation", Params: map[string]any{"orientation_small": bits}}
	}
	c.Shadows = []config.Encoder{{Name: "adaptive"}, tuned(3)}
	c.At = []config.StampedChange{
		config.Stamp(2060*time.Millisecond, config.NewChange("encoder.name", "rotor")),
		config.Stamp(3*time.Second, config.NewChange("shadow_off", "adaptive", "down.loss", "20%")),
		config.Stamp(4*time.Second, config.NewChange("shadow", []config.Encoder{tuned(4)})),
	}
	r := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	var lanes []string
	for _, s := range r.Shadows {
		lanes = append(lanes, fmt.Sprintln(s.Lane, s.Label, s.FromS, s.ToS, s.Totals.Sent))
	}
	want := []string{"C relative-orientation orientation_small=3 0 0 360\n", "D relative-orientation orientation_small=4 4 0 120\n", "B adaptive 0 3 180\n"}
	if r.Lane != "A" || !slices.Equal(lanes, want) {
		t.Errorf("first lane %s, shadows %q, want %q", r.Lane, lanes, want)
	}
	names := strings.Join(meters.StretchNames(r.Stretches), "; ")
	if names != "raw over loss 5%; rotor over loss 5%; rotor over down loss 20%, up loss 5%" || r.Encoders() != "raw, rotor" {
		t.Fatalf("stretches %s of %s", names, r.Encoders())
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
	table := readCSV(t, filepath.Join(dir, "shadows.csv"))
	column := func(name string) (cells []string) {
		for _, row := range table.rows {
			cells = append(cells, table.text(t, row, name))
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
		"report.md":   {"| raw over loss 5% | 0.0 | 2.", " adaptive until 3 s |", "| A raw, rotor, whole run |", "| rotor over down loss 20%, up loss 5% | 3.0 |"},
		"report.html": {"orientation_small=4", "raw, rotor", "Between changes"},
		"samples.csv": {",raw+rotor,"},
		"report.json": {`"to_s": 3`, `"stretches"`},
	} {
		for _, part := range parts {
			if !strings.Contains(readFile(t, dir, name), part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
	if digests := checkReplay(t, dir); len(strings.Fields(digests[0])) != 4 {
		t.Errorf("replay: %q", digests)
	}
}
