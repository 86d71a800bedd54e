// Package adaptive compresses messages with models that the receiver controls (Jonathan Blow,
// "Adaptive Compression Across Unreliable Networks", Game Developer, 2003). Only the receiver knows
// which messages arrived, so it chooses the messages that both endpoints learn from.
//
// # Protocol
//
// Both endpoints start with the same model. Messages are grouped in batches, and both endpoints
// count, for each batch, which byte followed which. When a batch is complete at the receiver, the
// receiver requests: build model 5 from model 4 by mixing in batch 31. It builds that model at once
// and repeats the request until a packet names the model. Every packet names the model that it was
// coded with, in three bits. Both endpoints keep the last seven models, so that late packets can be
// decoded, and the pretrained model.
//
// A request carries a hash of the statistics that it means. A sender whose statistics differ or are
// missing ignores the request. A request expires when its batch is forgotten, which depends only on
// the batch's age in messages: once a packet of that age does not name the model, no later packet
// will.
//
// # Packet
//
// A packet is range-coded and holds, in this order: the label of the sender's newest model (3
// bits); whether the packet was coded with that model, otherwise its label; whether the message has
// the usual size, otherwise the size (14 bits); whether the bytes are literal; and the bytes.
package adaptive

import (
	"errors"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// errReport means that the sender cannot use a report of the receiver.
var errReport = errors.New("invalid report of the receiver")

// settings are the parameters of the codec. Both endpoints have the same.
type settings struct {
	Order        int  `toml:"order" help:"bytes of context that a byte is predicted from" min:"0" max:"3"`
	Batch        int  `toml:"batch" help:"messages in a batch: their statistics are counted together" min:"1" max:"64"`
	MinBatches   int  `toml:"ask" help:"complete batches that the receiver waits for before it requests a new model" min:"1" max:"4"`
	LearntWeight int  `toml:"weight" help:"weight of a byte of this stream relative to a byte of the training text" min:"1" max:"64"`
	UsualSize    int  `toml:"message" help:"usual size of a message; other sizes cost three more bytes" unit:"bytes" min:"1" max:"16383"`
	Trained      bool `toml:"trained" help:"start with the embedded model of English, not with an empty one"`
	Static       bool `toml:"static" help:"do not learn: keep the initial model"`
	TryAll       bool `toml:"try_all" help:"encode with every model that both endpoints have, send the shortest packet"`
}

func ReceiverAdaptive() encoders.Codec {
	return encoders.Codec{
		ID: 27, Name: "receiver-adaptive", Refs: 1, Standalone: true,
		Suits:   suits,
		Summary: "bytes range-coded with models that the receiver requests, batch by batch",
		Source:  "Jonathan Blow, Adaptive Compression Across Unreliable Networks, 2003",
		Params:  &settings{Order: 1, Batch: 10, MinBatches: 1, LearntWeight: 12, UsualSize: 500, Trained: true},
		New: func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			p := *params.(*settings)
			if err := encoders.Validate(&p); err != nil {
				return nil, nil, err
			}
			return newSender(p), newReceiver(p), nil
		},
	}
}

// suits reports whether frames are messages: bytes without a table, independent of each other.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery != frame.Reliable }

// An endpoint is the state that sender and receiver have in common.
type endpoint struct {
	params  settings
	batches batches    // statistics of the latest messages
	models  modelChain // models that packets may name
}

// newEndpoint returns an endpoint with the initial model.
func newEndpoint(p settings) endpoint {
	e := endpoint{params: p, batches: batches{layout: newLayout(p.Order), size: p.Batch}}
	e.models.layout = e.batches.layout
	e.models.model = model{pretrained: &emptyTables, order: p.Order, learntWeight: uint64(p.LearntWeight)}
	if p.Trained {
		e.models.model.pretrained = pretrainedTables()
	}
	return e
}

// fingerprint returns a hash of the statistics of batches; ok is false if the statistics of a batch
// are missing or too old.
func (e *endpoint) fingerprint(ids []uint16) (hash uint32, ok bool) {
	hash = 2166136261 // the offset basis of FNV-1a; 16777619 is its prime
	for _, id := range ids {
		b := e.batches.get(id)
		if b == nil || b.released || e.batches.age(e.batches.newest, id) > maxAge {
			return 0, false
		}
		hash = b.counts.hash((hash ^ uint32(id)) * 16777619)
	}
	return hash, true
}

// buildNextModel builds the next model from the statistics of the batches ids. It adds the statistics in
// the memory of the first batch and releases those of all batches. hash is the fingerprint of the statistics.
func (e *endpoint) buildNextModel(ids []uint16, hash uint32) {
	s := &e.batches
	first := s.get(ids[0])
	for _, id := range ids[1:] {
		b := s.get(id)
		first.counts = s.add(first.counts, b.counts)
		b.released, b.counts = true, nil
	}
	const maxSum = 1 << 31 // not reached: only the number of entries is bounded
	e.models.push(s.halve(first.counts, maxDeltaEntries[s.order], maxSum), hash)
	first.released, first.counts = true, first.counts[:0]
}

// gauges returns the figures of an endpoint: models, statistics, memory.
func (e *endpoint) gauges() []encoders.Gauge {
	return []encoders.Gauge{
		{Name: "models built", Value: float64(e.models.newest)},
		{Name: "statistics", Unit: "bytes", Value: float64(e.batches.bytes())},
		{Name: "memory", Unit: "bytes", Value: float64(e.batches.bytes() + 4*cap(e.batches.scratch) + e.models.bytes())},
	}
}
