package entropy

import (
	"context"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/train"
)

// folder is where the trained tables are embedded, from the project's root.
const folder = "encoders/cubes/entropy"

// Trainers returns the trainers of static's tables, with which adaptive begins, and of
// predictive's.
func Trainers() []train.Trainer {
	return []train.Trainer{
		{Encoder: "static", Folder: folder, Train: trainStatic},
		{Encoder: "predictive", Folder: folder, Train: trainPredictive},
	}
}

// age is the age of the baseline in the walk-off: frame n is coded from frame n-6.
const age = 6

// quickFrames bounds the frames of a clip that a quick job uses.
const quickFrames = 120

// trainer passes an encoder over clips repeatedly.
type trainer struct {
	ctx   context.Context
	job   train.Job
	log   train.Log
	end   *coder
	done  int64 // passes over a clip
	total int64
}

// pass encodes clips by the walk-off's rules and returns the bits for each changed cube.
func (s *trainer) pass(what string, clips ...train.Clip) (float64, error) {
	var units, cubes int64
	for _, clip := range clips {
		if s.log.Step != nil {
			s.log.Step("passes", s.done, s.total)
		}
		if err := s.clip(clip, &units, &cubes); err != nil {
			return 0, fmt.Errorf("%s, %s: %w", what, clip.Name, err)
		}
		s.done++
	}
	return float64(units) / encoders.BitUnit / float64(max(cubes, 1)), nil
}

func (s *trainer) clip(clip train.Clip, units, cubes *int64) error {
	if err := cube.CheckSchema(clip.Schema); err != nil {
		return err
	}
	s.end.rows, s.end.compared = clip.Schema.Rows, frame.NewRows(clip.Schema.Rows)
	s.end.initial = newMemo(s.end.rows, s.end.initial.model, s.end.initial.weights)
	var chain [age]chainLink
	n := 0
	var buf []byte
	return clip.Frames(func(f *frame.Frame) (err error) {
		l := &chain[n%age]
		if s.job.Quick && n > quickFrames {
			return nil
		}
		l.next.CopyFrom(f)
		l.next.Tick = uint32(n)
		if n >= age {
			refs := [1]encoders.Ref{{Frame: &l.held, Memo: l.memo}}
			var memo encoders.Memo
			if buf, memo, err = s.end.Encode(buf[:0], &l.next, refs[:], l.spare, nil); err != nil {
				return err
			}
			*units += s.end.c.Spent()
			*cubes += int64(l.next.ChangedRows(&l.held, frame.CubeFields))
			l.memo, l.spare = memo, l.memo
		}
		l.held, l.next = l.next, l.held
		n++
		return s.ctx.Err()
	})
}

// chainLink is the newest frame of one chain of references, with its memo.
type chainLink struct {
	held, next  frame.Frame
	memo, spare encoders.Memo
}

// expect announces the number of passes over all clips.
func (s *trainer) expect(passes int) {
	s.total = int64(passes * (len(s.job.Clips) + flag(s.job.Held != nil)))
}

// report logs a pass, and measures the held-out clip.
func (s *trainer) report(part string, epoch int, bits float64) error {
	held := math.NaN()
	if s.job.Held != nil {
		var err error
		if held, err = s.pass(part, *s.job.Held); err != nil {
			return err
		}
	}
	if s.log.Point != nil {
		s.log.Point(train.Point{Part: part, Epoch: epoch, Train: bits, Held: held})
	}
	return nil
}

// trainStatic counts the decisions of each context of contextCoder.
func trainStatic(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	counts := make(decisionCounts, ctxSize)
	model, err := appendCounters(nil, nil, ctxSize, 0)
	if err != nil {
		return nil, err
	}
	l := &contextCoder{fixed: model, counts: &counts}
	s := &trainer{ctx: ctx, job: job, log: log, end: &coder{initial: newMemo(1, nil, nil), body: l}}
	s.expect(2)
	if _, err := s.pass("probabilities", job.Clips...); err != nil {
		return nil, err
	}
	l.counts = nil
	table := counts.table()
	if l.fixed, err = appendCounters(nil, table, ctxSize, 0); err != nil {
		return nil, err
	}
	bits, err := s.pass("probabilities", job.Clips...)
	if err != nil {
		return nil, err
	}
	if err := s.report("probabilities", 1, bits); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "static.tab", Data: table}})
}
