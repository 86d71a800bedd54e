package main

import (
	"math"
	"os"
	"testing"
)

// The scripted world is as hard to send as the recordings in which somebody does
// the same: alpha, bravo and charlie. What encoders spend on a changed cube is
// within a tenth, and so is nearly everything that it follows from.
func TestWorldIsLikeTheRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 47 s of the world and reads three recordings: not in -short")
	}
	const folder = "../../../shared/data/cubes/"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recordings at %s: they are not part of the project", folder)
	}
	args := []string{"datasets", "stats", "world:random", "--seed", "1", "--json", "--quiet"}
	for _, name := range []string{"alpha", "bravo", "charlie"} {
		args = append(args, "--against", folder+name+".bin.zst")
	}
	o := tui(args...)
	if o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	var doc struct{ Datasets []likeness }
	document(t, o.stdout, &doc)
	world, recordings := doc.Datasets[0], doc.Datasets[1:]
	compare := func(what string, most float64, of func(l *likeness) float64) {
		t.Helper()
		mean := 0.0
		for i := range recordings {
			mean += of(&recordings[i]) / float64(len(recordings))
		}
		got := of(&world)
		t.Logf("%-40s world %8.3f, recordings %8.3f", what, got, mean)
		if math.Abs(got-mean) > most*mean {
			t.Errorf("%s: %.3f, expected %.3f within %.0f %%", what, got, mean, 100*most)
		}
	}
	for i, e := range world.Encoders {
		compare("bits per changed cube, "+e.Encoder, 0.10, func(l *likeness) float64 { return l.Encoders[i].BitsPerChangedCube })
	}
	compare("changed cubes per active frame", 0.20, func(l *likeness) float64 { return l.Changed.ActiveMean })
	compare("unchanged positions", 0.01, func(l *likeness) float64 { return l.Unchanged.Position })
	compare("unchanged orientations", 0.01, func(l *likeness) float64 { return l.Unchanged.Orientation })
	compare("unchanged interacting", 0.002, func(l *likeness) float64 { return l.Unchanged.Interacting })
	compare("same largest", 0.03, func(l *likeness) float64 { return l.SameLargest })
	compare("frames a cube changes for", 0.15, func(l *likeness) float64 { return l.RunFrames.Mean })
	compare("cubes changed in a row", 0.10, func(l *likeness) float64 { return l.RunCubes.Mean })
	for i, d := range world.Deltas {
		compare("difference in "+d.Field+", p50", 0.35, func(l *likeness) float64 { return float64(l.Deltas[i].P50) })
		compare("difference in "+d.Field+", p90", 0.12, func(l *likeness) float64 { return float64(l.Deltas[i].P90) })
		compare("difference in "+d.Field+", p99", 0.12, func(l *likeness) float64 { return float64(l.Deltas[i].P99) })
	}
}
