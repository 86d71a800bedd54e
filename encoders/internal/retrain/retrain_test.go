package retrain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// Each trainer gets all recordings, and its files are written to the folder.
func TestRun(t *testing.T) {
	trainer := func(name string) train.Trainer {
		return train.Trainer{Encoder: name, Train: func(_ context.Context, job train.Job, log train.Log) ([]train.File, error) {
			n := 0
			count := func(f *frame.Frame) error {
				if int(f.Tick) != n {
					t.Errorf("frame %d has tick %d", n, f.Tick)
				}
				n++
				return nil
			}
			if err := job.Held.Frames(count); err != nil {
				return nil, err
			}
			log.Report(train.Point{Part: "net", Epoch: 1, Train: 2, Held: 3})
			return []train.File{{Name: name + ".net", Data: fmt.Appendf(nil, "%d clips, %d held out, seed %d", len(job.Clips), n, job.Seed)}}, nil
		}}
	}
	dir := t.TempDir()
	trainers := []train.Trainer{trainer("first"), trainer("second")}
	var log strings.Builder
	args := []string{"-held", "demo", "demo", "demo"}
	if err := run(t.Context(), &log, args, dir, trainers); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "second.net"))
	if want := "2 clips, 2886 held out, seed 1"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if want := "first, net, pass 1: training 2.000 bits, held out 3.000 bits\nsecond, net, pass 1: training 2.000 bits, held out 3.000 bits\n"; log.String() != want {
		t.Errorf("log %q, want %q", &log, want)
	}
	for _, args := range [][]string{{"nowhere.bin"}, {"-held", "nowhere.bin", "demo"}} {
		if err := run(t.Context(), &log, args, dir, trainers); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
