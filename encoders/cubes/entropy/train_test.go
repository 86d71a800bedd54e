package entropy

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// clipOf makes a clip of frames.
func clipOf(name string, rows int, frames []*frame.Frame) train.Clip {
	return train.Clip{Name: name, Schema: frame.Cubes(rows), Frames: func(yield func(*frame.Frame) error) error {
		for _, f := range frames {
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
}

// The same clips teach the same, to the bit; what is held out teaches nothing;
// and what was learnt is of use.
func TestTrainers(t *testing.T) {
	held := clipOf("held", 30, crowd(17, 30, 200))
	job := train.Job{Clips: []train.Clip{clipOf("a", 50, crowd(15, 50, 400)), clipOf("b", 9, crowd(16, 9, 100))}, Quick: true}
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
			t.Errorf("%s: %.1f bits a cube at first, %.1f at last", trainer.Encoder, first.Train, last.Train)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := trainer.Train(ctx, job, train.Log{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled, it returns %v", trainer.Encoder, err)
		}
	}
}

// The files of trainers are those that are embedded, by name and by size.
func TestTrainersMakeWhatIsEmbedded(t *testing.T) {
	sizes := map[string]int{"static.tab.zst": len(embedded(t, staticTable)), "predictive.tab.zst": len(embedded(t, predictiveTable))}
	job := train.Job{Clips: []train.Clip{clipOf("a", 9, crowd(15, 9, 40))}, Quick: true}
	for _, trainer := range Trainers() {
		files, err := trainer.Train(context.Background(), job, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := train.Open(f.Data, train.MaxEmbedded)
			if n, ok := sizes[f.Name]; !ok || err != nil || n != len(data) {
				t.Errorf("%s makes %s of %d bytes, embedded are %d: %v", trainer.Encoder, f.Name, len(data), n, err)
			}
			delete(sizes, f.Name)
		}
	}
	if len(sizes) != 0 {
		t.Errorf("nobody makes %v", sizes)
	}
}
