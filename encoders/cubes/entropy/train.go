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

// Trainers returns the trainer of the probabilities that adaptive starts with.
func Trainers() []train.Trainer {
	suits := func(s *frame.Schema) bool { return frame.IsCubes(s) && s.Rows == frame.WalkoffCubes }
	return []train.Trainer{{Encoder: "adaptive", Suits: suits, From: "snapshots of 901 cubes", Per: "changed cube", Train: trainStatic}}
}

// trainer encodes clips repeatedly with a coder that is being trained.
type trainer struct {
	job   train.Job
	log   train.Log
	coder *coder
	done  int64 // clips encoded so far, over all passes
	total int64 // clips to encode, for the progress log
}

// pass encodes clips, each frame with the frame six before it as the baseline, and returns the bits per
// changed cube. partName is the part of the model that is trained, for errors.
func (s *trainer) pass(ctx context.Context, partName string, clips ...train.Clip) (float64, error) {
	var units, cubes int64
	for _, clip := range clips {
		s.log.Progress("passes", s.done, s.total)
		if err := s.encodeClip(ctx, clip, &units, &cubes); err != nil {
			return 0, fmt.Errorf("%s, %s: %w", partName, clip.Name, err)
		}
		s.done++
	}
	return float64(units) / encoders.BitUnit / float64(max(cubes, 1)), nil
}

// encodeClip encodes a clip, and adds its size in 1/encoders.BitUnit bits to units and the number of
// changed cubes to cubes.
func (s *trainer) encodeClip(ctx context.Context, clip train.Clip, units, cubes *int64) error {
	if err := cube.CheckSchema(clip.Schema); err != nil {
		return err
	}
	s.coder.resize(clip.Schema.Rows, newMemo(clip.Schema.Rows, nil))
	const allFrames = 0
	var buf []byte
	return clip.Chain(allFrames, func(_ int, cur, base *frame.Frame, memo, spare encoders.Memo) (next encoders.Memo, err error) {
		if buf, next, err = s.coder.Encode(buf[:0], cur, []encoders.Ref{{Frame: base, Memo: memo}}, spare,
			nil); err != nil {
			return nil, err
		}
		*units += s.coder.Spent()
		*cubes += int64(cur.ChangedRows(base, frame.CubeFields))
		return next, ctx.Err()
	})
}

// setTotal sets s.total for the given number of passes over all clips, with the held-out clip if any.
func (s *trainer) setTotal(passes int) {
	s.total = int64(passes * (len(s.job.Clips) + rangecoder.Flag(s.job.Held != nil)))
}

// report measures the held-out clip, if any, and reports a point of the loss curve; bits is the cost
// of the clips that were trained with.
func (s *trainer) report(ctx context.Context, part string, epoch int, bits float64) error {
	held, err := s.job.MeasureHeld(func(c train.Clip) (float64, error) { return s.pass(ctx, part, c) })
	if err == nil {
		s.log.Report(train.Point{Part: part, Epoch: epoch, Train: bits, Held: held})
	}
	return err
}

// trainStatic counts the decisions in each context of contextCoder in one pass. A second pass measures
// the resulting probabilities.
func trainStatic(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	counts := make(decisionCounts, ctxSize)
	model, err := newCounters(nil, ctxSize, 0) // probabilities of 1/2
	if err != nil {
		return nil, err
	}
	contexts := &contextCoder{fixed: model, counts: &counts}
	// The coder begins with one cube; encodeClip sets the number of each clip. Probabilities that never change need no counters in memos.
	passes := &trainer{job: job, log: log, coder: newCoder(1, contexts, newMemo(1, nil))}
	passes.setTotal(2)
	if _, err := passes.pass(ctx, "probabilities", job.Clips...); err != nil {
		return nil, err
	}
	contexts.counts = nil
	table := counts.logits()
	if contexts.fixed, err = newCounters(table, ctxSize, 0); err != nil {
		return nil, err
	}
	bits, err := passes.pass(ctx, "probabilities", job.Clips...)
	if err != nil {
		return nil, err
	}
	if err := passes.report(ctx, "probabilities", 1, bits); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "static.tab", Data: table}})
}
