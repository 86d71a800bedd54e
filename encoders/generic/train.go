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

// CubesTrainer returns the trainer of the embedded dictionary of cubes.
func CubesTrainer() train.Trainer {
	return train.Trainer{Encoder: "zstd-dict", Suits: frame.IsCubes, From: "snapshots of cubes, such as file:FILE", Train: trainCubes}
}

// Trainers returns the trainer of a user's own dictionary of datagrams.
func Trainers() []train.Trainer {
	return []train.Trainer{
		{Encoder: "zstd-dict", Suits: isCapture, From: "a capture, such as packets:FILE.pcap", Per: "byte", Train: trainPackets},
	}
}

const (
	// sampleEvery is the distance between samples, in frames: half a second, after which most moving
	// cubes have moved.
	sampleEvery = 30
	// baselineAge is that of the walk-off: a cube has changed if it differs from 6 frames before.
	baselineAge = 6
)

// trainCubes builds the dictionary of cubes: the first sample as content, because frames of all
// recordings have much in common with it, and entropy tables of all samples. The library can also
// choose pieces of the samples as content, but not reproducibly; README.md compares the results.
func trainCubes(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	var samples [][]byte
	n := make([]int, len(job.Clips)) // frames of each clip so far
	err := train.ForEachFrame(ctx, job.Clips, func(i int, f *frame.Frame) error {
		n[i]++
		if n[i]%sampleEvery != 1 { // the first frame of a clip is a sample, then every sampleEvery-th
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
		return nil, fmt.Errorf("generic: no frames to train a dictionary on")
	}
	dictionary, err := buildDictionary(samples, samples[0])
	if err != nil {
		return nil, fmt.Errorf("generic: build a dictionary of %d frames: %w", len(samples), err)
	}
	return measureDictionary(log, job, "cubes.zdict", dictionary, func(trained []byte, clips []train.Clip) (float64, error) {
		return bitsPerCube(ctx, clips, trained)
	})
}

// buildDictionary returns a Zstandard dictionary: its content, which frames can refer to, is history, and its
// entropy tables are those of samples.
func buildDictionary(samples [][]byte, history []byte) ([]byte, error) {
	return zstd.BuildDict(zstd.BuildDictOptions{
		ID: trainedDictID, Contents: samples, History: history,
		Offsets: [3]int{1, 4, 8}, // the repeat offsets at the start of a frame (RFC 8878)
		Level:   zstd.EncoderLevel(ZstdDict().Params.(*dictParams).Level),
	})
}

// measureDictionary returns the file of a dictionary, called name. It also reports to log what the clips of job
// cost without and with the dictionary. cost returns the bits per unit (cube or byte) of clips that are
// compressed with the dictionary trained; nil means without one.
func measureDictionary(log train.Log, job train.Job, name string, dictionary []byte,
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

// bitsPerCube returns the cost of frames in bits per cube that differs from baselineAge frames before.
// dictionary is nil for none.
func bitsPerCube(ctx context.Context, clips []train.Clip, dictionary []byte) (float64, error) {
	spent, changed := 0, 0 // bits and cubes so far
	current, n := -1, 0    // index of the clip, and number of its frames so far
	var l *layout
	var z *zstandard
	var last [baselineAge]frame.Frame // the last frames; frame n is at index n modulo baselineAge
	var plain, packet []byte
	err := train.ForEachFrame(ctx, clips, func(i int, f *frame.Frame) (err error) {
		if i != current {
			current, n, l = i, 0, newLayout(clips[i].Schema)
			z = newZstd(l.size, Zstd().Params)
			z.dictionary = dictionary
		}
		before := &last[n%baselineAge]
		n++
		if n > baselineAge {
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

// defaultDictionarySize is the default size of a dictionary of datagrams, in bytes.
const defaultDictionarySize = 32 << 10

// maxSamples bounds the number of datagrams for the entropy tables.
const maxSamples = 20_000

// trainPackets builds a dictionary of datagrams: its content are datagrams spread over the clips,
// its entropy tables are of the others.
func trainPackets(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	size := defaultDictionarySize
	if job.Size > 0 {
		size = min(job.Size, maxDictionarySize)
	}
	total := 0
	err := train.ForEachFrame(ctx, job.Clips, func(_ int, f *frame.Frame) error {
		total += len(f.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	const maxTables = 2 << 10                                    // bytes of the entropy tables in the dictionary
	historySize := int64(min(max(size-maxTables, 256), total/2)) // at least half of the bytes are for the tables
	var history []byte
	var samples [][]byte
	seen, consumed := map[string]bool{}, int64(0) // datagrams in the history; number of bytes of all datagrams so far
	err = train.ForEachFrame(ctx, job.Clips, func(_ int, f *frame.Frame) error {
		datagram := f.Body
		consumed += int64(len(datagram))
		switch { // the history grows in proportion to the bytes consumed, without repeated datagrams
		case int64(len(history)) < consumed*historySize/int64(max(total, 1)) && int64(len(history)+len(datagram)) <= historySize && !seen[string(datagram)]:
			history = append(history, datagram...)
			seen[string(datagram)] = true
		case len(datagram) > 0 && len(samples) < maxSamples:
			samples = append(samples, bytes.Clone(datagram))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dictionary, err := buildDictionary(samples, history)
	if err != nil {
		return nil, fmt.Errorf("generic: cannot build a dictionary from %d bytes of content and %d sample datagrams: %w; expected more datagrams, some of them similar",
			len(history), len(samples), err)
	}
	if len(dictionary) > maxDictionarySize {
		return nil, fmt.Errorf("generic: dictionary has %d bytes, expected at most %d", len(dictionary), maxDictionarySize)
	}
	return measureDictionary(log, job, "packets.zdict", dictionary, func(trained []byte, clips []train.Clip) (float64, error) {
		return bitsPerByte(ctx, clips, trained)
	})
}

// bitsPerByte returns the cost of datagrams in bits per byte. dictionary is nil for none.
func bitsPerByte(ctx context.Context, clips []train.Clip, dictionary []byte) (float64, error) {
	z := newZstd(encoders.MaxBody, Zstd().Params)
	z.dictionary, z.omitMagic = dictionary, true
	spent, raw := 0, 0
	var packet []byte
	err := train.ForEachFrame(ctx, clips, func(_ int, f *frame.Frame) (err error) {
		packet, err = z.compress(packet[:0], f.Body, nil)
		spent, raw = spent+8*len(packet), raw+len(f.Body)
		return err
	})
	return float64(spent) / float64(max(raw, 1)), err
}
