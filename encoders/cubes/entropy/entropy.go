// Package entropy implements an encoder of cubes that models probabilities and uses a range coder. Its
// probabilities are learned along the chain of baselines, starting from trained ones, or stay as trained.
//
// A packet is one range-coded stream without a header. For each cube, in the order of rows, it holds:
//
//  1. whether the cube changed since the baseline
//  2. if so whether the position changed, and then x, y and z as residuals of a prediction
//  3. whether the orientation changed, and then which component is the largest and the other three
//     as residuals
//  4. whether the interacting flag changed; not coded if nothing else did, because it must have
//
// What the encoder learns is attached to the frame as its memo, a function of the frame, its baseline
// and the baseline's memo alone. A receiver that holds the baseline holds the same memo as the
// sender, so packet loss cannot desynchronise the two. For the same reason the velocity of a cube is
// its motion between the baseline and the baseline's own baseline: the receiver may lack the frames
// in between.
//
// One traversal serves both directions. The coder either writes the values that it is given or
// replaces them with those that it reads.
package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// adaptiveParams are the parameters of adaptive.
type adaptiveParams struct {
	Limit int `toml:"limit" help:"largest number of decisions that a probability averages; smaller adapts faster" unit:"decisions" min:"8" max:"1000"`

	Trained bool `toml:"trained" help:"start with trained probabilities instead of 1/2"`
	Rate    int  `toml:"rate" help:"0: probabilities never change; 1: they adapt" min:"0" max:"1"`
}

// trainedCount is the number of decisions that a trained probability counts as: how slowly it changes
// at first.
const trainedCount = 40

// Adaptive returns the codec adaptive, which learns its probabilities from one baseline to the next.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 17, Name: "adaptive", Refs: 1, Suits: frame.IsCubes,
		Summary: "range coder with probabilities that are learned along the chain of baselines",
		Source:  "gaffer_net, Fabian Giesen, 2015",
		Params:  &adaptiveParams{Limit: 250, Trained: true, Rate: 1},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if err := cube.CheckSchema(s); err != nil {
				return nil, nil, err
			}
			if err := encoders.Validate(params); err != nil {
				return nil, nil, err
			}
			p := params.(*adaptiveParams)
			enc, err := newAdaptiveCoder(s.Rows, p)
			if err != nil {
				return nil, nil, err
			}
			dec, err := newAdaptiveCoder(s.Rows, p)
			return enc, dec, err
		},
	}
}

// newAdaptiveCoder returns a coder for frames of the given number of cubes.
func newAdaptiveCoder(rows int, p *adaptiveParams) (*coder, error) {
	var table []byte
	if p.Trained {
		var err error
		if table, err = staticTable(); err != nil {
			return nil, err
		}
	}
	counters, err := newCounters(table, ctxSize, trainedCount)
	if err != nil {
		return nil, err
	}
	if p.Rate == 0 {
		return newCoder(rows, &contextCoder{fixed: counters}, newMemo(rows, nil)), nil
	}
	return newCoder(rows, &contextCoder{limit: p.Limit}, newMemo(rows, counters)), nil
}

// coder is the encoder or the decoder of the codec.
type coder struct {
	encoders.TableCoder[memo]
	rows     int           // number of cubes
	contexts *contextCoder // codes the cubes of a frame

	changes cube.Changes // cubes that differ from the baseline; empty when decoding
}

// newCoder returns a coder for frames of the given number of cubes. initial is the memo of frames
// without one.
func newCoder(rows int, contexts *contextCoder, initial *memo) *coder {
	e := &coder{contexts: contexts}
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
	return e.contexts.codeFrame(e, cur, base, past, next)
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
