package dataset

import (
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/testkit"
)

// Changed contains every row that a comparison of frames finds: from the initial state on, across loop
// points, when playing from memory and from the file, and when a user plays.
func TestChangedRows(t *testing.T) {
	charlie, frames := testkit.DataFile(t, "cubes/charlie.bin.zst"), 7000
	if !testkit.Thorough() {
		frames = 3000
	}
	for _, c := range []struct {
		name   string
		spec   string
		most   int // rows kept in memory
		frames int
		exact  bool
	}{
		{"charlie", charlie, maxReelRows, frames, true},
		{"charlie from the file", charlie, 1000, frames, true},
		{"demo", "demo", maxReelRows, 3100, true},
		{"world", "world", 0, 400, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, err := Open(t.Context(), c.spec, Options{Loop: true, Seed: 2})
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := src.(*Recording); ok {
				defer r.Close()
				r.reel.maxRows = c.most
			}
			checkChanged(t, src, c.frames, c.exact)
		})
	}
}

// checkChanged compares Changed with the rows that differ between frames of src.
func checkChanged(t *testing.T, src Source, frames int, exact bool) {
	t.Helper()
	var was, is frame.Frame
	src.Initial(&was)
	want, seams := frame.NewRows(src.Schema().Rows), 0
	for n := range frames {
		if w, ok := src.(Steered); ok && n == frames/2 {
			w.Reset()
		}
		if err := src.Next(&is); err != nil {
			t.Fatal(err)
		}
		seam := src.(Looping).AtLoopPoint()
		if seam {
			seams++
		}
		want.SetDiffering(is.Table, was.Table, frame.CubeFields)
		got := src.(Tracked).Changed()
		more := slices.Clone(got)
		more.Union(want)
		if !slices.Equal(more, got) || (exact || !seam) && !slices.Equal(got, want) {
			t.Fatalf("frame %d (loop point: %v): Changed has %d rows, %d differ", n, seam, got.Count(), want.Count())
		}
		was, is = is, was
	}
	if seams == 0 {
		t.Error("no loop point")
	}
}

// Frames played from memory equal those read from the file.
func TestReelEqualsFile(t *testing.T) {
	path := testkit.DataFile(t, "cubes/charlie.bin.zst")
	open := func(most int) *Recording {
		r, err := openRecording(t.Context(), path, Options{Loop: true})
		if err != nil {
			t.Fatal(err)
		}
		r.reel.maxRows = most
		t.Cleanup(func() { r.Close() })
		return r
	}
	kept, read := open(maxReelRows), open(0)
	var a, b frame.Frame
	for n := range 5900 {
		if err := kept.Next(&a); err != nil {
			t.Fatal(err)
		}
		if err := read.Next(&b); err != nil {
			t.Fatal(err)
		}
		if !a.Equal(&b) || a.Tick != b.Tick || kept.AtLoopPoint() != read.AtLoopPoint() {
			t.Fatalf("frame %d is another from memory", n)
		}
	}
	if !kept.reelComplete || read.reel != nil {
		t.Error("nothing was played from memory, or all was")
	}
}
