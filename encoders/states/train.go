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
	return []train.Trainer{{Encoder: "delta-trained", Folder: "encoders/states", Model: true, Suits: suits, Train: learnBook, Per: "changed row",
		From: "a match or a table with floats, hints or parts, as quake3:FILE, teeworlds:FILE or table:SCHEMA.toml,FILE"}}
}

// learnBook makes a book of clips. Their first halves are learnt, then weights and records of
// the second ones, which are new to what was learnt; and then all of them. The curve tells bits
// per changed row.
func learnBook(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	if len(job.Clips) == 0 {
		return nil, fmt.Errorf("states: nothing to learn from")
	}
	lengths := make([]int, len(job.Clips))
	for i, clip := range job.Clips {
		err := clip.Frames(func(*frame.Frame) error {
			lengths[i]++
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if job.Quick {
			lengths[i] = min(lengths[i], 400)
		}
	}
	var first, whole, second lesson
	steps := []struct {
		name string
		*lesson
		from, to func(n int) int
	}{
		{"first halves", &first, func(int) int { return 0 }, func(n int) int { return n / 2 }},
		{"second halves, by those", &second, func(n int) int { return n / 2 }, func(n int) int { return n }},
		{"all", &whole, func(int) int { return 0 }, func(n int) int { return n }},
	}
	for epoch, s := range steps {
		if s.lesson == &second {
			second.book = first.last.initial.model
		} else {
			s.large = true
		}
		for i, clip := range job.Clips {
			n := lengths[i]
			if err := s.learn(ctx, clip, s.from(n), s.to(n), log); err != nil {
				return nil, err
			}
		}
		if log.Point != nil {
			log.Point(train.Point{Part: s.name, Epoch: epoch + 1, Train: s.perRow(), Held: math.NaN()})
		}
	}
	e := second.last
	e.x.book = whole.last.initial.model
	data, err := e.write()
	if err != nil {
		return nil, err
	}
	if job.Held != nil && log.Point != nil {
		held := lesson{data: data}
		if err := held.learn(ctx, *job.Held, 0, math.MaxInt, log); err != nil {
			return nil, err
		}
		log.Point(train.Point{Part: "held", Epoch: len(steps) + 1, Train: math.NaN(), Held: held.perRow()})
	}
	return []train.File{{Name: "match.book", Data: data}}, nil
}

// lesson is one way through clips.
type lesson struct {
	large       bool      // with as many counters as a book has
	book        []counter // to learn by
	data        []byte    // or the file of a whole one
	last        *coder    // what was learnt is what it begins with
	rows, bytes int
}

func (l *lesson) perRow() float64 { return float64(8*l.bytes) / float64(max(l.rows, 1)) }

// learn encodes frames from..to of a clip.
func (l *lesson) learn(ctx context.Context, clip train.Clip, from, to int, log train.Log) error {
	e := newCoder(clip.Schema, usual)
	if l.data != nil {
		if err := e.open(l.data); err != nil {
			return fmt.Errorf("states: %s: %w", clip.Name, err)
		}
	}
	if l.book != nil {
		e.x.book = l.book
	}
	if l.large {
		e.initial.model, e.initial.shift = make([]counter, 1<<bookBits), 32-bookBits
		for i := range e.initial.model {
			e.initial.model[i] = newCounter
		}
	}
	if l.last != nil {
		if l.last.shape() != e.shape() {
			return fmt.Errorf("states: %s: %w", clip.Name, errShape)
		}
		e.initial.copy(l.last.initial)
	}
	base := e.schema.NewFrame()
	var past, spare encoders.Memo
	var out []byte
	n := 0
	err := clip.Frames(func(f *frame.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n++; n <= from || n > to {
			return nil
		}
		if log.Step != nil && n%100 == 0 {
			log.Step(clip.Name, int64(n-from), int64(min(to, 1<<20)-from))
		}
		packet, next, err := e.Encode(out[:0], f, []encoders.Ref{{Frame: base, Memo: past}}, spare, nil)
		if err != nil {
			return err
		}
		l.rows += e.changed.Count()
		l.bytes += len(packet)
		out, past, spare = packet, next, past
		base.CopyFrom(f)
		return nil
	})
	if m, ok := past.(*memo); ok {
		e.initial.copy(m)
	}
	l.last = e
	return err
}

// copy takes over what another memo has learnt.
func (m *memo) copy(from *memo) {
	m.pace = from.pace
	m.model, m.weights, m.records = slices.Clone(from.model), slices.Clone(from.weights), slices.Clone(from.records)
	m.unit, m.speeds = slices.Clone(from.unit), slices.Clone(from.speeds)
	m.pushes, m.steps = slices.Clone(from.pushes), slices.Clone(from.steps)
}
