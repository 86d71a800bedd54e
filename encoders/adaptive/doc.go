// Package adaptive compresses messages by models that the receiver rules over
// (Jonathan Blow, "Adaptive Compression Across Unreliable Networks", Game Developer,
// 2003). Nobody but the receiver knows what arrived, so nobody else may say what is
// learnt from.
//
// Both ends start with the same model. Messages are grouped in batches, and both
// ends count, batch by batch, which byte followed which. When the receiver has a
// batch whole it asks: make model 5 of model 4 by mixing in batch 31. It makes that
// model at once and repeats itself until a packet says that the sender has it too.
// Every packet names the model it was coded with, in three bits; both ends hold the
// last seven, so packets that are late still decode, and the trained model, which
// always does.
//
// A request carries a fingerprint of the statistics it means. A sender that counted
// otherwise, or has forgotten, does nothing, and nothing breaks. How both ends know
// that a request is dead: a batch is forgotten by its age in messages, which the
// receiver can see; a packet that old which does not say it has the model proves
// that none will.
package adaptive

import (
	"errors"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// ErrReport is wrapped by the complaints of a sender about a receiver's report.
var ErrReport = errors.New("report of the receiver")

// Params are the settings of the protocol; both ends have the same.
type Params struct {
	Order   int  `toml:"order" help:"bytes of context that a byte is predicted from" min:"0" max:"3"`
	Batch   int  `toml:"batch" help:"messages of which statistics are kept as one" min:"1" max:"64"`
	Ask     int  `toml:"ask" help:"whole batches that a receiver waits for until it asks for a new model" min:"1" max:"4"`
	Weight  int  `toml:"weight" help:"what a byte of this stream counts beside one of the training text" min:"1" max:"64"`
	Message int  `toml:"message" help:"the usual size of a message, which costs nothing to say" unit:"bytes" min:"1" max:"16383"`
	Trained bool `toml:"trained" help:"begin with what English is like, not with nothing"`
	Static  bool `toml:"static" help:"learn nothing: stay with the model of the beginning"`
	TryAll  bool `toml:"try_all" help:"code with every model that both ends hold, send the shortest"`
}

// ReceiverAdaptive is the codec.
func ReceiverAdaptive() encoders.Codec {
	return encoders.Codec{
		ID: 27, Name: "receiver-adaptive", Refs: 1, Standalone: true,
		Suits:   suits,
		Summary: "bytes range-coded by models that the receiver asks for, batch by batch",
		Source:  "Jonathan Blow, Adaptive Compression Across Unreliable Networks, 2003",
		Params:  &Params{Order: 1, Batch: 10, Ask: 1, Weight: 12, Message: 500, Trained: true},
		New: func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			p := *params.(*Params)
			if err := encoders.Validate(&p); err != nil {
				return nil, nil, err
			}
			return newSender(p), newReceiver(p), nil
		},
	}
}

// suits takes frames that are nothing but bytes, of which each is for itself.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery != frame.Every }

// endpoint is what sender and receiver have in common.
type endpoint struct {
	params  Params
	batches batches
	models  modelChain
}

func newEndpoint(p Params) endpoint {
	e := endpoint{params: p, batches: batches{packing: packingOf(p.Order), size: p.Batch}}
	e.models.packing = e.batches.packing
	e.models.model = model{trained: &untrained, order: p.Order, weight: uint64(p.Weight)}
	if p.Trained {
		e.models.model.trained = trained()
	}
	return e
}

// fingerprint tells the statistics of some batches from all others. It fails if there
// are none of one of them, or no more.
func (e *endpoint) fingerprint(ids []uint16) (hash uint32, ok bool) {
	hash = 2166136261
	for _, id := range ids {
		b := e.batches.get(id)
		if b == nil || b.spent || e.batches.age(e.batches.newest, id) > maxAge {
			return 0, false
		}
		hash = b.sums.hash((hash ^ uint32(id)) * 16777619)
	}
	return hash, true
}

// learn makes the next model of what some batches hold, which are spent then: they
// are added up in the memory of the first.
func (e *endpoint) learn(ids []uint16, hash uint32) {
	s := &e.batches
	first := s.get(ids[0])
	for _, id := range ids[1:] {
		b := s.get(id)
		first.sums = s.add(first.sums, b.sums)
		b.spent, b.sums = true, nil
	}
	e.models.push(s.limit(first.sums, s.mostStep(), 1<<31), hash)
	first.spent, first.sums = true, first.sums[:0]
}

// gauges are what an end knows of itself: models, statistics, memory.
func (e *endpoint) gauges() []encoders.Gauge {
	return []encoders.Gauge{
		{Name: "models built", Value: float64(e.models.newest)},
		{Name: "statistics", Unit: "bytes", Value: float64(e.batches.bytes())},
		{Name: "memory", Unit: "bytes", Value: float64(e.batches.bytes() + 4*cap(e.batches.one) + e.models.bytes())},
	}
}
