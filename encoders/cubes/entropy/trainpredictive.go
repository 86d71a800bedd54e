package entropy

import (
	"context"

	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

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
	s := &trainer{ctx: ctx, job: job, log: log, end: newCoder(1, p, t.memo(1))}
	s.expect(fitPasses + scalePasses + 1 + weightPasses + 1)
	for _, lesson := range []func(*trainer, *predictive, *trainedModel) error{
		trainPredictions, trainScale, trainProbabilities, trainWeights,
	} {
		if err := lesson(s, p, t); err != nil {
			return nil, err
		}
		if err := t.quantise(); err != nil {
			return nil, err
		}
	}
	s.end.Initial = t.memo(1) // as the codec will read it
	if err := s.epoch(p, t, "everything", 1); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{{Name: "predictive.tab", Data: t.bytes()}})
}

// epoch runs a pass over the clips and reports it. The held-out clip is measured without
// training.
func (s *trainer) epoch(p *predictive, t *trainedModel, part string, epoch int) error {
	bits, err := s.pass(part, s.job.Clips...)
	if err != nil {
		return err
	}
	fit, counts, rate, weights := p.fit, p.counts, p.scale.rate, p.trainedWeights
	p.fit, p.counts, p.scale.rate, p.trainedWeights = nil, nil, 0, nil
	s.end.Initial = t.memo(1)
	err = s.report(part, epoch, bits)
	p.fit, p.counts, p.scale.rate, p.trainedWeights = fit, counts, rate, weights
	return err
}

func trainPredictions(s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range fitPasses {
		p.fit = &fits{newFit(shiftFeatures, 4), newFit(turnFeatures, spinOne/100)}
		if err := s.epoch(p, t, "predictions", epoch+1); err != nil {
			return err
		}
		copy(t.shifts, p.fit.shift.weights())
		copy(t.turns, p.fit.turn.weights())
	}
	p.fit = nil
	return nil
}

func trainScale(s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range scalePasses {
		p.scale.rate = int32(rangecoder.One / 400 >> (2 * epoch))
		if err := s.epoch(p, t, "scale", epoch+1); err != nil {
			return err
		}
	}
	p.scale.rate = 0
	return nil
}

func trainProbabilities(s *trainer, p *predictive, t *trainedModel) error {
	counts := make(decisionCounts, trainedN)
	p.counts = &counts
	if err := s.epoch(p, t, "probabilities", 1); err != nil {
		return err
	}
	p.counts = nil
	for i, b := range counts.table() {
		t.trained[i] = int8(b)
	}
	return nil
}

func trainWeights(s *trainer, p *predictive, t *trainedModel) error {
	for epoch := range weightPasses {
		p.rate = int32(60 >> (2 * epoch))
		p.trainedWeights = t.weights
		if err := s.epoch(p, t, "weights", epoch+1); err != nil {
			return err
		}
	}
	p.rate, p.trainedWeights = learnRate, nil
	return nil
}
