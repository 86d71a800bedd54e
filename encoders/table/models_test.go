package table_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/datagram"
	"wirelab/encoders/internal/recording"
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
	clip := recording.Clip("a story", packetsSchema(), story)
	for _, trainer := range table.Trainers() {
		if !trainer.Suits(packetsSchema()) || trainer.Encoder == "zstd-dict" { // of which their packages have tests
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

// TestNoModel checks that the encoders of datagrams work without a trained model, so that they can be the default for
// captures, and add at most a byte to random datagrams.
func TestNoModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []encoders.Codec{datagram.Datagram(), datagram.Acked()} {
		enc, dec, err := c.New(packetsSchema(), c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		initial := []encoders.Ref{{Frame: &frame.Frame{}}}
		for _, n := range []int{0, 1, 2, 40, 300, 1400, 3000} {
			in := &frame.Frame{Tick: 1, Body: make([]byte, n)}
			for i := range in.Body {
				in.Body[i] = byte(rng.Uint32())
			}
			packet, _, err := enc.Encode(nil, in, initial, nil, nil)
			if err != nil || len(packet) > n+1 {
				t.Errorf("%s: %d bytes in a packet of %d: %v", c.Name, n, len(packet), err)
			}
			var out frame.Frame
			if _, err := dec.Decode(&out, packet, initial, nil); err != nil || !bytes.Equal(out.Body, in.Body) {
				t.Errorf("%s: a datagram of %d bytes differs: %v", c.Name, n, err)
			}
		}
	}
}
