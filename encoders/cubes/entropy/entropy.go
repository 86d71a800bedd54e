// Package entropy holds the cube encoders that spend fractions of bits: they say
// how likely everything is and leave the rest to a range coder.
//
//	static      probabilities trained on other recordings, fixed
//	adaptive    probabilities that are learnt along the chain of baselines
//	predictive  where a cube will be, computed; several opinions mixed on the rest
//
// What an encoder learns it attaches to the frame as its memo, a function of the
// frame, its baseline and the baseline's memo. Whoever holds the baseline holds
// the memo: so they learn, and yet no loss can ever drive two ends apart. That is
// also why a cube's velocity is known only from its baseline and that one's own
// baseline, and never from the frame in between, which the other end may lack.
//
// Each body is written once, as a traversal by a coder that writes the values it
// is handed or replaces them by what it reads.
package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Static codes changed cubes by trained probabilities that never change.
func Static() encoders.Codec {
	return encoders.Codec{
		ID: 16, Name: "static", Refs: 1, Suits: frame.IsCubes,
		Summary: "range coder with probabilities trained on other recordings; the change of velocity instead of the difference",
		Source:  "after gaffer_net, Fabian Giesen, 2015",
		New: build(func(rows int, _ any) (traversal, *memo, error) {
			model, err := appendCounters(nil, staticTable, ctxSize, 0)
			return &contextCoder{fixed: model}, newMemo(rows, nil, nil), err
		}),
	}
}

// AdaptiveParams are how adaptive learns.
type AdaptiveParams struct {
	Limit   int  `toml:"limit" help:"how many decisions a probability rests on at most; fewer forget faster" unit:"decisions" min:"8" max:"1000"`
	Trained bool `toml:"trained" help:"begin with what static knows instead of with nothing"`
}

// trust is how many decisions a trained probability counts for in adaptive.
const trainedCount = 40

// Adaptive learns the probabilities on the way, from one baseline to the next.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 17, Name: "adaptive", Refs: 1, Suits: frame.IsCubes,
		Summary: "the same contexts, but probabilities are learnt along the chain of baselines",
		Source:  "gaffer_net, Fabian Giesen, 2015",
		Params:  &AdaptiveParams{Limit: 250, Trained: true},
		New: build(func(rows int, params any) (traversal, *memo, error) {
			p := params.(*AdaptiveParams)
			table := staticTable
			if !p.Trained {
				table = nil
			}
			model, err := appendCounters(nil, table, ctxSize, trainedCount)
			return &contextCoder{limit: p.Limit}, newMemo(rows, model, nil), err
		}),
	}
}

// PredictiveParams are how predictive learns.
type PredictiveParams struct {
	Limit int `toml:"limit" help:"how many decisions a probability that is learnt rests on at most" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"how fast it learns whom of its opinions to believe; 0: as it was trained" min:"0" max:"1000"`
}

// Defaults of PredictiveParams, which its trainer goes by too.
const (
	learnLimit = 500
	learnRate  = 60
)

// Predictive computes where a cube will be and how it will lie, and codes what is
// left, by several opinions at once.
func Predictive() encoders.Codec {
	return encoders.Codec{
		ID: 18, Name: "predictive", Refs: 1, Suits: frame.IsCubes,
		Summary: "motion and turn predicted from two baselines and from the neighbours; the rest by mixed probabilities",
		Source:  "after DeltaCompress, Alexander Maxwell, 2016",
		Params:  &PredictiveParams{Limit: learnLimit, Rate: learnRate},
		New: build(func(rows int, params any) (traversal, *memo, error) {
			p := params.(*PredictiveParams)
			k, err := readTrainedModel(predictiveTable)
			if err != nil {
				return nil, nil, err
			}
			return k.body(p.Limit, int32(p.Rate)), k.memo(rows), nil
		}),
	}
}

// build returns the New of a codec whose body, and memo of the initial state,
// are made by of for so many cubes.
func build(of func(rows int, params any) (traversal, *memo, error)) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := cube.CheckSchema(s); err != nil {
			return nil, nil, err
		}
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		var ends [2]*coder
		for i := range ends {
			b, initial, err := of(s.Rows, params)
			if err != nil {
				return nil, nil, err
			}
			ends[i] = &coder{rows: s.Rows, initial: initial, body: b}
		}
		return ends[0], ends[1], nil
	}
}
