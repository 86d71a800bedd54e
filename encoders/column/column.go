// Package column contains arithmetic on the values of a field, for the codecs of tables.
package column

import (
	"fmt"
	"math/bits"

	"wirelab/dataset/frame"
)

// Range is the range of a field's values.
type Range struct {
	Min   int32
	Span  uint32 // largest value minus Min
	Width uint   // number of bits of Span
}

func NewRange(f *frame.Field) (r Range) {
	r.Min, r.Span = f.Span()
	r.Width = uint(bits.Len32(r.Span))
	return r
}

// Raw returns v minus Min. v is in range if the result is at most Span.
func (r *Range) Raw(v int32) uint32 { return uint32(v) - uint32(r.Min) }

// FromRaw is the inverse of Raw.
func (r *Range) FromRaw(raw uint32) int32 { return int32(raw + uint32(r.Min)) }

// Admits reports whether v is in range.
func (r *Range) Admits(v int32) bool { return r.Raw(v) <= r.Span }

// RangeError returns the error for a value v out of the range of field k. It wraps frame.ErrRange.
func RangeError(s *frame.Schema, k int, v int64) error {
	f := &s.Fields[k]
	if !f.Kind.Bounded() {
		return fmt.Errorf("field %s: %w: %d, expected 32 bits", f.Name, frame.ErrRange, v)
	}
	return fmt.Errorf("field %s: %w: %d, expected %d..%d", f.Name, frame.ErrRange, v, f.Min, f.Max)
}

// IsNumber reports whether differences of values of a kind are meaningful.
func IsNumber(k frame.Kind) bool {
	return k == frame.Quantity || k == frame.Angle || k == frame.Float32
}

// Wrap reduces d, a difference of values that repeat with a period, to the shorter way round: to at most half
// a period in either direction. A period of 0 means that values do not repeat; d is then unchanged.
func Wrap(d, period int64) int64 {
	if period == 0 {
		return d
	}
	d %= period
	if d > period/2 {
		d -= period
	} else if d < -period/2 {
		d += period
	}
	return d
}
