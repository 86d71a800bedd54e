// Package frame is the vocabulary that every other part of Wirelab shares: what
// one unit of data looks like (a Schema), one such unit (a Frame), and the
// bounded memory of frames that an endpoint keeps (a History).
//
// A frame is a table of integers plus a byte body. Cube snapshots are 901 rows
// of 8 fields, a game RPC is one row, a text message is a body without rows; so
// one encoder interface serves them all. The package imports nothing of ours.
package frame

import (
	"cmp"
	"errors"
	"fmt"
)

// Kind tells an encoder what may be done with a field's integers.
type Kind uint8

// The kinds of field.
const (
	Quantity Kind = iota // differences mean something
	Enum                 // only equality means something
	Flag                 // 0 or 1
	Bits                 // XOR means something; Min and Max are ignored
	Angle                // a quantity that wraps from Max to Min
	Float32              // IEEE-754 bits; Min and Max are ignored
)

// String returns the kind's name as schemas spell it.
func (k Kind) String() string {
	names := [...]string{"quantity", "enum", "flag", "bits", "angle", "float32"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Bounded reports whether Min and Max of a field of this kind hold.
func (k Kind) Bounded() bool { return k != Bits && k != Float32 }

// Field describes one column of a frame's table.
type Field struct {
	Name, Unit string
	Kind       Kind
	Min, Max   int32   // inclusive; only where Kind.Bounded
	Scale      float64 // units per integer step; 0 means 1
	Hint       Hint
}

// Step returns how many units one integer step is.
func (f *Field) Step() float64 { return cmp.Or(f.Scale, 1) }

// Span returns the lowest value of the field and how far above it, modulo 2^32, the
// highest is: v is one of its values exactly if uint32(v)-uint32(lowest) <= span. Of
// kinds without bounds all 32 bits are.
func (f *Field) Span() (lowest int32, span uint32) {
	if !f.Kind.Bounded() {
		return 0, 1<<32 - 1
	}
	return f.Min, uint32(f.Max) - uint32(f.Min)
}

// Delivery says what a receiver wants of frames that were lost or are late.
type Delivery uint8

// The ways of delivery.
const (
	Latest Delivery = iota // only the newest matters (snapshots)
	Each                   // unreliable, late is still welcome, never stale (text messages)
	Every                  // resent under a new sequence until acked (file blocks)
)

// Schema describes the frames of one source. Both ends are configured with it.
type Schema struct {
	Name     string // "cubes", "rpc", ...
	Item     string // what one row (or byte of body) is called: "cube", "call", "byte"
	Rows     int    // rows of the table
	Fields   []Field
	Delivery Delivery
	TickHz   int    // frames a second that the source makes
	Timed    bool   // each frame comes at a time of its own, and TickHz is their mean rate
	Parts    []Part // of tables whose rows are not all alike, in the order of rows; nil: they are
}

// Cells returns the length of a frame's table: rows times fields.
func (s *Schema) Cells() int { return s.Rows * len(s.Fields) }

// Items returns how many items a frame holds: its rows, or the bytes of its
// body when it has none.
func (s *Schema) Items(f *Frame) int {
	if s.Rows > 0 {
		return s.Rows
	}
	return len(f.Body)
}

// NewFrame returns a zeroed frame of this shape.
func (s *Schema) NewFrame() *Frame { return &Frame{Table: make([]int32, s.Cells())} }

// ErrRange marks a value outside its field's range.
var ErrRange = errors.New("value out of range")

// Check returns an error naming row and field of the first value that is out of
// range, or nil.
func (s *Schema) Check(f *Frame) error {
	if len(f.Table) != s.Cells() {
		return fmt.Errorf("frame holds %d values, %s expects %d rows x %d fields", len(f.Table), s.Name, s.Rows, len(s.Fields))
	}
	for i := range s.Rows {
		if err := s.CheckRow(f, i); err != nil {
			return err
		}
	}
	return nil
}

// CheckRow is Check for one row of a frame of the right size.
func (s *Schema) CheckRow(f *Frame, i int) error {
	n := len(s.Fields)
	for j, v := range f.Table[i*n : (i+1)*n] {
		if fd := &s.Fields[j]; fd.Kind.Bounded() && (v < fd.Min || v > fd.Max) {
			return fmt.Errorf("%s %d, field %s: %w: %d, expected %d..%d", s.Item, i, fd.Name, ErrRange, v, fd.Min, fd.Max)
		}
	}
	return nil
}

// CheckSince is Check for a frame of the right size that was made from base, which holds
// nothing out of range: rows that are the same are not looked at.
func (s *Schema) CheckSince(f, base *Frame) error {
	const block = 32 // rows
	n := len(s.Fields)
	for from := 0; from < s.Rows; from += block {
		to := min(from+block, s.Rows)
		if equal(f.Table[from*n:to*n], base.Table[from*n:to*n]) {
			continue
		}
		for i := from; i < to; i++ {
			if err := s.CheckRow(f, i); err != nil {
				return err
			}
		}
	}
	return nil
}
