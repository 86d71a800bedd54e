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
	last, of := uint32(start), 0
	err := train.Frames(ctx, job.Clips, func(clip int, f *frame.Frame) error {
		if clip != of {
			last, of = start, clip
		}
		last = counts.add(last, f.Body)
		return nil
	})
	if err != nil {
		return nil, err
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
		part := fmt.Sprint("order ", order)
		err := job.Measure(log, part, func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
		if err != nil {
			return nil, err
		}
		log.Progress(part, 1, 1)
	}
	return []train.File{{Name: "trained.tab", Data: data}}, nil
}

// bitsPerByte returns the mean cost of a byte of some texts.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	units, n := int64(0), 0
	var c rangecoder.Coder
	var buf []byte
	err := train.Frames(ctx, clips, func(_ int, f *frame.Frame) error {
		c.Write(buf[:0])
		zero, last := c.Spent(), uint32(start)
		for _, b := range f.Body {
			m.code(&c, last, b)
			last = after(last, b)
		}
		units, n = units+c.Spent()-zero, n+len(f.Body)
		buf = c.Finish()
		return nil
	})
	return float64(units) / encoders.BitUnit / float64(max(n, 1)), err
}
