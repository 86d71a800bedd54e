package generic

import (
	"context"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/train"
)

// usualDictionary is how large the dictionary of datagrams is, if nobody says.
const usualDictionary = 32 << 10

// mostSamples bounds the datagrams that statistics are taken of.
const mostSamples = 20_000

// learnPackets makes a dictionary of the datagrams of a program: some of them, spread over
// what there is, and statistics of the others. The curve tells what a byte takes without
// it and with it, in bits.
func learnPackets(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	size := usualDictionary
	if job.Size > 0 {
		size = min(job.Size, MaxDictionary)
	}
	total := 0
	err := bodies(ctx, job.Clips, func(b []byte) error {
		total += len(b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	const statistics = 2 << 10 // what the tables in front take, at most
	room := int64(min(max(size-statistics, 256), total/2))
	var history []byte
	var others [][]byte
	seen, at := map[string]bool{}, int64(0)
	err = bodies(ctx, job.Clips, func(b []byte) error {
		at += int64(len(b))
		switch {
		case int64(len(history)) < at*room/int64(max(total, 1)) && int64(len(history)+len(b)) <= room && !seen[string(b)]:
			history = append(history, b...)
			seen[string(b)] = true
		case len(b) > 0 && len(others) < mostSamples:
			others = append(others, append([]byte(nil), b...))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: trainedNumber, Contents: others, History: history, Offsets: [3]int{1, 4, 8},
		Level: zstd.EncoderLevel(ZstdDict().Params.(*DictParams).Level)})
	if err != nil {
		return nil, fmt.Errorf("generic: a dictionary of %d bytes, with statistics of %d datagrams: %w; expected more datagrams, and some alike",
			len(history), len(others), err)
	}
	if len(dictionary) > MaxDictionary {
		return nil, fmt.Errorf("generic: a dictionary of %d bytes, expected at most %d", len(dictionary), MaxDictionary)
	}
	for _, x := range []struct {
		part       string
		dictionary []byte
	}{{"no dictionary", nil}, {"dictionary", dictionary}} {
		if log.Point == nil {
			break
		}
		point := train.Point{Part: x.part, Epoch: 1, Held: math.NaN()}
		if point.Train, err = bitsPerByte(ctx, job.Clips, x.dictionary); err == nil && job.Held != nil {
			point.Held, err = bitsPerByte(ctx, []train.Clip{*job.Held}, x.dictionary)
		}
		if err != nil {
			return nil, err
		}
		log.Point(point)
	}
	return []train.File{{Name: "packets.zdict", Data: dictionary}}, nil
}

// bodies hands out the datagrams of clips.
func bodies(ctx context.Context, clips []train.Clip, take func([]byte) error) error {
	for _, clip := range clips {
		err := clip.Frames(func(f *frame.Frame) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return take(f.Body)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", clip.Name, err)
		}
	}
	return nil
}

// bitsPerByte is what a byte of datagrams takes with a dictionary, nil for none.
func bitsPerByte(ctx context.Context, clips []train.Clip, trained []byte) (float64, error) {
	z := newZstd(encoders.MaxBody, Zstd().Params)
	z.trained, z.bare = trained, true
	spent, raw := 0, 0
	var packet []byte
	err := bodies(ctx, clips, func(b []byte) (err error) {
		packet, err = z.compress(packet[:0], b, nil)
		spent, raw = spent+8*len(packet), raw+len(b)
		return err
	})
	return float64(spent) / float64(max(raw, 1)), err
}
