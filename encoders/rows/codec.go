// Package rows encodes tables of any schema: many rows of a few fields, most of which do not change
// from frame to frame. It uses only the schema and learns the rest, so it suits users' own data.
// Tables with floats are coded by package states instead, if their state fits there. For tables with
// hints or parts a selector measures which of several models makes packets smallest.
//
// # Model
//
// A frame is encoded against one baseline. The coder codes which rows changed, which of their
// fields, and the residuals of predicted values. Several predictors extrapolate the last change of
// a row; the one with the least recent error is used. Three properties are derived from the schema:
// two or three quantities of one unit are a position, so that rows can be neighbours; an enum of
// four values before three quantities of one range is a rotation; and fields of the same kind,
// range and unit share statistics. If the fields mean something else, packets are larger, but still
// correct.
//
// Each decision is coded by logistic mixing of the predictions of several contexts (Mahoney, PAQ).
// All adaptive state is part of the frame's memo (compare Giesen's gaffer_net), so losses cannot
// desynchronise sender and receiver.
package rows

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// params are the parameters of delta-adaptive.
type params struct {
	Limit int `toml:"limit" help:"largest number of decisions that a probability averages; lower adapts faster" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"learning rate of the mixing weights; 0: they do not change" min:"0" max:"4000"`
	// Memory also bounds the histories of rows of package states; see newMemo for this package.
	Memory int `toml:"memory" help:"memory of what is learnt, for each frame of the history; half of it holds probabilities" unit:"KB" min:"64" max:"4096"`
}

// MemoSize implements encoders.MemoSizer. Memos are larger during the trial of a selector, which has several models.
func (p *params) MemoSize() int { return p.Memory << 10 }

// DeltaAdaptive returns the codec delta-adaptive, which encodes any table. Its versions:
//
//	1  tables with floats, hints or parts are always coded by package states, with the hints
//	2  models with the hints are selected if they save bytes
func DeltaAdaptive() encoders.Codec {
	return encoders.Codec{
		ID: 40, Name: "delta-adaptive", Version: 2, Refs: 1, Suits: suits,
		Summary: "any table: changed rows, fields predicted from their motion, adaptive mixed probabilities",
		Source:  "gaffer_net, Fabian Giesen, 2015; PAQ, Matt Mahoney, 2005",
		Params:  &params{Limit: 250, Rate: 400, Memory: 256},
		New: func(s *frame.Schema, p any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s is not suited to delta-adaptive: expected a table, and frames of which only the newest matters", s.Name)
			}
			if err := encoders.Validate(p); err != nil {
				return nil, nil, err
			}
			return newModel(s, p.(*params)), newModel(s, p.(*params)), nil
		},
	}
}

// suits reports whether frames have a table and only the newest frame matters.
func suits(s *frame.Schema) bool {
	return s.Rows > 0 && len(s.Fields) > 0 && s.Delivery == frame.Latest
}

// A coder is an encoder or a decoder: one traversal of the frame serves both. A packet holds the
// rows, each with a flag whether it changed and the new values of its fields, see rowState; a flag
// whether the body equals the baseline's; and the length and bytes of the body if not.
type coder struct {
	encoders.TableCoder[memo]
	*plan
	mixer rangecoder.Mixer
	next  *memo    // memo of the frame being coded
	scene scene    // positions of the rows in the baseline, and the rows that move there
	row   rowState // scratch space: the row being coded
}

// newCoder returns an encoder or a decoder; p holds the parameters of delta-adaptive.
func newCoder(s *frame.Schema, p *params) *coder {
	e := &coder{plan: newPlan(s)}
	e.TableCoder = encoders.TableCoder[memo]{Name: "rows", Cells: s.Cells(), Initial: newMemo(e.plan, p.Memory), Check: e.check, Code: e.codeFrame}
	e.mixer = rangecoder.Mixer{Coder: &e.Coder, Bias: bias, Limit: p.Limit, Rate: int32(p.Rate)}
	n := e.fields
	e.row = rowState{coder: e, lastDelta: make([]int32, n), origin: make([]int32, n),
		noMotion: motion{delta: make([]int32, n), acceleration: make([]int32, n), residualLength: make([]uint8, n)}}
	return e
}

// check returns an error if the frame is outside of the schema's ranges.
func (e *coder) check(cur *frame.Frame, _ *encoders.Ref) error {
	if err := e.CheckSize(cur); err != nil {
		return err
	}
	return e.schema.Check(cur)
}

// codeFrame codes a frame. past is the memo of base; next becomes that of cur.
func (e *coder) codeFrame(cur, base *frame.Frame, past, next *memo) error {
	next.begin(past, cur, base)
	e.next, e.mixer.Counters, e.mixer.Weights = next, next.counters, next.weights
	e.scene.begin(e.plan, base, past)
	if err := e.codeRows(cur, base, past, next); err != nil {
		return err
	}
	e.TraceRow(encoders.NoRow)
	e.beginContexts(e.sharedWeights)
	e.mixer.AddContext(decisionBody, flag(len(base.Body) == 0), 0, 0) // two of the four values are not needed
	same := e.mixer.CodeFlag(bodyNode, string(cur.Body) == string(base.Body))
	err := e.CodeBody(cur, base, same)
	e.Charge(encoders.SlotBody)
	return err
}

// beginContexts clears the mixer's contexts. weightSet selects the weights; see
// fieldPlan.weightSet.
func (e *coder) beginContexts(weightSet int) { e.mixer.Begin(weightSet * nodeCount) }
