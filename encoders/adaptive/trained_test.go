package adaptive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/text"
	"wirelab/encoders/train"
	"wirelab/internal/testkit"
)

// trainingText is the text of the embedded table.
const trainingText = "../../../shared/data/text/train.txt"

// openClip returns a text as messages of size bytes.
func openClip(t *testing.T, path string, size int) train.Clip {
	t.Helper()
	src, err := text.Kind.Open(t.Context(), path, source.Options{Message: size})
	if err != nil {
		t.Skipf("the text is missing: %v", err)
	}
	return train.Clip{Name: path, Schema: src.Schema(), Frames: func(yield func(*frame.Frame) error) error {
		src, err := text.Kind.Open(t.Context(), path, source.Options{Message: size})
		if err != nil {
			return err
		}
		var f frame.Frame
		for {
			if err := src.Next(&f); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := yield(&f); err != nil {
				return err
			}
		}
	}}
}

// Training on the training text reproduces the embedded table, whatever the size of messages.
// Higher orders take fewer bits.
func TestEmbeddedTableIsReproducible(t *testing.T) {
	for _, size := range testkit.Choose([]int{500, 1777}, []int{500}) {
		var points []train.Point
		job := train.Job{Clips: []train.Clip{openClip(t, trainingText, size)}}
		files, err := Trainer().Train(t.Context(), job, train.Log{Point: func(p train.Point) { points = append(points, p) }})
		if err != nil || len(files) != 1 || !bytes.Equal(files[0].Data, embeddedTable) {
			t.Fatalf("training gives another table than the embedded one: error %v", err)
		}
		for i, p := range points {
			if i > 0 && p.Train >= points[i-1].Train || p.Train < 1 || p.Train > 5 {
				t.Errorf("%s: %.3f bits per byte", p.Part, p.Train)
			}
		}
	}
}

// A held-out text is measured but does not change the table, and training can be cancelled.
func TestTrainer(t *testing.T) {
	held := openClip(t, "", 400)
	job := train.Job{Clips: []train.Clip{openClip(t, "", 100)}}
	alone, err := Trainer().Train(t.Context(), job, train.Log{})
	if err != nil {
		t.Fatal(err)
	}
	job.Held = &held
	measured := 0.0
	files, err := Trainer().Train(t.Context(), job, train.Log{Point: func(p train.Point) { measured += p.Held }})
	if err != nil || !bytes.Equal(files[0].Data, alone[0].Data) || !(measured > 4 && measured < 20) {
		t.Errorf("%.2f bits per held-out byte over four orders, error %v; or the table differs", measured, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Trainer().Train(ctx, job, train.Log{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel, it returns %v", err)
	}
}

// Malformed tables are refused.
func TestReadTables(t *testing.T) {
	good, err := counts{1: 2, 0xffffffff: 3}.pack()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := readTables(good)
	if err != nil || len(tables[numOrders-1].keys) != 2 || tables[0].dense[256] != 5 || tables[1].dense[len(tables[1].dense)-1] != 3 {
		t.Fatalf("%+v, error %v", tables, err)
	}
	endless, err := counts{1: 1 << 31, 2: 1}.pack()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readTables(endless); err == nil {
		t.Error("counts above the bound were accepted")
	}
	for n := range good {
		if _, err := readTables(good[:n]); err == nil {
			t.Errorf("%d of %d bytes were accepted", n, len(good))
		}
	}
}
