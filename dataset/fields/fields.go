// Package fields counts how each field of a source changes from one frame to the
// next: what an encoder of such frames has to gain, field by field.
package fields

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
)

// change is how one field changes.
type change struct {
	Field   string  `json:"field"`
	Kind    string  `json:"kind"`
	Unit    string  `json:"unit,omitempty"`
	Changed float64 `json:"changed"`   // share of its values that are not what they were
	Mean    float64 `json:"mean_step"` // mean size of a change, in units; 0 where differences mean nothing
	Max     float64 `json:"max_step"`  // the largest
	Entropy float64 `json:"xor_bits"`  // mean bits of the XOR with what it was, leading zeros left out
}

// counter compares every frame with the one so many before it.
type counter struct {
	schema *frame.Schema
	past   []frame.Frame // a ring of the last frames
	n      int
	sums   []change
}

// New counts changes over age frames, at least one, of schema s, which has a table.
func New(s *frame.Schema, age int) *counter {
	c := &counter{schema: s, past: make([]frame.Frame, max(age, 1)), sums: make([]change, len(s.Fields))}
	for i, f := range s.Fields {
		c.sums[i] = change{Field: f.Name, Kind: f.Kind.String(), Unit: f.Unit}
	}
	return c
}

// Add takes the next frame in.
func (c *counter) Add(f *frame.Frame) {
	at := &c.past[c.n%len(c.past)]
	if c.n >= len(c.past) {
		for i, v := range f.Table {
			c.compare(i%len(c.sums), v, at.Table[i])
		}
	}
	at.CopyFrom(f)
	c.n++
}

func (c *counter) compare(field int, now, was int32) {
	if now == was {
		return
	}
	s := &c.sums[field]
	s.Changed++
	s.Entropy += float64(bits.Len32(uint32(now ^ was)))
	step := stepOf(&c.schema.Fields[field], now, was)
	s.Mean += step
	s.Max = max(s.Max, step)
}

// stepOf returns by how much a field changed, in its units.
func stepOf(f *frame.Field, now, was int32) float64 {
	switch f.Kind {
	case frame.Float32:
		d := math.Abs(float64(math.Float32frombits(uint32(now))) - float64(math.Float32frombits(uint32(was))))
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return 0
		}
		return d
	case frame.Quantity:
		return math.Abs(float64(int64(now)-int64(was))) * f.Step()
	case frame.Angle:
		round := int64(f.Max) - int64(f.Min) + 1
		d := (int64(now) - int64(was) + round) % round
		return float64(min(d, round-d)) * f.Step()
	}
	return 0
}

// Frames returns how many frames were compared.
func (c *counter) Frames() int { return max(0, c.n-len(c.past)) }

// Changes returns how each field changed.
func (c *counter) Changes() []change {
	list := append([]change(nil), c.sums...)
	values := float64(c.Frames() * c.schema.Rows)
	for i := range list {
		s := &list[i]
		if s.Changed > 0 {
			s.Mean /= s.Changed
		}
		if values > 0 {
			s.Changed, s.Entropy = s.Changed/values, s.Entropy/values
		}
	}
	return list
}
