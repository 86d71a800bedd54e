// Package recording provides recordings of the walk-off to the tests of encoders. Programs read recordings
// with package dataset instead.
package recording

import (
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/train"
	"wirelab/internal/testkit"
)

// Clip returns frames as a recording to train with.
func Clip(name string, s *frame.Schema, frames []*frame.Frame) train.Clip {
	return train.Clip{Name: name, Schema: s, Frames: func(yield func(*frame.Frame) error) error {
		for _, f := range frames {
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Names returns the names of all recordings, in alphabetical order.
func Names() []string {
	return []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo", "lima"}
}

// BaselineAge is the number of frames between a frame and its baseline, by the rules of the walk-off.
const BaselineAge = 6

// firstTick is the tick of the first frame of the embedded recording. Earlier frames are the initial
// state.
const firstTick = BaselineAge

// recordBytes is the size of a frame in a recording file.
const recordBytes = frame.WalkoffCubes * frame.CubeFields * 4

// Demo returns the frames of the embedded recording with from <= tick < to. The recording begins at
// firstTick. In it the player pushes cubes away.
func Demo(t testing.TB, from, to int) []*frame.Frame {
	t.Helper()
	src, err := dataset.Open(t.Context(), "demo", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.(io.Closer).Close()
	var frames []*frame.Frame
	f := src.Schema().NewFrame()
	for n := firstTick; n < to; n++ {
		if err := src.Next(f); err != nil {
			t.Fatal(err)
		}
		if n >= from {
			copied := &frame.Frame{}
			copied.CopyFrom(f)
			copied.Tick = uint32(n)
			frames = append(frames, copied)
		}
	}
	return frames
}

// Load returns the first n frames of a recording, or all if n is 0, with ticks from 0 on. It skips the test
// if the recordings are not installed.
func Load(t testing.TB, name string, n int) []*frame.Frame {
	t.Helper()
	path := testkit.DataFile(t, "cubes/"+name+".bin.zst")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(1<<28)) // the recordings are compressed with a large window
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var frames []*frame.Frame
	record := make([]byte, recordBytes)
	for n == 0 || len(frames) < n {
		if _, err := io.ReadFull(z, record); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s, frame %d: %v", path, len(frames), err)
		}
		table := make([]int32, frame.WalkoffCubes*frame.CubeFields)
		for i := range table {
			table[i] = int32(binary.LittleEndian.Uint32(record[4*i:]))
		}
		frames = append(frames, &frame.Frame{Tick: uint32(len(frames)), Table: table})
	}
	return frames
}
