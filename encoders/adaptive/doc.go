// Package adaptive compresses messages by models that the receiver controls (Jonathan
// Blow, "Adaptive Compression Across Unreliable Networks", Game Developer, 2003). Only
// the receiver knows which messages arrived, so it chooses those that both ends learn from.
//
// Both ends start with the same model. Messages are grouped in batches, and both ends
// count, for each batch, which byte followed which. When a batch is complete at the receiver,
// it requests: make model 5 of model 4 by mixing in batch 31. It makes that model at once and
// repeats the request until a packet names the model. Every packet names the model it was coded
// with, in three bits. Both ends hold the last seven models, so that late packets decode, and the
// trained one, which both ends always hold.
//
// A request carries a fingerprint of its statistics. A sender with other statistics, or none,
// ignores it. A request expires when its batch is forgotten, which depends only on the age in
// messages: once a packet of that age does not name the model, no packet will.
//
// A packet has the label of the sender's newest model, the label of the model used, the size of the
// message, whether its bytes are literal, and the bytes.
package adaptive

import (
	"errors"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// errReport means that the sender cannot use a report of the receiver.
var errReport = errors.New("report of the receiver")

// settings are the settings of the protocol; both ends have the same.
type settings struct {
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
		Params:  &settings{Order: 1, Batch: 10, Ask: 1, Weight: 12, Message: 500, Trained: true},
		New: func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			p := *params.(*settings)
			if err := encoders.Validate(&p); err != nil {
				return nil, nil, err
			}
			return newSender(p), newReceiver(p), nil
		},
	}
}

// suits takes frames that are only bytes and independent of each other.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery != frame.Every }

// endpoint is what sender and receiver share.
type endpoint struct {
	params  settings
	batches batches
	models  modelChain
}

func newEndpoint(p settings) endpoint {
	e := endpoint{params: p, batches: batches{packing: packingOf(p.Order), size: p.Batch}}
	e.models.packing = e.batches.packing
	e.models.model = model{trained: &untrained, order: p.Order, weight: uint64(p.Weight)}
	if p.Trained {
		e.models.model.trained = trained()
	}
	return e
}

// fingerprint hashes the statistics of some batches; ok is false if those of one are missing.
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

// learn makes the next model from the statistics of some batches, which are added up in the memory
// of the first and then released.
func (e *endpoint) learn(ids []uint16, hash uint32) {
	s := &e.batches
	first := s.get(ids[0])
	for _, id := range ids[1:] {
		b := s.get(id)
		first.sums = s.add(first.sums, b.sums)
		b.spent, b.sums = true, nil
	}
	e.models.push(s.limit(first.sums, mostStep[s.order], 1<<31), hash)
	first.spent, first.sums = true, first.sums[:0]
}

// gauges returns the figures of an end: models, statistics, memory.
func (e *endpoint) gauges() []encoders.Gauge {
	return []encoders.Gauge{
		{Name: "models built", Value: float64(e.models.newest)},
		{Name: "statistics", Unit: "bytes", Value: float64(e.batches.bytes())},
		{Name: "memory", Unit: "bytes", Value: float64(e.batches.bytes() + 4*cap(e.batches.one) + e.models.bytes())},
	}
}
