// Package frame defines the units of data that sources produce, encoders encode and endpoints exchange.
//
// A [Frame] is the state of a game at one tick: a table of integers, a body of bytes, or both. A
// [Schema] describes all frames of a source. A snapshot of cubes is a table of 901 rows with 8 fields,
// a remote procedure call is one row, and a text message is a body without a table, so that one
// encoder interface serves all of them.
//
// A [History] stores the latest frames of an endpoint by sequence number, for use as references. Its
// memory is bounded. Several histories can share the same frame: see [Pool] and [Shared]. [Rows] is a
// set of rows, such as those that changed between two frames.
//
// All integers of a table are exact: an encoder must reproduce them bit for bit. For quantities that
// are real numbers in the game, a [Field] defines the unit and the scale of its integers.
//
// The types are not safe for concurrent use unless stated otherwise.
package frame

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Kind is the meaning of a field's integers. Encoders choose their predictions by it.
type Kind uint8

// Kinds of fields.
const (
	// Quantity is a number in Min..Max. Small differences are more likely than large ones.
	Quantity Kind = iota
	// Enum is one of the values Min..Max, between which there is no order.
	Enum
	// Flag is 0 or 1.
	Flag
	// Bits is a set of 32 independent bits. Min and Max are ignored.
	Bits
	// Angle is a quantity that wraps: Min follows Max.
	Angle
	// Float32 is the bits of an IEEE 754 number (math.Float32bits). Min and Max are ignored.
	Float32
)

// String returns the kind's name in TOML schemas.
func (k Kind) String() string {
	names := [...]string{"quantity", "enum", "flag", "bits", "angle", "float32"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Bounded reports whether values of the kind are limited to Min..Max. Otherwise any int32 is valid.
func (k Kind) Bounded() bool { return k != Bits && k != Float32 }

// Field describes one column of a frame's table.
type Field struct {
	// Name identifies the field in its schema. Unit is for display, such as "m"; it may be empty.
	Name, Unit string
	Kind       Kind
	// Min and Max are the lowest and the highest valid value, if Kind.Bounded.
	Min, Max int32
	// Scale is the number of units of one integer step. 0 means 1.
	Scale float64
	// Tolerance is the largest error in units that the game accepts, of rounding and of what is sent later because of a
	// budget. 0 means that it is unknown.
	Tolerance float64
	// Values are the names of the values 0, 1, and so on, for display. Further values have no name.
	Values []string
	// Jump is, for a Position, the largest change in units between two snapshots that is a movement. After a larger one,
	// such as a respawn, the thing is elsewhere: the display does not interpolate the way there. 0 means no limit.
	Jump float64
	// Hint describes the role of the field in the game. The zero Hint means that it is unknown.
	Hint Hint
}

// Named reports whether every value of the field has a name.
func (f *Field) Named() bool { return f.Kind == Enum && f.Min == 0 && len(f.Values) == int(f.Max)+1 }

// NameOf returns the name of value v, or "" if it has none.
func (f *Field) NameOf(v int32) string {
	if v < 0 || int(v) >= len(f.Values) {
		return ""
	}
	return f.Values[v]
}

// Step returns Scale, or 1 if Scale is 0.
func (f *Field) Step() float64 { return cmp.Or(f.Scale, 1) }

// InUnits returns value v of the field in its unit.
func (f *Field) InUnits(v int32) float64 {
	if f.Kind == Float32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return float64(float64(v) * f.Step())
}

// Span returns the lowest value of the field, and the difference of the highest value to it modulo
// 2^32. A value v is valid exactly if uint32(v)-uint32(lowest) <= span. For kinds without bounds all
// values are valid.
func (f *Field) Span() (lowest int32, span uint32) {
	if !f.Kind.Bounded() {
		return 0, 1<<32 - 1
	}
	return f.Min, uint32(f.Max) - uint32(f.Min)
}

// Delivery is how an endpoint treats frames that are lost or late.
type Delivery uint8

// Delivery modes.
const (
	// Latest drops frames that arrive after a newer one, and does not resend. Snapshots use it.
	Latest Delivery = iota
	// Unreliable delivers late frames too, and does not resend. Text messages and datagrams use it.
	Unreliable
	// Reliable resends frames, under new sequence numbers, until they are acknowledged. Blocks of files
	// use it.
	Reliable
)

// Schema describes the frames of one source. Sender and receiver are configured with the same schema.
type Schema struct {
	// Name is the kind of data, such as "cubes" or "rpc". Encoders for one game select by it.
	Name string
	// Item is the word for a row, or for a byte of the body if there are no rows: "cube", "call",
	// "byte". Results are in bits per item.
	Item string
	// Rows is the number of rows of the table. 0 means that frames have only a body.
	Rows int
	// Fields are the columns of the table.
	Fields   []Field
	Delivery Delivery
	// TickHz is the number of frames per second, or the mean rate if Timed is set.
	TickHz int
	// Timed means that the source determines the time of each frame (source.Timed).
	Timed bool
	// Parts lists the fields that each range of rows uses, in the order of the rows. nil means that all
	// rows use all fields.
	Parts []Part
}

// Cells returns the length of a frame's table: rows times fields.
func (s *Schema) Cells() int { return s.Rows * len(s.Fields) }

// Items returns the number of items of f: the rows, or the bytes of its body if the schema has no rows.
func (s *Schema) Items(f *Frame) int {
	if s.Rows > 0 {
		return s.Rows
	}
	return len(f.Body)
}

// NewFrame returns a frame with a table of zeros and no body.
func (s *Schema) NewFrame() *Frame { return &Frame{Table: make([]int32, s.Cells())} }

// ErrRange is returned, wrapped, for a value outside of the range of its field.
var ErrRange = errors.New("value out of range")

// Check returns an error unless f has a table of the right size with all values in the ranges of their
// fields. The error for a value names its row and field and wraps ErrRange.
func (s *Schema) Check(f *Frame) error {
	if len(f.Table) != s.Cells() {
		return fmt.Errorf("frame has %d values, %s expects %d rows x %d fields", len(f.Table), s.Name, s.Rows, len(s.Fields))
	}
	for i := range s.Rows {
		if err := s.CheckRow(f, i); err != nil {
			return err
		}
	}
	return nil
}

// CheckRow is Check for row i only. The table must have the right size.
func (s *Schema) CheckRow(f *Frame, i int) error {
	n := len(s.Fields)
	for j, v := range f.Table[i*n : (i+1)*n] {
		if fd := &s.Fields[j]; fd.Kind.Bounded() && (v < fd.Min || v > fd.Max) {
			return fmt.Errorf("%s %d, field %s: %w: %d, expected %d..%d", s.Item, i, fd.Name, ErrRange, v, fd.Min, fd.Max)
		}
	}
	return nil
}

// CheckChanged is Check for a frame that differs from base in few rows. It skips rows that are equal,
// since all values of base must be in range. Both tables must have the right size.
func (s *Schema) CheckChanged(f, base *Frame) error {
	const block = 32 // rows
	n := len(s.Fields)
	for from := 0; from < s.Rows; from += block {
		to := min(from+block, s.Rows)
		if tablesEqual(f.Table[from*n:to*n], base.Table[from*n:to*n]) {
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
