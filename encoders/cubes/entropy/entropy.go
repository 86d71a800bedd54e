// Package entropy holds the cube encoders that model probabilities and use a range
// coder.
//
//	static      fixed probabilities, trained on other recordings
//	adaptive    probabilities learnt along the chain of baselines
//	predictive  predicted motion and turn; residuals by logistic mixing
//
// What an encoder learns is attached to the frame as its memo, a pure function of the
// frame, its baseline and the baseline's memo. Both ends that hold the baseline hold
// its memo, so loss cannot desynchronise them. For the same reason a cube's velocity
// is taken from the baseline and that one's own baseline, never from a frame in
// between, which the other end may lack.
//
// Each codec is one traversal, by a coder that either writes the values it is given or
// replaces them by what it reads.
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
			table, err := staticTable()
			if err != nil {
				return nil, nil, err
			}
			counters, err := newCounters(table, ctxSize, 0)
			return &contextCoder{fixed: counters}, newMemo(rows, nil, nil), err
		}),
	}
}

// adaptiveParams are the settings of adaptive.
type adaptiveParams struct {
	Limit int `toml:"limit" help:"how many decisions a probability rests on at most; fewer forget faster" unit:"decisions" min:"8" max:"1000"`

	Trained bool `toml:"trained" help:"begin with what static knows instead of with nothing"`
}

// trainedCount is the number of decisions that a trained probability counts for in adaptive.
const trainedCount = 40

// Adaptive learns the probabilities from one baseline to the next.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 17, Name: "adaptive", Refs: 1, Suits: frame.IsCubes,
		Summary: "the same contexts, but probabilities are learnt along the chain of baselines",
		Source:  "gaffer_net, Fabian Giesen, 2015",
		Params:  &adaptiveParams{Limit: 250, Trained: true},
		New: build(func(rows int, params any) (traversal, *memo, error) {
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

// predictiveParams are the settings of predictive.
type predictiveParams struct {
	Limit int `toml:"limit" help:"how many decisions a probability that is learnt rests on at most" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"learning rate of the mixing weights; 0: as trained" min:"0" max:"1000"`
}

// Defaults of predictiveParams, used in training too.
const (
	learnLimit = 500
	learnRate  = 60
)

// Predictive predicts position and orientation of a cube and codes the residuals, with
// logistic mixing of several probabilities.
func Predictive() encoders.Codec {
	return encoders.Codec{
		ID: 18, Name: "predictive", Refs: 1, Suits: frame.IsCubes,
		Summary: "motion and turn predicted from two baselines and from the neighbours; the rest by mixed probabilities",
		Source:  "after DeltaCompress, Alexander Maxwell, 2016",
		Params:  &predictiveParams{Limit: learnLimit, Rate: learnRate},
		New: build(func(rows int, params any) (traversal, *memo, error) {
			p := params.(*predictiveParams)
			table, err := predictiveTable()
			if err != nil {
				return nil, nil, err
			}
			k, err := readTrainedModel(table)
			if err != nil {
				return nil, nil, err
			}
			return k.body(p.Limit, int32(p.Rate)), k.memo(rows), nil
		}),
	}
}

// build returns the New of a codec. of returns the traversal and the memo of the initial state, for
// some number of cubes.
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
			ends[i] = newCoder(s.Rows, b, initial)
		}
		return ends[0], ends[1], nil
	}
}

// traversal is the part in which the codecs of the family differ: the traversal of a frame,
// written once for both directions. It passes every decision to e's coder and stores the
// result. When e reads, cur starts as a copy of base. It fills next.
type traversal interface {
	frame(e *coder, cur, base *frame.Frame, past, next *memo) error
}

// coder is the encoder or the decoder of a codec.
type coder struct {
	encoders.TableCoder[memo]
	rows int
	body traversal

	changes cube.Changes
}

// newCoder returns an end for some cubes. initial is the memo of frames without one.
func newCoder(rows int, body traversal, initial *memo) *coder {
	e := &coder{body: body}
	e.TableCoder = encoders.TableCoder[memo]{Name: "entropy", Check: e.check, Code: e.code}
	e.resize(rows, initial)
	return e
}

// resize makes e an end for another number of cubes.
func (e *coder) resize(rows int, initial *memo) {
	e.rows, e.Cells, e.Initial = rows, rows*frame.CubeFields, initial
}

// check refuses a frame that cannot be coded, and finds the cubes that changed, unless the caller
// knows.
func (e *coder) check(cur *frame.Frame, ref *encoders.Ref) error {
	if err := cube.CheckFrame(cur, e.rows); err != nil {
		return err
	}
	e.changes.Find(cur.Table, ref.Frame.Table, ref.Changed)
	return nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) error {
	if e.Reading() {
		e.changes.Clear(e.rows)
	}
	next.begin(past, cur, base)
	return e.body.frame(e, cur, base, past, next)
}

// admit returns an error if changed cube i may not be coded. A writer refuses one that is out of
// range.
func (e *coder) admit(i int, q *cube.Row) error {
	if !e.Reading() && !cube.InRange(q) {
		return cube.RangeError(i, q)
	}
	return nil
}

// accept returns an error unless a cube that was read is valid: in range, different from the
// baseline, and read before the packet's end.
func (e *coder) accept(i int, q, base *cube.Row) error {
	if !e.Reading() {
		return nil
	}
	if err := e.Err(); err != nil {
		return err
	}
	if !cube.InRange(q) || frame.SameCube(q, base) {
		return cube.ChangedError(i, q)
	}
	return nil
}
