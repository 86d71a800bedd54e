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
	job   train.Job
	log   train.Log
	end   *coder
	done  int64 // passes over a clip
	total int64
}

// pass encodes clips by the walk-off's rules and returns the bits for each changed cube.
func (s *trainer) pass(ctx context.Context, what string, clips ...train.Clip) (float64, error) {
	var units, cubes int64
	for _, clip := range clips {
		s.log.Progress("passes", s.done, s.total)
		if err := s.clip(ctx, clip, &units, &cubes); err != nil {
			return 0, fmt.Errorf("%s, %s: %w", what, clip.Name, err)
		}
		s.done++
	}
	return float64(units) / encoders.BitUnit / float64(max(cubes, 1)), nil
}

func (s *trainer) clip(ctx context.Context, clip train.Clip, units, cubes *int64) error {
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
		return next, ctx.Err()
	})
}

// expect announces the number of passes over all clips.
func (s *trainer) expect(passes int) {
	s.total = int64(passes * (len(s.job.Clips) + rangecoder.Flag(s.job.Held != nil)))
}

// report logs a pass, and measures the held-out clip.
func (s *trainer) report(ctx context.Context, part string, epoch int, bits float64) error {
	held, err := s.job.MeasureHeld(func(c train.Clip) (float64, error) { return s.pass(ctx, part, c) })
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
	s := &trainer{job: job, log: log, end: newCoder(1, l, newMemo(1, nil, nil))}
	s.expect(2)
	if _, err := s.pass(ctx, "probabilities", job.Clips...); err != nil {
		return nil, err
	}
	l.counts = nil
	table := counts.table()
	if l.fixed, err = newCounters(table, ctxSize, 0); err != nil {
		return nil, err
	}
	bits, err := s.pass(ctx, "probabilities", job.Clips...)
	if err != nil {
		return nil, err
	}
	if err := s.report(ctx, "probabilities", 1, bits); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "static.tab", Data: table}})
}

// Passes over the clips for each part of predictive.
const (
	fitPasses    = 4
	scalePasses  = 2
	weightPasses = 2
)

// trainPredictive trains the parts of predictive one after the other, each with those
// before: predictions, the size of residuals, probabilities of decisions, and mixing
// weights.
func trainPredictive(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	t := newTrainedModel()
	for c := range classes { // start with constant velocity
		t.shifts[c*shiftFeatures+1], t.turns[c*turnFeatures] = weightOne, weightOne
	}
	for i := range t.weights {
		for j := range setSize {
			t.weights[i][j] = rangecoder.Unit / 4
		}
	}
	p := t.body(learnLimit, 0)
	s := &trainer{job: job, log: log, end: newCoder(1, p, t.memo(1))}
	s.expect(fitPasses + scalePasses + 1 + weightPasses + 1)
	for _, lesson := range []func(context.Context, *trainer, *predictive, *trainedModel) error{
		trainPredictions, trainScale, trainProbabilities, trainWeights,
	} {
		if err := lesson(ctx, s, p, t); err != nil {
			return nil, err
		}
		if err := t.quantise(); err != nil {
			return nil, err
		}
	}
	s.end.Initial = t.memo(1) // as the codec will read it
	if err := s.epoch(ctx, p, t, "everything", 1); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "predictive.tab", Data: t.bytes()}})
}

// epoch runs a pass over the clips and reports it. The held-out clip is measured without
// training.
func (s *trainer) epoch(ctx context.Context, p *predictive, t *trainedModel, part string, epoch int) error {
	bits, err := s.pass(ctx, part, s.job.Clips...)
	if err != nil {
		return err
	}
	fit, counts, rate, weights := p.fit, p.counts, p.scale.rate, p.trainedWeights
	p.fit, p.counts, p.scale.rate, p.trainedWeights = nil, nil, 0, nil
	s.end.Initial = t.memo(1)
	err = s.report(ctx, part, epoch, bits)
	p.fit, p.counts, p.scale.rate, p.trainedWeights = fit, counts, rate, weights
	return err
}

func trainPredictions(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range fitPasses {
		p.fit = &fits{newFit(shiftFeatures, 4), newFit(turnFeatures, spinOne/100)}
		if err := s.epoch(ctx, p, t, "predictions", epoch+1); err != nil {
			return err
		}
		copy(t.shifts, p.fit.shift.weights())
		copy(t.turns, p.fit.turn.weights())
	}
	p.fit = nil
	return nil
}

func trainScale(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range scalePasses {
		p.scale.rate = int32(rangecoder.One / 400 >> (2 * epoch))
		if err := s.epoch(ctx, p, t, "scale", epoch+1); err != nil {
			return err
		}
	}
	p.scale.rate = 0
	return nil
}

func trainProbabilities(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	counts := make(decisionCounts, trainedN)
	p.counts = &counts
	if err := s.epoch(ctx, p, t, "probabilities", 1); err != nil {
		return err
	}
	p.counts = nil
	for i, b := range counts.table() {
		t.trained[i] = int8(b)
	}
	return nil
}

func trainWeights(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range weightPasses {
		p.rate = int32(60 >> (2 * epoch))
		p.trainedWeights = t.weights
		if err := s.epoch(ctx, p, t, "weights", epoch+1); err != nil {
			return err
		}
	}
	p.rate, p.trainedWeights = learnRate, nil
	return nil
}
