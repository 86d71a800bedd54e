// Package fields computes statistics of how each field of a source changes between frames, which show
// what an encoder can gain from each.
package fields

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
)

// fieldStats is the statistics of one field.
type fieldStats struct {
	Field   string  `json:"field"`
	Kind    string  `json:"kind"`
	Unit    string  `json:"unit,omitempty"`
	Changed float64 `json:"changed"`   // fraction of values that differ from the earlier frame
	Mean    float64 `json:"mean_step"` // mean magnitude of a change in units; 0 for kinds without differences
	Max     float64 `json:"max_step"`  // largest magnitude of a change
	Entropy float64 `json:"xor_bits"`  // mean number of bits of the XOR of both values, without leading zeros
}

// counter compares each frame with the frame len(ring) before it.
type counter struct {
	schema *frame.Schema
	ring   []frame.Frame // ring of the last frames
	frames int           // number of frames added
	sums   []fieldStats  // sums and counts by field, which Changes divides
}

// New returns a counter that compares frames age apart, at least one. Schema s must have a table.
func New(s *frame.Schema, age int) *counter {
	c := &counter{schema: s, ring: make([]frame.Frame, max(age, 1)), sums: make([]fieldStats, len(s.Fields))}
	for i, f := range s.Fields {
		c.sums[i] = fieldStats{Field: f.Name, Kind: f.Kind.String(), Unit: f.Unit}
	}
	return c
}

// Add adds the next frame.
func (c *counter) Add(f *frame.Frame) {
	old := &c.ring[c.frames%len(c.ring)]
	if c.frames >= len(c.ring) {
		for i, v := range f.Table {
			c.addChange(i%len(c.sums), v, old.Table[i])
		}
	}
	old.CopyFrom(f)
	c.frames++
}

// addChange adds the change of one value of a field.
func (c *counter) addChange(field int, now, was int32) {
	if now == was {
		return
	}
	s := &c.sums[field]
	s.Changed++
	s.Entropy += float64(bits.Len32(uint32(now ^ was)))
	step := changeSize(&c.schema.Fields[field], now, was)
	s.Mean += step
	s.Max = max(s.Max, step)
}

// changeSize returns the magnitude of a change in the units of the field. It is 0 for kinds without
// differences and for NaN and infinities; changes of angles are at most half a turn.
func changeSize(f *frame.Field, now, was int32) float64 {
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
		fullTurn := int64(f.Max) - int64(f.Min) + 1
		d := (int64(now) - int64(was) + fullTurn) % fullTurn
		return float64(min(d, fullTurn-d)) * f.Step()
	}
	return 0
}

// Frames returns the number of frames that were compared with an earlier one.
func (c *counter) Frames() int { return max(0, c.frames-len(c.ring)) }

// Changes returns the statistics of all fields. It divides the totals in c.sums: Mean becomes the mean size of a
// change, Changed the share of values that changed, and Entropy the mean number of changed bits per value.
func (c *counter) Changes() []fieldStats {
	list := append([]fieldStats(nil), c.sums...)
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
