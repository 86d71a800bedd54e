// Package rpc encodes calls that a game client makes many times a second, each a
// row of numbers that differs little from the row before: where the player is, how
// fast, which keys are down (High-frequency upstream RPC, 2023).
//
// Three encoders form a ladder. Full sends every field in the bits it has. Delta
// sends what changed since a call that the server acknowledged: vectors of
// floats as UE's NetQuantize10 would, the rest XORed and run-length coded. Adaptive
// predicts each field from the fields that are its rate of change, and gives the
// rest to a range coder whose models travel along the chain of baselines.
//
// The two last are lossy in floats, by half a tenth of a unit. Both ends go on from
// the value that was reconstructed, never from the true one, so errors do not add up.
package rpc

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
)

const source = "High-frequency upstream RPC, 2023"

// suits takes frames that are one call.
func suits(s *frame.Schema) bool { return s.Rows == 1 && s.Item == "call" && len(s.Fields) > 0 }

// field describes a field of a call.
type field struct {
	column.Range
	float bool // IEEE bits
	place int  // in the memos, among the numbers or among the symbols
}

// columns describes the fields of a call.
func columns(s *frame.Schema) []field {
	list := make([]field, len(s.Fields))
	numbers, symbols := 0, 0
	for i, f := range s.Fields {
		c := field{Range: column.RangeOf(&f), float: f.Kind == frame.Float32}
		if column.IsNumber(f.Kind) {
			c.place, numbers = numbers, numbers+1
		} else {
			c.place, symbols = symbols, symbols+1
		}
		list[i] = c
	}
	return list
}

// check returns an error unless a frame is a call of the schema.
func check(s *frame.Schema, cols []field, f *frame.Frame) error {
	if len(f.Table) != len(cols) || len(f.Body) != 0 {
		return fmt.Errorf("rpc: call of %d fields and a body of %d bytes, expected %d and no body", len(f.Table), len(f.Body), len(cols))
	}
	for i, v := range f.Table {
		if !cols[i].Admits(v) {
			return fmt.Errorf("rpc: %w", s.Check(f))
		}
	}
	return nil
}

// outOfRange is the error of a decoder that read a value which no field has.
func outOfRange(s *frame.Schema, i int) error {
	return fmt.Errorf("rpc: field %s: %w: %w", s.Fields[i].Name, encoders.ErrCorrupt, frame.ErrRange)
}

// ended translates the end of a bit stream.
func ended(err, short error) error {
	if err = encoders.DecodeError(err, short); err != nil {
		err = fmt.Errorf("rpc: %w", err)
	}
	return err
}

// Full sends every field of every call in the bits it has: what the other two are
// measured against, and exact.
func Full() encoders.Codec {
	return encoders.Codec{
		ID: 24, Name: "full", Refs: 1, Standalone: true, Suits: suits,
		Summary: "every field of every call, in the bits it has",
		Source:  source,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return newDelta(s, true), newDelta(s, true), nil
		},
	}
}
