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

// folder is the folder of the trained tables, from the project's root.
const folder = "encoders/cubes/entropy"

// Trainers returns the trainers of static, whose probabilities adaptive starts with, and of
// predictive.
func Trainers() []train.Trainer {
	return []train.Trainer{
		{Encoder: "static", Folder: folder, Train: trainStatic},
		{Encoder: "predictive", Folder: folder, Train: trainPredictive},
	}
}

// maxQuickFrames bounds the frames of a clip that a quick job uses.
const maxQuickFrames = 120

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
	s.coder.resize(clip.Schema.Rows, newMemo(clip.Schema.Rows, s.coder.Initial.counters, s.coder.Initial.weights))
	limit := 0 // all frames
	if s.job.Quick {
		limit = maxQuickFrames
	}
	var buf []byte
	return clip.Chain(limit, func(_ int, cur, base *frame.Frame, memo, spare encoders.Memo) (next encoders.Memo, err error) {
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
	// The coder begins with one cube; encodeClip sets the number of each clip. Static has no counters and weights.
	passes := &trainer{job: job, log: log, coder: newCoder(1, contexts, newMemo(1, nil, nil))}
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

// Passes over the clips for each part of predictive.
const (
	fitPasses    = 4
	sizePasses   = 2
	weightPasses = 2
)

// trainPredictive trains the parts of predictive one after the other, each with the parts before in
// place: the linear predictions, the sizes of residuals, the probabilities of decisions, and the
// mixing weights.
func trainPredictive(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	t := newTrainedModel()
	// Start with constant velocity: a weight of 1 for the feature of the last shift, or of the last turn.
	for c := range numLinearClasses {
		t.shiftWeights[c*numShiftFeatures+1], t.turnWeights[c*numTurnFeatures] = weightOne, weightOne
	}
	for i := range t.mixerWeights {
		for j := range setSize {
			t.mixerWeights[i][j] = rangecoder.Unit / 4 // a weight of 1/4
		}
	}
	p := t.newTraversal(defaultLimit, 0)
	// The coder begins with one cube; encodeClip sets the number of each clip.
	s := &trainer{job: job, log: log, coder: newCoder(1, p, t.initialMemo(1))}
	const countPasses, measurePasses = 1, 1 // of trainProbabilities, and of the complete model
	s.setTotal(fitPasses + sizePasses + countPasses + weightPasses + measurePasses)
	for _, trainPart := range []func(context.Context, *trainer, *predictive, *trainedModel) error{
		trainPredictions, trainSizes, trainProbabilities, trainWeights,
	} {
		if err := trainPart(ctx, s, p, t); err != nil {
			return nil, err
		}
		if err := t.quantise(); err != nil {
			return nil, err
		}
	}
	// Measure the complete model with the weights that a codec will read.
	s.coder.Initial = t.initialMemo(1) // of one cube; encodeClip sets the number of cubes
	if err := s.epoch(ctx, p, t, "everything", 1); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "predictive.tab", Data: t.encode()}})
}

// epoch runs a pass over the clips and reports it. The held-out clip is measured with training
// switched off in p.
func (s *trainer) epoch(ctx context.Context, p *predictive, t *trainedModel, part string, epoch int) error {
	bits, err := s.pass(ctx, part, s.job.Clips...)
	if err != nil {
		return err
	}
	fit, counts, rate, weights := p.fits, p.counts, p.sizeModel.rate, p.trainedWeights
	p.fits, p.counts, p.sizeModel.rate, p.trainedWeights = nil, nil, 0, nil
	s.coder.Initial = t.initialMemo(1) // of one cube; encodeClip sets the number of cubes
	err = s.report(ctx, part, epoch, bits)
	p.fits, p.counts, p.sizeModel.rate, p.trainedWeights = fit, counts, rate, weights
	return err
}

// trainPredictions fits the weights of both linear models, with as many passes as reweighted least
// squares need.
func trainPredictions(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range fitPasses {
		// Errors well below 4 units of position, or a turn of 0.01, all count the same: see fit.softening.
		p.fits = &fits{newFit(numShiftFeatures, 4), newFit(numTurnFeatures, turnUnit/100)}
		if err := s.epoch(ctx, p, t, "predictions", epoch+1); err != nil {
			return err
		}
		copy(t.shiftWeights, p.fits.shift.solveWeights())
		copy(t.turnWeights, p.fits.turn.solveWeights())
	}
	p.fits = nil
	return nil
}

// trainSizes trains the size model by stochastic gradient descent, at a rate that falls by 4 with each
// pass.
func trainSizes(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range sizePasses {
		p.sizeModel.rate = int32(rangecoder.One / 400 >> (2 * epoch)) // 1/400, then 1/1600
		if err := s.epoch(ctx, p, t, "scale", epoch+1); err != nil {
			return err
		}
	}
	p.sizeModel.rate = 0
	return nil
}

// trainProbabilities counts the decisions in each context in one pass.
func trainProbabilities(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	counts := make(decisionCounts, numTrained)
	p.counts = &counts
	if err := s.epoch(ctx, p, t, "probabilities", 1); err != nil {
		return err
	}
	p.counts = nil
	for i, b := range counts.logits() {
		t.logits[i] = int8(b)
	}
	return nil
}

// trainWeights trains the mixing weights, which continue from frame to frame here, at a rate that
// falls by 4 with each pass.
func trainWeights(ctx context.Context, s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range weightPasses {
		p.rate = int32(60 >> (2 * epoch))
		p.trainedWeights = t.mixerWeights
		if err := s.epoch(ctx, p, t, "weights", epoch+1); err != nil {
			return err
		}
	}
	p.rate, p.trainedWeights = defaultRate, nil
	return nil
}
