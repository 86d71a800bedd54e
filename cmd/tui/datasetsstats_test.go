package main

import (
	"slices"
	"strings"
	"testing"
)

// The keys of `datasets stats --json`.
const statsKeys = `datasets.0.spec datasets.0.frames datasets.0.cubes datasets.0.changed_cubes.mean
	datasets.0.changed_cubes.active_mean datasets.0.changed_cubes.active_share datasets.0.unchanged.position
	datasets.0.unchanged.orientation datasets.0.unchanged.interacting datasets.0.interacting
	datasets.0.same_largest datasets.0.delta.0.field datasets.0.delta.0.p50 datasets.0.delta.0.p90
	datasets.0.delta.0.p99 datasets.0.run_frames.mean datasets.0.run_cubes.mean
	datasets.0.encoders.0.encoder datasets.0.encoders.0.bytes_per_packet datasets.0.encoders.0.bits_per_changed_cube`

// TestStatsAgreeWithWalkoff checks that the sizes in tui datasets stats are those of tui walkoff,
// and that the number of changed cubes agrees with them.
func TestStatsAgreeWithWalkoff(t *testing.T) {
	const frames = "90"
	o := tui("datasets stats world:roll --seed 3 --frames", frames, "--against", "demo", "--json")
	if o.code != exitDone || o.stderr != "" {
		t.Fatalf("exit %d, stderr %q", o.code, o.stderr)
	}
	var keys any
	document(t, o.stdout, &keys)
	for _, key := range strings.Fields(statsKeys) {
		if !lookUp(keys, key) {
			t.Errorf("no %s", key)
		}
	}
	var doc struct{ Datasets []snapshotStats }
	document(t, o.stdout, &doc)
	if len(doc.Datasets) != 2 {
		t.Fatalf("%d data sets, expected 2", len(doc.Datasets))
	}
	for i, spec := range []string{"world:roll", "demo"} {
		d := doc.Datasets[i]
		w := tui("walkoff --data", spec, "--seed", "3", "--frames", frames, "--encoder", "relative-orientation", "--encoder", "adaptive", "--json")
		var board struct {
			Dataset struct{ Frames int }
			Results []struct {
				Encoder  string
				PerPkt   float64 `json:"bytes_per_packet"`
				Bits     float64 `json:"bits_per_changed_cube"`
				Changed  float64 `json:"changed_cubes_per_packet"`
				Lossless bool
			}
		}
		document(t, w.stdout, &board)
		if d.Spec != spec || d.Frames != board.Dataset.Frames-6 || len(d.Encoders) != len(board.Results) {
			t.Errorf("%s: %+v, expected the result of the walk-off: %+v", spec, d, board)
			continue
		}
		for k, r := range board.Results {
			if want := (encoderCost{r.Encoder, r.PerPkt, r.Bits}); d.Encoders[k] != want {
				t.Errorf("%s: %+v, the walk-off has %+v", spec, d.Encoders[k], want)
			}
			if diff := d.Changed.Mean - r.Changed; diff > 0.001 || diff < -0.001 {
				t.Errorf("%s: %v cubes change, the walk-off has %v", spec, d.Changed.Mean, r.Changed)
			}
		}
	}
}

// TestStatsTable checks that the table has a row per statistic and a column per source.
func TestStatsTable(t *testing.T) {
	o := tui("datasets stats demo --against world:hover --frames 20 --encoder lossless-none --quiet")
	checkErr(t, o, exitUsage)
	o = tui("datasets stats demo --against world:hover --frames 20 --encoder quantized --quiet")
	if o.code != exitDone || o.stderr != "" {
		t.Fatalf("exit %d, stderr %q", o.code, o.stderr)
	}
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if heads := strings.Fields(lines[0]); !slices.Equal(heads, []string{"demo", "world:hover"}) {
		t.Errorf("heads %q", heads)
	}
	if first := strings.Fields(lines[1]); !slices.Equal(first, []string{"frames", "compared", "14", "14"}) {
		t.Errorf("first row %q", first)
	}
	for _, want := range []string{"unchanged positions", "difference in c", "bits per changed cube, quantized"} {
		if strings.Count(o.stdout, want) != 1 {
			t.Errorf("no row %q in\n%s", want, o.stdout)
		}
	}
}

func TestStatsUsage(t *testing.T) {
	for _, c := range []struct {
		args     []string
		wantText string
	}{
		{nil, "expects SPEC"},
		{[]string{"demo", "world"}, "world"},
		{[]string{"dmeo"}, "did you mean demo?"},
		{[]string{"world:hoover", "--frames", "9"}, "did you mean hover?"},
		{[]string{"demo", "--against", "dmeo", "--frames", "9"}, "did you mean demo?"},
		{[]string{"demo", "--frames", "3"}, "--frames 3"},
	} {
		o := tui("datasets stats", c.args...)
		if o.code != exitUsage || !strings.Contains(o.stderr, c.wantText) || o.stdout != "" {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; expected %d and %q", c.args, o.code, o.stdout, o.stderr, exitUsage, c.wantText)
		}
	}
}
