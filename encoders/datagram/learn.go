package datagram

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// Bounds of what is learnt from, in datagrams, and of the file that is made of it.
const (
	mostSamples = 40_000
	quick       = 300
	defaultSize = 256 << 10
	smallest    = 32 << 10
)

// errFew means that there are too few datagrams to learn from.
var errFew = errors.New("too few datagrams to learn from")

// Trainers returns the trainers of models: one for each encoder.
func Trainers() []train.Trainer {
	list := []train.Trainer{{Encoder: "datagram"}, {Encoder: "datagram-acked"}}
	for i := range list {
		t := &list[i]
		acked := i == 1
		t.Folder, t.Model, t.Suits = "encoders/datagram", true, suits
		t.From, t.Per = "a capture, as packets:FILE.pcap", "byte"
		t.Train = func(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
			m, err := learnModel(ctx, job, log, acked)
			if err != nil {
				return nil, err
			}
			return []train.File{{Name: t.Encoder + ".model", Data: m.Bytes()}}, nil
		}
	}
	return list
}

// learnModel trains a model on clips of datagrams. The same clips give the same model on every
// machine, because all arithmetic is on integers.
func learnModel(ctx context.Context, job train.Job, log train.Log, acked bool) (*model, error) {
	t := &trainer{ctx: ctx, log: log, budget: defaultSize}
	if job.Size > 0 {
		t.budget = job.Size
	}
	if t.budget < smallest || t.budget > maxFile {
		return nil, fmt.Errorf("%w: %d bytes, expected %d to %d", train.ErrSize, t.budget, smallest, maxFile)
	}
	most := mostSamples / max(len(job.Clips), 1)
	if job.Quick {
		most = min(most, quick)
	}
	taken := make([]int, len(job.Clips))
	err := train.Frames(ctx, job.Clips, func(i int, f *frame.Frame) error {
		if len(f.Body) > 0 && taken[i] < most {
			t.samples = append(t.samples, sample{data: bytes.Clone(f.Body), clip: i})
			taken[i]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.samples) < folds {
		return nil, fmt.Errorf("%w: %d, expected some hundreds", errFew, len(t.samples))
	}
	deal(t.samples)
	m, err := t.run(acked)
	if err != nil {
		return nil, err
	}
	if n := len(m.Bytes()); n > t.budget {
		return nil, fmt.Errorf("%w: %d bytes, expected %d at least for what these datagrams hold", train.ErrSize, t.budget, n)
	}
	return m, job.Measure(log, "model", func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
}

// bitsPerByte returns the bits of the packets of clips for each byte of the datagrams.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	in, out := 0, 0
	f, k := newFlow(m), newCoder(m, false)
	var packet []byte
	err := train.Frames(ctx, clips, func(i int, x *frame.Frame) error {
		past := f.before(&sample{data: x.Body, clip: i})
		packet = k.encode(packet[:0], x.Body, past)
		in, out = in+len(x.Body), out+len(packet)
		return nil
	})
	return 8 * float64(out) / float64(max(in, 1)), err
}
