package generic

import (
	"bytes"
	"context"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/train"
)

// Trainers returns the trainers of zstd-dict: of the embedded dictionary, and of a user's
// own of datagrams.
func Trainers() []train.Trainer {
	return []train.Trainer{
		{Encoder: "zstd-dict", Folder: "encoders/generic", Train: learn},
		{Encoder: "zstd-dict", Model: true, Suits: packetsSuit, From: "a capture, as packets:FILE.pcap", Per: "byte", Train: learnPackets},
	}
}

const (
	// sampleEvery is the distance, in frames, of the samples that statistics are taken
	// of: half a second, after which most cubes have moved.
	sampleEvery = 30
	// age is that of baselines in the walk-off: a cube has changed if it differs from 6 frames before.
	age = 6
)

// learn makes the dictionary of cubes: of the first sample, for what frames have in common with
// it, and of statistics of all. The library could choose pieces of the samples too,
// but would do so differently each time; README.md has what choosing would bring.
func learn(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	var samples [][]byte
	n := make([]int, len(job.Clips))
	err := train.Frames(ctx, job.Clips, func(i int, f *frame.Frame) error {
		n[i]++
		if n[i]%sampleEvery != 1 {
			return nil
		}
		packed, err := newLayout(job.Clips[i].Schema).pack(nil, f)
		samples = append(samples, packed)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("generic: no frames to learn a dictionary from")
	}
	dictionary, err := buildDictionary(samples, samples[0])
	if err != nil {
		return nil, fmt.Errorf("generic: a dictionary of %d frames: %w", len(samples), err)
	}
	return measured(log, job, "cubes.zdict", dictionary, func(trained []byte, clips []train.Clip) (float64, error) {
		return bitsPerCube(ctx, clips, trained)
	})
}

// buildDictionary makes a dictionary of the content history and of the statistics of samples.
func buildDictionary(samples [][]byte, history []byte) ([]byte, error) {
	return zstd.BuildDict(zstd.BuildDictOptions{
		ID: trainedNumber, Contents: samples, History: history,
		Offsets: [3]int{1, 4, 8}, // as without a dictionary
		Level:   zstd.EncoderLevel(ZstdDict().Params.(*dictParams).Level),
	})
}

// measured returns the file of a dictionary, and reports the cost without it and with it.
func measured(log train.Log, job train.Job, name string, dictionary []byte,
	cost func(trained []byte, clips []train.Clip) (float64, error)) ([]train.File, error) {
	for i, part := range []string{"no dictionary", "dictionary"} {
		log.Progress("measuring", int64(i), 2)
		trained := [][]byte{nil, dictionary}[i]
		err := job.Measure(log, part, func(clips ...train.Clip) (float64, error) { return cost(trained, clips) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	return []train.File{{Name: name, Data: dictionary}}, nil
}

// bitsPerCube returns the cost of frames for each of their changed cubes.
func bitsPerCube(ctx context.Context, clips []train.Clip, trained []byte) (float64, error) {
	spent, changed, of, n := 0, 0, -1, 0
	var l *layout
	var z *zstandard
	var last [age]frame.Frame
	var plain, packet []byte
	err := train.Frames(ctx, clips, func(i int, f *frame.Frame) (err error) {
		if i != of {
			of, n, l = i, 0, newLayout(clips[i].Schema)
			z = newZstd(l.size, Zstd().Params)
			z.trained = trained
		}
		before := &last[n%age]
		n++
		if n > age {
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
		return nil
	})
	return float64(spent) / float64(max(changed, 1)), err
}

// usualDictionary is the default size of the dictionary of datagrams.
const usualDictionary = 32 << 10

// mostSamples bounds the datagrams that statistics are taken of.
const mostSamples = 20_000

// learnPackets makes a dictionary of the datagrams of a program: some of them, spread over
// the clips, and statistics of the others.
func learnPackets(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	size := usualDictionary
	if job.Size > 0 {
		size = min(job.Size, maxDictionary)
	}
	total := 0
	err := train.Frames(ctx, job.Clips, func(_ int, f *frame.Frame) error {
		total += len(f.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	const statistics = 2 << 10 // bytes of the tables in front, at most
	room := int64(min(max(size-statistics, 256), total/2))
	var history []byte
	var others [][]byte
	seen, at := map[string]bool{}, int64(0)
	err = train.Frames(ctx, job.Clips, func(_ int, f *frame.Frame) error {
		b := f.Body
		at += int64(len(b))
		switch {
		case int64(len(history)) < at*room/int64(max(total, 1)) && int64(len(history)+len(b)) <= room && !seen[string(b)]:
			history = append(history, b...)
			seen[string(b)] = true
		case len(b) > 0 && len(others) < mostSamples:
			others = append(others, bytes.Clone(b))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dictionary, err := buildDictionary(others, history)
	if err != nil {
		return nil, fmt.Errorf("generic: a dictionary of %d bytes, with statistics of %d datagrams: %w; expected more datagrams, and some alike",
			len(history), len(others), err)
	}
	if len(dictionary) > maxDictionary {
		return nil, fmt.Errorf("generic: a dictionary of %d bytes, expected at most %d", len(dictionary), maxDictionary)
	}
	return measured(log, job, "packets.zdict", dictionary, func(trained []byte, clips []train.Clip) (float64, error) {
		return bitsPerByte(ctx, clips, trained)
	})
}

// bitsPerByte returns the cost of a byte of datagrams with a dictionary, nil for none.
func bitsPerByte(ctx context.Context, clips []train.Clip, trained []byte) (float64, error) {
	z := newZstd(encoders.MaxBody, Zstd().Params)
	z.trained, z.bare = trained, true
	spent, raw := 0, 0
	var packet []byte
	err := train.Frames(ctx, clips, func(_ int, f *frame.Frame) (err error) {
		packet, err = z.compress(packet[:0], f.Body, nil)
		spent, raw = spent+8*len(packet), raw+len(f.Body)
		return err
	})
	return float64(spent) / float64(max(raw, 1)), err
}
