// Package rpc encodes calls that a game client makes many times a second (High-frequency upstream
// RPC, 2023). A call is one row of numbers, such as the player's position, velocity and keys, that
// differs little from the call before.
//
// There are three encoders. Full sends every field with all its bits. Delta sends what changed
// since an acknowledged call: vectors of floats like Unreal's NetQuantize10, the other fields XORed
// and run-length coded. Adaptive predicts each field from its rate of change and range-codes the
// residuals with models that adapt along the chain of baselines.
//
// Delta and Adaptive are lossy for floats, by half a tenth of a unit. Both endpoints continue from
// the reconstructed value, not from the original one, so errors do not accumulate.
package rpc

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
)

// source is the publication that describes the workload and the scheme of rpc-delta.
const source = "High-frequency upstream RPC, 2023"

// suits reports whether frames are calls.
func suits(s *frame.Schema) bool { return s.Rows == 1 && s.Item == "call" && len(s.Fields) > 0 }

// A field describes a field of a call.
type field struct {
	column.Range
	isFloat   bool // coded as the bits of a float32
	memoIndex int  // index in memo.numbers or memo.symbols
}

// describeFields describes the fields of a call. A memo holds numbers and other fields in two lists, so each of
// these kinds is numbered from 0 on.
func describeFields(s *frame.Schema) []field {
	list := make([]field, len(s.Fields))
	numbers, symbols := 0, 0
	for i, f := range s.Fields {
		c := field{Range: column.NewRange(&f), isFloat: f.Kind == frame.Float32}
		if column.IsNumber(f.Kind) {
			c.memoIndex, numbers = numbers, numbers+1
		} else {
			c.memoIndex, symbols = symbols, symbols+1
		}
		list[i] = c
	}
	return list
}

// checkCall returns an error unless a frame is a call of the schema.
func checkCall(s *frame.Schema, fields []field, f *frame.Frame) error {
	if len(f.Table) != len(fields) || len(f.Body) != 0 {
		return fmt.Errorf("rpc: call of %d fields and a body of %d bytes, expected %d and no body", len(f.Table), len(f.Body), len(fields))
	}
	for i, v := range f.Table {
		if !fields[i].Admits(v) {
			return fmt.Errorf("rpc: %w", s.Check(f))
		}
	}
	return nil
}

// rangeError returns the error of a decoded value outside of the range of field i.
func rangeError(s *frame.Schema, i int) error {
	return fmt.Errorf("rpc: field %s: %w: %w", s.Fields[i].Name, encoders.ErrCorrupt, frame.ErrRange)
}

// wrapReadError wraps an error of reading a payload; nil stays nil. short is the error at the end
// of the input.
func wrapReadError(err, short error) error {
	if err = encoders.DecodeError(err, short); err != nil {
		err = fmt.Errorf("rpc: %w", err)
	}
	return err
}

// Full returns the codec full, which sends every field of every call with all its bits. It is
// exact, and the yardstick for the other two.
func Full() encoders.Codec {
	return encoders.Codec{
		ID: 24, Name: "full", Refs: 1, Standalone: true, Suits: suits,
		Summary: "every field of every call with all its bits",
		Source:  source,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			const fullOnly = true
			return newDelta(s, fullOnly), newDelta(s, fullOnly), nil
		},
	}
}
