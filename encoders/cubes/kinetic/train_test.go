package kinetic

import (
	"bytes"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/train"
	"wirelab/internal/testkit"
)

// Two trainings with the same recording and seed give the same files: those that are embedded.
func TestTrainers(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("trains nets: under WIRELAB_THOROUGH=1")
	}
	frames := recording.Demo(t, recording.BaselineAge, 200)
	clip := recording.Clip("demo", frame.Cubes(frame.WalkoffCubes), frames)
	job := train.Job{Clips: []train.Clip{clip}, Seed: 1, Quick: true}
	for _, trainer := range Trainers() {
		files, err := trainer.Train(t.Context(), job, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := trainer.Train(t.Context(), job, train.Log{})
		if err != nil || len(again) != 3 {
			t.Fatalf("%s: %d files, %v", trainer.Encoder, len(again), err)
		}
		for i, f := range files {
			if f.Name != again[i].Name || !bytes.Equal(f.Data, again[i].Data) {
				t.Errorf("%s: one seed, different files %s", trainer.Encoder, f.Name)
			}
			if !strings.HasPrefix(f.Name, strings.TrimPrefix(trainer.Encoder, "kinetic-")+".") {
				t.Errorf("%s: a file called %s", trainer.Encoder, f.Name)
			}
		}
	}
}
