package entropy

import (
	"context"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
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
		s.log.Progress("passes", s.done, s.total)
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
	s.end.resize(clip.Schema.Rows, newMemo(clip.Schema.Rows, s.end.Initial.counters, s.end.Initial.weights))
	limit := 0
	if s.job.Quick {
		limit = quickFrames
	}
	var buf []byte
	return clip.Chain(limit, func(_ int, cur, base *frame.Frame, memo, spare encoders.Memo) (next encoders.Memo, err error) {
		if buf, next, err = s.end.Encode(buf[:0], cur, []encoders.Ref{{Frame: base, Memo: memo}}, spare, nil); err != nil {
			return nil, err
		}
		*units += s.end.Spent()
		*cubes += int64(cur.ChangedRows(base, frame.CubeFields))
		return next, s.ctx.Err()
	})
}

// expect announces the number of passes over all clips.
func (s *trainer) expect(passes int) {
	s.total = int64(passes * (len(s.job.Clips) + rangecoder.Flag(s.job.Held != nil)))
}

// report logs a pass, and measures the held-out clip.
func (s *trainer) report(part string, epoch int, bits float64) error {
	held, err := s.job.MeasureHeld(func(c train.Clip) (float64, error) { return s.pass(part, c) })
	if err == nil {
		s.log.Report(train.Point{Part: part, Epoch: epoch, Train: bits, Held: held})
	}
	return err
}

// trainStatic counts the decisions of each context of contextCoder.
func trainStatic(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	counts := make(decisionCounts, ctxSize)
	model, err := newCounters(nil, ctxSize, 0)
	if err != nil {
		return nil, err
	}
	l := &contextCoder{fixed: model, counts: &counts}
	s := &trainer{ctx: ctx, job: job, log: log, end: newCoder(1, l, newMemo(1, nil, nil))}
	s.expect(2)
	if _, err := s.pass("probabilities", job.Clips...); err != nil {
		return nil, err
	}
	l.counts = nil
	table := counts.table()
	if l.fixed, err = newCounters(table, ctxSize, 0); err != nil {
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
