// Package rows encodes tables of any schema: many rows of a few fields, most of which do
// not change. It is for users' own data, so it uses only the schema and learns the rest.
// Tables with floats, hints or parts are coded by package states instead.
//
// It codes which rows changed, which of their fields, and the residuals of the predicted
// values. Several predictors extrapolate from the row's last step and compete. Three
// things are derived from the schema: two or three quantities of one unit are a
// position, so rows can be neighbours; an enum of four values before three quantities of
// one range is a rotation; and fields of the same kind, range and unit share statistics.
// Where the fields mean something else, packets are only larger.
//
// Each decision is coded by logistic mixing of several contexts (Mahoney's PAQ). All
// adaptive state is part of the frame's memo (Giesen's gaffer_net), so loss cannot
// desynchronise the two ends.
package rows

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/states"
)

// params are the settings of delta-adaptive.
type params struct {
	Limit int `toml:"limit" help:"how many decisions a probability rests on at most; fewer forget faster" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"learning rate of the mixing weights; 0: they stay" min:"0" max:"4000"`
}

// DeltaAdaptive codes any table by its schema and by adaptive models.
func DeltaAdaptive() encoders.Codec {
	return encoders.Codec{
		ID: 40, Name: "delta-adaptive", Refs: 1, Suits: suits,
		Summary: "any table: which rows changed, each field against its own motion, by mixed probabilities learnt on the way",
		Source:  "gaffer_net, Fabian Giesen, 2015; PAQ, Matt Mahoney, 2005",
		Params:  &params{Limit: 250, Rate: 400},
		New: func(s *frame.Schema, p any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s has no table", s.Name)
			}
			if err := encoders.Validate(p); err != nil {
				return nil, nil, err
			}
			set := p.(*params)
			if states.Suits(s) {
				enc, dec := states.New(s, set.Limit, set.Rate)
				return enc, dec, nil
			}
			return newCoder(s, set), newCoder(s, set), nil
		},
	}
}

func suits(s *frame.Schema) bool {
	return s.Rows > 0 && len(s.Fields) > 0 && s.Delivery == frame.Latest
}

// coder is the encoder or the decoder: one traversal serves both. A packet has the rows and then
// the body.
type coder struct {
	encoders.TableCoder[memo]
	*plan
	x     rangecoder.Mixer
	next  *memo
	scene scene
	row   rowState
}

func newCoder(s *frame.Schema, p *params) *coder {
	e := &coder{plan: newPlan(s)}
	e.TableCoder = encoders.TableCoder[memo]{Name: "rows", Cells: s.Cells(), Initial: newMemo(e.plan), Check: e.check, Code: e.code}
	e.x = rangecoder.Mixer{Coder: &e.Coder, Bias: bias, Limit: p.Limit, Rate: int32(p.Rate)}
	n := e.fields
	e.row = rowState{e: e, lastShift: make([]int32, n), start: make([]int32, n), none: step{make([]int32, n), make([]int32, n), make([]uint8, n)}}
	return e
}

// check refuses a frame that cannot be coded.
func (e *coder) check(cur *frame.Frame, _ *encoders.Ref) error {
	if err := e.CheckSize(cur); err != nil {
		return err
	}
	return e.schema.Check(cur)
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) error {
	next.begin(past, cur, base)
	e.next, e.x.Counters, e.x.Weights = next, next.counters, next.weights
	e.scene.begin(e.plan, base, past)
	if err := e.codeRows(cur, base, past, next); err != nil {
		return err
	}
	e.begin(e.shared)
	e.x.AddContext(bodyMark, flag(len(base.Body) == 0), 0, 0)
	same := e.x.CodeFlag(bodyNode, string(cur.Body) == string(base.Body))
	err := e.Body(cur, base, same)
	e.Charge(encoders.SlotBody)
	return err
}

// begin clears the contexts; slot selects the weights of a field.
func (e *coder) begin(slot int) { e.x.Begin(slot * nodeCount) }
