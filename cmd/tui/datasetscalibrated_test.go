package main

import (
	"math"
	"os"
	"testing"

	"wirelab/internal/testkit"
)

// TestWorldIsLikeTheRecordings checks that the scripted world is as hard to encode as the recordings
// alpha, bravo and charlie, in which a player does the same. The size per changed cube must be within
// 10 %, and so must nearly all statistics that determine it. The world is run with three seeds,
// because scripted players differ in activity.
//
// The medians of differences are up to 20 % lower. The cause is the player, not the physics: the
// script sometimes rolls, gathers and rests. The player of the recordings delta, echo, foxtrot and
// lima does so too, and their medians are those of the script: 25 to 30 in x, 11 to 14 in a, 9 to 12
// in c.
func TestWorldIsLikeTheRecordings(t *testing.T) {
	if !testkit.Long() {
		t.Skip("plays two minutes of the world and reads three recordings: under WIRELAB_THOROUGH=2")
	}
	const folder = "../../../shared/data/cubes/"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recordings at %s: they are not part of the project", folder)
	}
	var recordings, worlds []snapshotStats
	for _, name := range []string{"alpha", "bravo", "charlie"} {
		recordings = append(recordings, statsOf(t, folder+name+".bin.zst", "0"))
	}
	for _, seed := range []string{"1", "2", "3"} {
		worlds = append(worlds, statsOf(t, "world:random", seed))
	}
	mean := func(list []snapshotStats, of func(l *snapshotStats) float64) (sum float64) {
		for i := range list {
			sum += of(&list[i]) / float64(len(list))
		}
		return sum
	}
	compare := func(what string, most float64, of func(l *snapshotStats) float64) {
		t.Helper()
		got, want := mean(worlds, of), mean(recordings, of)
		t.Logf("%-40s world %8.3f, recordings %8.3f: %+.1f %%", what, got, want, 100*(got/want-1))
		if math.Abs(got-want) > most*want {
			t.Errorf("%s: %.3f, expected %.3f within %.1f %%", what, got, want, 100*most)
		}
	}
	for i, e := range worlds[0].Encoders {
		compare("bits per changed cube, "+e.Encoder, 0.06, func(l *snapshotStats) float64 { return l.Encoders[i].BitsPerChangedCube })
	}
	compare("changed cubes per active frame", 0.10, func(l *snapshotStats) float64 { return l.Changed.ActiveMean })
	compare("unchanged positions", 0.01, func(l *snapshotStats) float64 { return l.Unchanged.Position })
	compare("unchanged orientations", 0.01, func(l *snapshotStats) float64 { return l.Unchanged.Orientation })
	compare("unchanged interacting", 0.002, func(l *snapshotStats) float64 { return l.Unchanged.Interacting })
	compare("interacting cubes", 0.10, func(l *snapshotStats) float64 { return l.Interacting })
	compare("same largest", 0.03, func(l *snapshotStats) float64 { return l.SameLargest })
	compare("consecutive frames of change", 0.12, func(l *snapshotStats) float64 { return l.RunFrames.Mean })
	compare("cubes changed in a row", 0.10, func(l *snapshotStats) float64 { return l.RunCubes.Mean })
	for i, d := range worlds[0].Deltas {
		compare("difference in "+d.Field+", p50", 0.25, func(l *snapshotStats) float64 { return float64(l.Deltas[i].P50) })
		compare("difference in "+d.Field+", p90", 0.10, func(l *snapshotStats) float64 { return float64(l.Deltas[i].P90) })
		compare("difference in "+d.Field+", p99", 0.10, func(l *snapshotStats) float64 { return float64(l.Deltas[i].P99) })
	}
}

// statsOf returns the statistics of one source according to tui datasets stats.
func statsOf(t *testing.T, spec, seed string) snapshotStats {
	t.Helper()
	o := done(t, "datasets stats", spec, "--seed", seed, "--json", "--quiet")
	var doc struct{ Datasets []snapshotStats }
	document(t, o.stdout, &doc)
	return doc.Datasets[0]
}
