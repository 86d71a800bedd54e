package generic

import (
	"context"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// Trainers returns what learns the dictionary of zstd-dict: the embedded one, or a user's
// own of datagrams.
func Trainers() []train.Trainer {
	return []train.Trainer{
		{Encoder: "zstd-dict", Folder: "encoders/generic", Train: learn},
		{Encoder: "zstd-dict", Model: true, Suits: packetsSuit, From: "a capture, as packets:FILE.pcap", Per: "byte", Train: learnPackets},
	}
}

const (
	// sampleEvery is how many frames apart the samples are that statistics are taken
	// of: half a second, after which not much is where it was.
	sampleEvery = 30
	// age is the walk-off's: a cube has changed if it is not what it was 6 frames
	// before.
	age = 6
)

// learn implements the one trainer. The curve tells what a changed cube takes without
// the dictionary and with it.
func learn(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	var samples [][]byte
	for _, clip := range job.Clips {
		some, err := sample(ctx, clip)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip.Name, err)
		}
		samples = append(samples, some...)
	}
	dictionary, err := build(samples)
	if err != nil {
		return nil, err
	}
	for i, part := range []string{"no dictionary", "dictionary"} {
		if log.Step != nil {
			log.Step("measuring", int64(i), 2)
		}
		trained := [][]byte{nil, dictionary}[i]
		if err := report(ctx, job, log, part, trained); err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	return []train.File{{Name: "cubes.zdict", Data: dictionary}}, nil
}

// sample returns a clip's first frame and some of those after it, laid out.
func sample(ctx context.Context, clip train.Clip) ([][]byte, error) {
	l := newLayout(clip.Schema)
	var samples [][]byte
	n := 0
	err := clip.Frames(func(f *frame.Frame) error {
		if n%sampleEvery == 0 {
			packed, err := l.pack(nil, f)
			if err != nil {
				return err
			}
			samples = append(samples, packed)
		}
		n++
		return ctx.Err()
	})
	return samples, err
}

// build makes a dictionary of the first sample, for what frames have in common with
// it, and of statistics of all. The library could choose pieces of the samples too,
// but would do so differently each time; README.md has what choosing would bring.
func build(samples [][]byte) ([]byte, error) {
	if len(samples) == 0 {
		return nil, fmt.Errorf("generic: no frames to learn a dictionary from")
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID: trainedNumber, Contents: samples, History: samples[0],
		Offsets: [3]int{1, 4, 8}, // as where there is no dictionary
		Level:   zstd.EncoderLevel(ZstdDict().Params.(*DictParams).Level),
	})
	if err != nil {
		return nil, fmt.Errorf("generic: a dictionary of %d frames: %w", len(samples), err)
	}
	return dictionary, nil
}

// report tells the log what a changed cube takes with a dictionary, nil for none, in
// what was learnt from and in what was held out.
func report(ctx context.Context, job train.Job, log train.Log, part string, trained []byte) error {
	if log.Point == nil {
		return nil
	}
	learnt, err := bitsPerCube(ctx, job.Clips, trained)
	if err != nil {
		return err
	}
	held := math.NaN()
	if job.Held != nil {
		if held, err = bitsPerCube(ctx, []train.Clip{*job.Held}, trained); err != nil {
			return err
		}
	}
	log.Point(train.Point{Part: part, Epoch: 1, Train: learnt, Held: held})
	return nil
}

// bitsPerCube is what frames take for each of their changed cubes.
func bitsPerCube(ctx context.Context, clips []train.Clip, trained []byte) (float64, error) {
	spent, changed := 0, 0
	for _, clip := range clips {
		l := newLayout(clip.Schema)
		z := newZstd(l.size, Zstd().Params)
		z.trained = trained
		var last [age]frame.Frame
		var plain, packet []byte
		n := 0
		err := clip.Frames(func(f *frame.Frame) (err error) {
			before := &last[n%age]
			if n++; n > age {
				if plain, err = l.pack(plain[:0], f); err != nil {
					return err
				}
				if packet, err = z.compress(packet[:0], plain, nil); err != nil {
					return err
				}
				spent += 8 * len(packet)
				changed += f.ChangedRows(before, frame.CubeFields)
			}
			before.CopyFrom(f)
			return ctx.Err()
		})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", clip.Name, err)
		}
	}
	return float64(spent) / float64(max(changed, 1)), nil
}
