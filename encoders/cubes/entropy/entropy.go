// Package entropy implements three encoders of cubes that model probabilities and use a range coder:
//
//	static      fixed probabilities, trained on other recordings
//	adaptive    probabilities learned along the chain of baselines
//	predictive  predicted position and orientation; residuals by logistic mixing (PAQ)
//
// A packet is one range-coded stream without a header. For each cube it holds, in this order:
//
//  1. whether the cube changed since the baseline
//  2. if so whether the position changed, and then x, y and z as residuals of a prediction
//  3. whether the orientation changed, and then which component is the largest and the other three
//     as residuals
//  4. whether the interacting flag changed; not coded if nothing else did, because it must have
//
// static and adaptive code the cubes in the order of rows, predictive by distance from the player.
//
// What an encoder learns is attached to the frame as its memo, a function of the frame, its baseline
// and the baseline's memo alone. A receiver that holds the baseline holds the same memo as the
// sender, so packet loss cannot desynchronise the two. For the same reason the velocity of a cube is
// its motion between the baseline and the baseline's own baseline: the receiver may lack the frames
// in between.
//
// Each codec has one traversal for both directions. Its coder either writes the values that it is
// given or replaces them with those that it reads.
package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Static returns the codec static, with trained probabilities that never change.
func Static() encoders.Codec {
	return encoders.Codec{
		ID: 16, Name: "static", Refs: 1, Suits: frame.IsCubes,
		Summary: "range coder with probabilities trained on other recordings; codes changes of velocity",
		Source:  "after gaffer_net, Fabian Giesen, 2015",
		New: newCodecFunc(func(rows int, _ any) (traversal, *memo, error) {
			table, err := staticTable()
			if err != nil {
				return nil, nil, err
			}
			counters, err := newCounters(table, ctxSize, 0) // no updates: static's probabilities never change
			return &contextCoder{fixed: counters}, newMemo(rows, nil, nil), err
		}),
	}
}

// adaptiveParams are the parameters of adaptive.
type adaptiveParams struct {
	Limit int `toml:"limit" help:"largest number of decisions that a probability averages; smaller adapts faster" unit:"decisions" min:"8" max:"1000"`

	Trained bool `toml:"trained" help:"start with the trained probabilities of static instead of 1/2"`
}

// trainedCount is the number of decisions that a trained probability counts as in adaptive: how
// slowly it changes at first.
const trainedCount = 40

// Adaptive returns the codec adaptive, which learns its probabilities from one baseline to the next.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 17, Name: "adaptive", Refs: 1, Suits: frame.IsCubes,
		Summary: "the contexts of static, but probabilities are learned along the chain of baselines",
		Source:  "gaffer_net, Fabian Giesen, 2015",
		Params:  &adaptiveParams{Limit: 250, Trained: true},
		New: newCodecFunc(func(rows int, params any) (traversal, *memo, error) {
			p := params.(*adaptiveParams)
			table, err := staticTable()
			if err != nil {
				return nil, nil, err
			}
			if !p.Trained {
				table = nil
			}
			counters, err := newCounters(table, ctxSize, trainedCount)
			return &contextCoder{limit: p.Limit}, newMemo(rows, counters, nil), err
		}),
	}
}

// predictiveParams are the parameters of predictive.
type predictiveParams struct {
	Limit int `toml:"limit" help:"largest number of decisions that an adaptive probability averages" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"learning rate of the mixing weights; 0 keeps the trained weights" min:"0" max:"1000"`
}

// Defaults of predictiveParams, used in training too.
const (
	defaultLimit = 500
	defaultRate  = 60
)

// Predictive returns the codec predictive, which predicts position and orientation of each cube and
// codes the residuals by logistic mixing of several probabilities.
func Predictive() encoders.Codec {
	return encoders.Codec{
		ID: 18, Name: "predictive", Refs: 1, Suits: frame.IsCubes,
		Summary: "motion predicted from two baselines and the neighbours; residuals by mixed probabilities",
		Source:  "after DeltaCompress, Alexander Maxwell, 2016",
		Params:  &predictiveParams{Limit: defaultLimit, Rate: defaultRate},
		New: newCodecFunc(func(rows int, params any) (traversal, *memo, error) {
			p := params.(*predictiveParams)
			table, err := predictiveTable()
			if err != nil {
				return nil, nil, err
			}
			k, err := readTrainedModel(table)
			if err != nil {
				return nil, nil, err
			}
			return k.newTraversal(p.Limit, int32(p.Rate)), k.initialMemo(rows), nil
		}),
	}
}

// newCodecFunc returns the function New of a codec. newTraversal returns the codec's traversal and
// the memo of the initial state for the given number of cubes; it is called for the encoder and for
// the decoder, because a traversal has state.
func newCodecFunc(newTraversal func(rows int, params any) (traversal, *memo, error)) func(
	*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := cube.CheckSchema(s); err != nil {
			return nil, nil, err
		}
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		var coders [2]*coder
		for i := range coders {
			t, initial, err := newTraversal(s.Rows, params)
			if err != nil {
				return nil, nil, err
			}
			coders[i] = newCoder(s.Rows, t, initial)
		}
		return coders[0], coders[1], nil
	}
}

// traversal is the part in which the three codecs differ.
type traversal interface {
	// codeFrame passes every decision about cur to the range coder of e and stores the result, so it
	// serves both directions. For decoding cur starts as a copy of base. past is the memo of base.
	// codeFrame fills next, the memo of cur.
	codeFrame(e *coder, cur, base *frame.Frame, past, next *memo) error
}

// coder is the encoder or the decoder of a codec.
type coder struct {
	encoders.TableCoder[memo]
	rows      int       // number of cubes
	traversal traversal // codes the cubes of a frame

	changes cube.Changes // cubes that differ from the baseline; empty when decoding
}

// newCoder returns a coder for frames of the given number of cubes. initial is the memo of frames
// without one.
func newCoder(rows int, t traversal, initial *memo) *coder {
	e := &coder{traversal: t}
	e.TableCoder = encoders.TableCoder[memo]{Name: "entropy", Check: e.checkFrame, Code: e.codeFrame}
	e.resize(rows, initial)
	return e
}

// resize changes the number of cubes, and the memo of frames without one.
func (e *coder) resize(rows int, initial *memo) {
	e.rows, e.Cells, e.Initial = rows, rows*frame.CubeFields, initial
}

// checkFrame returns an error if cur has the wrong size. It sets e.changes to the cubes that differ
// from the reference: ref.Changed, or by comparison if that is nil.
func (e *coder) checkFrame(cur *frame.Frame, ref *encoders.Ref) error {
	if err := cube.CheckFrame(cur, e.rows); err != nil {
		return err
	}
	e.changes.Find(cur.Table, ref.Frame.Table, ref.Changed)
	return nil
}

// codeFrame encodes cur, or decodes into it, and fills next.
func (e *coder) codeFrame(cur, base *frame.Frame, past, next *memo) error {
	if e.Reading() {
		e.changes.Clear(e.rows)
	}
	next.begin(past, cur, base)
	return e.traversal.codeFrame(e, cur, base, past, next)
}

// checkEncodable returns an error if changed cube i, q, is out of range. It returns nil for a decoder,
// which has no value yet; checkDecoded follows.
func (e *coder) checkEncodable(i int, q *cube.Row) error {
	if !e.Reading() && !cube.InRange(q) {
		return cube.RangeError(i, q)
	}
	return nil
}

// checkDecoded returns an error unless decoded cube i is valid: in range, different from the baseline
// base and complete in the packet. It returns nil for an encoder.
func (e *coder) checkDecoded(i int, q, base *cube.Row) error {
	if !e.Reading() {
		return nil
	}
	if err := e.Err(); err != nil {
		return err
	}
	if !cube.InRange(q) || frame.EqualCubes(q, base) {
		return cube.ChangedError(i, q)
	}
	return nil
}
