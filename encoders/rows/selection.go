package rows

import (
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/states"
)

// A selector codes a table with hints by one of several models: one that ignores the hints, and models that use
// them. Hints may be wrong, or the data may not need them, so the models have to prove themselves. All of them
// code the first frames of a chain of baselines; the packet is that of the model whose packets were the smallest
// so far, the others are only measured. After these frames the model with the smallest packets stays. Sender and
// receiver select the same model, because the memo contains the sizes.
type selector struct {
	models  []candidate     // the first one codes the first frame
	trial   int             // number of frames that all models code
	margin  int             // during the trial a model is out if its packets are larger than the smallest by more than 1/margin
	initial *selectionMemo  // memo of a reference that has none
	scratch []byte          // a packet that is measured only
	ref     [1]encoders.Ref // the reference of the model that codes
}

// A candidate is a model that a selector can use.
type candidate struct {
	encoders.Model
	handicap int // added to the size of each packet, in 1/64 of it: what a model must save to be selected
}

// A selectionMemo is the memo of a selector: a pure function of the frame, its baseline and the baseline's memo.
type selectionMemo struct {
	frames int             // of the chain of baselines, up to selector.trial
	best   int             // index of the model that codes the next frame
	memos  []encoders.Memo // by model; nil for a model that is out, and initially
	sizes  []int           // by model: sum of the sizes of recent packets with its handicap, in units of 1/64 byte
}

const (
	minTrial = 8 // no model is out before this number of frames

	// A trial among models that take equally long may be longer.
	shortTrial, shortMargin = 24, 16
	longTrial, longMargin   = 96, 8

	// Package states takes several times as long as this package to code a number, but less than this package to
	// code which of many fields changed. So it is a candidate for tables of wideTable fields or more.
	wideTable      = 32
	statesHandicap = 8
	hintsHandicap  = 2 // hints that save little at first may cost later: their contexts are learnt faster, but are too many
)

// newModel returns the model of a table: an encoder or a decoder.
func newModel(s *frame.Schema, p *params) encoders.Model {
	memory := p.Memory << 10 // in bytes
	plain := withoutHints(s)
	hasState, usesHints := states.Suits(plain, memory), plain != s && states.Suits(s, memory)
	newStates := func(s *frame.Schema) encoders.Model { return states.New(s, p.Limit, p.Rate, memory) }
	x := &selector{trial: shortTrial, margin: shortMargin}
	switch {
	case hasState && usesHints: // hints come first, because they pay late if little happens at the beginning
		x.models = []candidate{{newStates(s), hintsHandicap}, {newStates(plain), 0}}
		x.trial, x.margin = longTrial, longMargin
	case hasState:
		return newStates(plain)
	default:
		x.models = []candidate{{newCoder(plain, p), 0}}
		if c := newCoder(s, p); c.hasVelocities() {
			x.models = append(x.models, candidate{c, 0})
		}
		if usesHints && len(s.Fields) >= wideTable {
			x.models = append(x.models, candidate{newStates(s), statesHandicap})
		}
		if len(x.models) == 1 {
			return x.models[0].Model
		}
	}
	x.initial = x.newMemo()
	return x
}

// withoutHints returns s without its hints and parts; s itself if it has none.
func withoutHints(s *frame.Schema) *frame.Schema {
	plain := *s
	plain.Fields, plain.Parts = slices.Clone(s.Fields), nil
	same := len(s.Parts) == 0
	for i := range plain.Fields {
		same = same && plain.Fields[i].Hint == frame.Hint{}
		plain.Fields[i].Hint = frame.Hint{}
	}
	if same {
		return s
	}
	return &plain
}

// newMemo returns an initial memo.
func (x *selector) newMemo() *selectionMemo {
	return &selectionMemo{memos: make([]encoders.Memo, len(x.models)), sizes: make([]int, len(x.models))}
}

// begin returns the memo of the reference, and the memo to write: spare, if it is one of a selector.
func (x *selector) begin(refs []encoders.Ref, spare encoders.Memo) (past, next *selectionMemo) {
	past, _ = refs[0].Memo.(*selectionMemo)
	if past == nil {
		past = x.initial
	}
	next, _ = spare.(*selectionMemo)
	if next == nil {
		next = x.newMemo()
	}
	return past, next
}

// refFor returns the reference for model i.
func (x *selector) refFor(i int, ref *encoders.Ref, past *selectionMemo) []encoders.Ref {
	x.ref[0] = *ref
	x.ref[0].Memo = past.memos[i]
	return x.ref[:]
}

func (x *selector) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	past, next := x.begin(refs, spare)
	out, memo, err := x.models[past.best].Encode(dst, cur, x.refFor(past.best, &refs[0], past), next.memos[past.best], b)
	if err == nil {
		next.memos[past.best] = memo
		err = x.measure(cur, &refs[0], past, next, len(out)-len(dst))
	}
	if err != nil {
		return dst, nil, err
	}
	return out, next, nil
}

func (x *selector) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	past, next := x.begin(refs, spare)
	memo, err := x.models[past.best].Decode(dst, src, x.refFor(past.best, &refs[0], past), next.memos[past.best])
	if err != nil {
		return nil, err
	}
	next.memos[past.best] = memo
	if err := x.measure(dst, &refs[0], past, next, len(src)); err != nil { // no encoder writes such a frame
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	return next, nil
}

// measure completes the memo of a frame whose packet of the given size was coded by model past.best. During the
// trial it measures the other models and selects among them.
func (x *selector) measure(cur *frame.Frame, ref *encoders.Ref, past, next *selectionMemo, size int) error {
	next.frames, next.best = min(past.frames+1, x.trial), past.best
	copy(next.sizes, past.sizes)
	window := min(max(next.frames/4, 8), 32) // number of packets over which sizes are summed, about
	for i := range x.models {
		n := size
		switch {
		case i == past.best:
		case past.frames > 0 && past.memos[i] == nil: // out
			next.memos[i] = nil
			continue
		default:
			packet, memo, err := x.models[i].Encode(x.scratch[:0], cur, x.refFor(i, ref, past), next.memos[i], nil)
			if err != nil {
				return err
			}
			x.scratch, next.memos[i], n = packet, memo, len(packet)
		}
		next.sizes[i] += n*(64+x.models[i].handicap) - past.sizes[i]/window
	}
	x.selectModel(next)
	return nil
}

// selectModel sets the model with the smallest packets as the one that codes the next frame, and removes the
// memos of models that are out.
func (x *selector) selectModel(m *selectionMemo) {
	for i := range x.models {
		if m.memos[i] != nil && m.sizes[i] < m.sizes[m.best] {
			m.best = i
		}
	}
	limit := m.sizes[m.best] + m.sizes[m.best]/x.margin
	if m.frames == x.trial {
		limit = 0
	}
	for i := range x.models {
		if i != m.best && m.frames >= minTrial && m.sizes[i] > limit {
			m.memos[i] = nil
		}
	}
}
