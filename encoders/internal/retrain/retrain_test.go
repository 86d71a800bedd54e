package retrain

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		return train.Trainer{Encoder: name, Suits: frame.IsCubes, From: "cubes", Train: func(_ context.Context, job train.Job, log train.Log) ([]train.File, error) {
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
	job, err := parse(t.Context(), args, trainers)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &log, job, dir, trainers); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "second.net"))
	if want := "2 clips, 2886 held out, seed 1"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if want := "first, net, pass 1: training 2.000 bits, held out 3.000 bits\nsecond, net, pass 1: training 2.000 bits, held out 3.000 bits\n"; log.String() != want {
		t.Errorf("log %q, want %q", &log, want)
	}
}

// Main refuses no recordings, and those that are missing or of the wrong kind.
func TestParseErrors(t *testing.T) {
	trainers := []train.Trainer{{Encoder: "net", Suits: frame.IsCubes, From: "snapshots of cubes"}}
	for args, want := range map[string]string{
		"":                       "no recording to train with; expected snapshots of cubes",
		"-held demo":             "no recording to train with; expected snapshots of cubes",
		"demo text":              "net cannot be trained with text; expected snapshots of cubes",
		"-held text demo":        "net cannot be trained with text; expected snapshots of cubes",
		"nowhere.bin":            "nowhere.bin",
		"-held nowhere.bin demo": "nowhere.bin",
	} {
		_, err := parse(t.Context(), strings.Fields(args), trainers)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", args, err, want)
		}
	}
}

// No file is written if one of the trainers fails.
func TestFailureKeepsFiles(t *testing.T) {
	trainer := func(err error) train.Trainer {
		return train.Trainer{Train: func(context.Context, train.Job, train.Log) ([]train.File, error) {
			return []train.File{{Name: "net", Data: []byte("new")}}, err
		}}
	}
	dir, failure := t.TempDir(), errors.New("failure")
	err := run(t.Context(), io.Discard, train.Job{}, dir, []train.Trainer{trainer(nil), trainer(failure)})
	if _, missing := os.Stat(filepath.Join(dir, "net")); err != failure || missing == nil {
		t.Errorf("error %v, and the first trainer's file: %v", err, missing)
	}
}
