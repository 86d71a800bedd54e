package states

import (
	"context"
	"fmt"
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/train"
)

// Trainers returns how delta-trained learns: as it does on the way, from one match after the
// other, each frame against the one before.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "delta-trained", Folder: "encoders/states", Model: true, Suits: suits, Train: learnBook}}
}

// learnBook makes a book of clips. The curve tells bits per changed row, of the held clip
// after what was learnt so far.
func learnBook(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	var last *coder
	for i, clip := range job.Clips {
		e := newCoder(clip.Schema, usual)
		if last != nil {
			if last.shape() != e.shape() {
				return nil, fmt.Errorf("states: %s: %w than %s", clip.Name, errShape, job.Clips[0].Name)
			}
			e.initial.copy(last.initial)
		}
		after, point, err := e.learn(ctx, clip, job.Quick, log)
		if err != nil {
			return nil, err
		}
		e.initial.copy(after)
		last = e
		if log.Point == nil {
			continue
		}
		held := math.NaN()
		if job.Held != nil {
			h := newCoder(job.Held.Schema, usual)
			if h.shape() != e.shape() {
				return nil, fmt.Errorf("states: %s: %w than %s", job.Held.Name, errShape, clip.Name)
			}
			h.initial.copy(after)
			if _, held, err = h.learn(ctx, *job.Held, job.Quick, train.Log{}); err != nil {
				return nil, err
			}
		}
		log.Point(train.Point{Part: clip.Name, Epoch: i + 1, Train: point, Held: held})
	}
	if last == nil {
		return nil, fmt.Errorf("states: nothing to learn from")
	}
	data, err := bookOf(last.plan, last.initial)
	if err != nil {
		return nil, err
	}
	return []train.File{{Name: "match.book", Data: data}}, nil
}

// learn encodes a clip and returns the last memo, and what a changed row took, in bits.
func (e *coder) learn(ctx context.Context, clip train.Clip, quick bool, log train.Log) (*memo, float64, error) {
	base := e.schema.NewFrame()
	var past, spare encoders.Memo
	var out []byte
	rows, bytes, n := 0, 0, 0
	err := clip.Frames(func(f *frame.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n++; quick && n > 200 {
			return nil
		}
		if log.Step != nil && n%100 == 0 {
			log.Step(clip.Name, int64(n), 0)
		}
		packet, next, err := e.Encode(out[:0], f, []encoders.Ref{{Frame: base, Memo: past}}, spare, nil)
		if err != nil {
			return err
		}
		rows += e.changed.Count()
		bytes += len(packet)
		out, past, spare = packet, next, past
		base.CopyFrom(f)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	last := e.initial
	if m, ok := past.(*memo); ok {
		last = m
	}
	return last, float64(8*bytes) / float64(max(rows, 1)), nil
}

// copy takes over what another memo has learnt.
func (m *memo) copy(from *memo) {
	m.pace = from.pace
	m.model, m.weights, m.records = slices.Clone(from.model), slices.Clone(from.weights), slices.Clone(from.records)
	m.unit, m.speeds = slices.Clone(from.unit), slices.Clone(from.speeds)
	m.pushes, m.steps = slices.Clone(from.pushes), slices.Clone(from.steps)
}
