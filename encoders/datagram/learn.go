package datagram

import (
	"context"
	"errors"
	"fmt"
	"math"

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

// ErrFew: there is too little to learn from.
var ErrFew = errors.New("too few datagrams to learn from")

// Trainers returns what makes models: one for each encoder.
func Trainers() []train.Trainer {
	list := []train.Trainer{{Encoder: "datagram"}, {Encoder: "datagram-acked"}}
	for i := range list {
		t := &list[i]
		acked := i == 1
		t.Folder, t.Model, t.Suits = "encoders/datagram", true, suits
		t.From, t.Per = "a capture, as packets:FILE.pcap", "byte"
		t.Train = func(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
			m, err := Learn(ctx, job, log, acked)
			if err != nil {
				return nil, err
			}
			return []train.File{{Name: t.Encoder + ".model", Data: m.Bytes()}}, nil
		}
	}
	return list
}

// Learn makes a model of clips of datagrams. The same clips give the same model on every
// machine: it is integers throughout.
func Learn(ctx context.Context, job train.Job, log train.Log, acked bool) (*Model, error) {
	t := &trainer{ctx: ctx, step: log.Step, budget: defaultSize}
	if job.Size > 0 {
		t.budget = job.Size
	}
	if t.budget < smallest || t.budget > MaxFile {
		return nil, fmt.Errorf("%w: %d bytes, expected %d to %d", train.ErrSize, t.budget, smallest, MaxFile)
	}
	for i, clip := range job.Clips {
		list, err := bodies(ctx, clip)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip.Name, err)
		}
		if job.Quick {
			list = list[:min(len(list), quick)]
		}
		for _, d := range list[:min(len(list), mostSamples/len(job.Clips))] {
			t.samples = append(t.samples, sample{data: d, clip: i})
		}
	}
	if len(t.samples) < folds {
		return nil, fmt.Errorf("%w: %d, expected some hundreds", ErrFew, len(t.samples))
	}
	deal(t.samples)
	m, err := t.run(acked)
	if err != nil {
		return nil, err
	}
	if n := len(m.Bytes()); n > t.budget {
		return nil, fmt.Errorf("%w: %d bytes, expected %d at least for what these datagrams hold", train.ErrSize, t.budget, n)
	}
	if log.Point == nil {
		return m, nil
	}
	return m, report(ctx, job, log, m)
}

// bodies reads the datagrams of a clip.
func bodies(ctx context.Context, clip train.Clip) (list [][]byte, err error) {
	err = clip.Frames(func(f *frame.Frame) error {
		if len(f.Body) > 0 {
			list = append(list, append([]byte(nil), f.Body...))
		}
		return ctx.Err()
	})
	return list, err
}

// report tells the log what a byte takes, in what was learnt from and in what was held out.
func report(ctx context.Context, job train.Job, log train.Log, m *Model) error {
	p := train.Point{Part: "model", Epoch: 1, Held: math.NaN()}
	var err error
	if p.Train, err = bitsPerByte(ctx, m, job.Clips); err != nil {
		return err
	}
	if job.Held != nil {
		if p.Held, err = bitsPerByte(ctx, m, []train.Clip{*job.Held}); err != nil {
			return err
		}
	}
	log.Point(p)
	return nil
}

// bitsPerByte is what the packets of clips come to, for each byte of the datagrams.
func bitsPerByte(ctx context.Context, m *Model, clips []train.Clip) (float64, error) {
	in, out := 0, 0
	f, k := newFlow(m), newCoder(m, false)
	var packet []byte
	for i, clip := range clips {
		err := clip.Frames(func(x *frame.Frame) error {
			past := f.before(&sample{data: x.Body, clip: i})
			packet = k.encode(packet[:0], x.Body, past)
			in, out = in+len(x.Body), out+len(packet)
			return ctx.Err()
		})
		if err != nil {
			return 0, err
		}
	}
	return 8 * float64(out) / float64(max(in, 1)), nil
}
