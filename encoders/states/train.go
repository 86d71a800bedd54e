package states

import (
	"context"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// Trainers returns the trainer of delta-trained. It learns as the codec does, from one match after
// the other, each frame against the one before.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "delta-trained", Folder: "encoders/states", Model: true, Suits: suits, Train: learnBook, Per: "changed row",
		From: "a match or a table with floats, hints or parts, as quake3:FILE, teeworlds:FILE or table:SCHEMA.toml,FILE"}}
}

// learnBook makes a book of clips, in three lessons: counters of their first halves; with these as
// pretrained counters, weights and error distributions of their second halves; and counters of
// all frames, which are the book's. The curve is in bits per changed row.
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
	first, second, whole := lesson{large: true}, lesson{}, lesson{large: true}
	for epoch, s := range []struct {
		name string
		*lesson
		from, to int // halves of clips
	}{{"first halves", &first, 0, 1}, {"second halves, by those", &second, 1, 2}, {"all", &whole, 0, 2}} {
		if s.lesson == &second {
			second.pretrained = first.last.Initial.counters
		}
		for i, clip := range job.Clips {
			n := lengths[i]
			if err := s.learn(ctx, clip, s.from*n/2, s.to*n/2, log); err != nil {
				return nil, err
			}
		}
		log.Report(train.Point{Part: s.name, Epoch: epoch + 1, Train: s.perRow(), Held: math.NaN()})
	}
	e := second.last
	e.x.Pretrained = whole.last.Initial.counters
	data, err := e.write()
	if err != nil {
		return nil, err
	}
	if job.Held != nil && log.Point != nil {
		held := lesson{book: data}
		if err := held.learn(ctx, *job.Held, 0, math.MaxInt, log); err != nil {
			return nil, err
		}
		log.Report(train.Point{Part: "held", Epoch: 4, Train: math.NaN(), Held: held.perRow()})
	}
	return []train.File{{Name: "match.book", Data: data}}, nil
}

// lesson is one pass over clips.
type lesson struct {
	large       bool                      // with as many counters as a book has
	pretrained  []rangecoder.StateCounter // nil if there are none
	book        []byte                    // the file to begin with; nil if there is none
	last        *coder                    // its initial state is what was learnt
	rows, bytes int
}

func (l *lesson) perRow() float64 { return float64(8*l.bytes) / float64(max(l.rows, 1)) }

// learn encodes frames from..to of a clip.
func (l *lesson) learn(ctx context.Context, clip train.Clip, from, to int, log train.Log) error {
	e := newCoder(clip.Schema, usualLimit, usualRate)
	if l.book != nil {
		if err := e.open(l.book); err != nil {
			return fmt.Errorf("states: %s: %w", clip.Name, err)
		}
	}
	if l.pretrained != nil {
		e.x.Pretrained = l.pretrained
	}
	if l.large {
		e.Initial.counters = make([]rangecoder.StateCounter, 1<<rangecoder.PretrainedBits)
		rangecoder.Fill(e.Initial.counters, rangecoder.NewStateCounter)
	}
	if l.last != nil {
		if l.last.shape() != e.shape() {
			return fmt.Errorf("states: %s: %w", clip.Name, errShape)
		}
		e.Initial.learnt.copyFrom(&l.last.Initial.learnt)
	}
	base := e.schema.NewFrame()
	var past, spare encoders.Memo
	var out []byte
	n := 0
	err := clip.Frames(func(f *frame.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		n++
		if n <= from || n > to {
			return nil
		}
		if n%100 == 0 {
			log.Progress(clip.Name, int64(n-from), int64(min(to, 1<<20)-from))
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
		e.Initial.learnt.copyFrom(&m.learnt)
	}
	l.last = e
	return err
}
