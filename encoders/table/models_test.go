package table_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/datagram"
	"wirelab/encoders/table"
	"wirelab/encoders/train"
)

// packetsSchema is the schema of the datagrams of a capture.
func packetsSchema() *frame.Schema {
	return &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable}
}

// modelOf returns the path of a pretrained model for tests.
func modelOf(name string) string { return filepath.Join("testdata", name+".model") }

// defaults returns a codec's default parameters. An encoder that needs a user's model gets one that was trained with
// random frames.
func defaults(c encoders.Codec) any {
	params := c.Defaults()
	if c.Name == "datagram" || c.Name == "datagram-acked" {
		if err := encoders.SetParam(params, "model", modelOf(c.Name)); err != nil {
			panic(err)
		}
	}
	return params
}

// TestModels checks that training with random frames gives the stored model files.
func TestModels(t *testing.T) {
	story := randomFrames(packetsSchema(), 41, 150)
	clip := train.Clip{Name: "a story", Schema: packetsSchema(), Frames: func(yield func(*frame.Frame) error) error {
		for _, f := range story {
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
	for _, trainer := range table.Trainers() {
		if !trainer.MakesUserFile || !trainer.Suits(packetsSchema()) || trainer.Encoder == "zstd-dict" { // of which their packages have tests
			continue
		}
		files, err := trainer.Train(context.Background(), train.Job{Clips: []train.Clip{clip}, Size: 64 << 10}, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		path := modelOf(trainer.Encoder)
		if *update {
			if err := os.WriteFile(path, files[0].Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != string(files[0].Data) {
			t.Errorf("%s differs from the trained model: %v (run with -update to write it)", path, err)
		}
	}
}

// TestNoModel checks that the error for a missing model describes how to make one.
func TestNoModel(t *testing.T) {
	for _, c := range []encoders.Codec{datagram.Datagram(), datagram.Acked()} {
		_, _, err := c.New(packetsSchema(), c.Defaults())
		want := "encoder parameter model: empty, expected a model file; to make one, run tui train --encoder " + c.Name +
			" --data packets:FILE.pcap --out FILE.model"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", c.Name, err, want)
		}
	}
}
