package adaptive

import (
	"context"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// Trainers returns the trainer of this package's table: the number of times each byte of some texts
// followed each three bytes.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "receiver-adaptive", Folder: "encoders/adaptive", Suits: suits, From: "a text, as text:PATH", Per: "byte", Train: learn}}
}

// learn implements the trainer in one pass. The curve shows for each order the bits for
// a byte with the table alone.
func learn(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	counts := counts{}
	for _, clip := range job.Clips {
		last := uint32(start)
		err := clip.Frames(func(f *frame.Frame) error {
			last = counts.add(last, f.Body)
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	data, err := counts.pack()
	if err != nil {
		return nil, err
	}
	tables, err := readTables(data)
	if err != nil {
		return nil, err
	}
	for order := range orders {
		m := &model{trained: tables, order: order}
		m.ready(packingOf(order))
		if err := measure(ctx, job, log, m); err != nil {
			return nil, err
		}
	}
	return []train.File{{Name: "trained.tab", Data: data}}, nil
}

// measure reports the bits for a byte of the training texts and of the held-out text.
func measure(ctx context.Context, job train.Job, log train.Log, m *model) error {
	p := train.Point{Part: fmt.Sprint("order ", m.order), Epoch: 1}
	var err error
	if p.Train, err = bitsPerByte(ctx, m, job.Clips...); err != nil {
		return err
	}
	if p.Held, err = job.MeasureHeld(func(c train.Clip) (float64, error) { return bitsPerByte(ctx, m, c) }); err != nil {
		return err
	}
	log.Progress(p.Part, 1, 1)
	log.Report(p)
	return nil
}

func bitsPerByte(ctx context.Context, m *model, clips ...train.Clip) (float64, error) {
	units, n := int64(0), 0
	var c rangecoder.Coder
	var buf []byte
	for _, clip := range clips {
		err := clip.Frames(func(f *frame.Frame) error {
			c.Write(buf[:0])
			zero, last := c.Spent(), uint32(start)
			for _, b := range f.Body {
				m.code(&c, last, b)
				last = after(last, b)
			}
			units, n = units+c.Spent()-zero, n+len(f.Body)
			buf = c.Finish()
			return ctx.Err()
		})
		if err != nil {
			return 0, err
		}
	}
	return float64(units) / encoders.BitUnit / float64(max(n, 1)), nil
}
