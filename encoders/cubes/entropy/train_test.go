package entropy

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/train"
)

// TestTrainers checks that the same clips give the same files, whatever clip is held out, and that
// training reduces the cost.
func TestTrainers(t *testing.T) {
	held := recording.Clip("held", frame.Cubes(30), crowd(17, 30, 200))
	job := train.Job{Clips: []train.Clip{recording.Clip("a", frame.Cubes(50), crowd(15, 50, 400)), recording.Clip("b", frame.Cubes(9), crowd(16, 9, 100))}}
	for _, trainer := range Trainers() {
		var points []train.Point
		log := train.Log{Point: func(p train.Point) { points = append(points, p) }}
		files, err := trainer.Train(context.Background(), job, log)
		if err != nil {
			t.Fatal(err)
		}
		job.Held = &held
		again, err := trainer.Train(context.Background(), job, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		job.Held = nil
		for i := range files {
			if !bytes.Equal(files[i].Data, again[i].Data) {
				t.Errorf("%s: %s differs when another clip is held out", trainer.Encoder, files[i].Name)
			}
		}
		if first, last := points[0], points[len(points)-1]; last.Train <= 0 || len(points) > 1 && last.Train > 0.9*first.Train {
			t.Errorf("%s: %.1f bits per cube after the first pass, %.1f after the last", trainer.Encoder, first.Train, last.Train)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := trainer.Train(ctx, job, train.Log{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after cancellation", trainer.Encoder, err)
		}
	}
}

// TestTrainersMatchEmbeddedFiles compares names and sizes of the trainers' files with the embedded ones.
func TestTrainersMatchEmbeddedFiles(t *testing.T) {
	table, err := staticTable()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{"static.tab.zst": len(table)}
	job := train.Job{Clips: []train.Clip{recording.Clip("a", frame.Cubes(9), crowd(15, 9, 40))}}
	for _, trainer := range Trainers() {
		files, err := trainer.Train(context.Background(), job, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := train.Open(f.Data)
			if n, ok := sizes[f.Name]; !ok || err != nil || n != len(data) {
				t.Errorf("%s makes %s of %d bytes, the embedded file has %d: %v", trainer.Encoder, f.Name, len(data), n, err)
			}
			delete(sizes, f.Name)
		}
	}
	if len(sizes) != 0 {
		t.Errorf("no trainer makes %v", sizes)
	}
}
