package dataset

import (
	"flag"
	"io"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/world"
	"wirelab/internal/testkit"
)

var update = flag.Bool("update", false, "record the demo anew")

// playDemo plays the demo's script and calls yield with the initial state and then with n frames.
func playDemo(t *testing.T, n int, yield func(f *frame.Frame) error) {
	t.Helper()
	src, err := Open(t.Context(), "world:demo", Options{Seed: demoSeed})
	if err != nil {
		t.Fatal(err)
	}
	var f frame.Frame
	src.Initial(&f)
	for i := range n + 1 {
		if i > 0 {
			if err := src.Next(&f); err != nil {
				t.Fatal(err)
			}
		}
		if err := yield(&f); err != nil {
			t.Fatalf("frame %d: %v", i+preamble-1, err)
		}
	}
}

// recordDemo writes demo.bin.zst.
func recordDemo(t *testing.T) {
	t.Helper()
	w, err := Create(nil, "demo.bin.zst", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	write := w.Initial
	playDemo(t, demoFrames, func(f *frame.Frame) error {
		err := write(f)
		write = w.Write
		return err
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// The embedded demo equals the world with the script "demo". Unless checks are thorough only the first
// ten seconds are compared.
func TestDemo(t *testing.T) {
	if *update {
		recordDemo(t)
		t.Skip("recorded anew; run again without -update to compare")
	}
	if len(demoRecording) > 2<<20 {
		t.Errorf("the demo takes %d bytes, expected at most 2 MB", len(demoRecording))
	}
	src, err := Open(t.Context(), "demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := src.(Sized).Frames(); n != demoFrames {
		t.Errorf("Frames returns %d, expected %d", n, demoFrames)
	}
	frames := demoFrames
	if !testkit.Thorough() {
		frames = 600
	}
	var got frame.Frame
	next := func(f *frame.Frame) error { src.Initial(f); return nil }
	playDemo(t, frames, func(want *frame.Frame) error {
		if err := next(&got); err != nil {
			return err
		}
		next = src.Next
		if !got.Equal(want) {
			t.Fatalf("frame %d differs from the world's: record the demo anew with -update", got.Tick)
		}
		return nil
	})
	if err := src.Next(&got); testkit.Thorough() && err != io.EOF {
		t.Errorf("after the last frame: %v, expected %v", err, io.EOF)
	}
}

// At the end of the demo everything is at rest, so that only the loop point is visible there; before
// that many cubes move.
func TestDemoSettles(t *testing.T) {
	var last [60]frame.Frame
	n, busy := 0, 0
	playDemo(t, demoFrames, func(f *frame.Frame) error {
		if n >= len(last) && f.ChangedRows(&last[n%len(last)], frame.CubeFields) > 50 {
			busy++
		}
		last[n%len(last)].CopyFrom(f)
		n++
		return nil
	})
	for i := range last {
		if !last[i].Equal(&last[0]) {
			t.Errorf("something still changes in the last second")
			break
		}
	}
	if busy < demoFrames/2 {
		t.Errorf("more than 50 cubes move in %d frames, expected that in half of all %d", busy, demoFrames)
	}
}

// The recording is exactly one round of the script.
func TestDemoIsOneRound(t *testing.T) {
	for _, s := range world.Scripts() {
		if s.Name == "demo" && s.Seconds*60 != demoFrames {
			t.Errorf("the script takes %v s, the recording %v s", s.Seconds, demoFrames/60)
		}
	}
}
