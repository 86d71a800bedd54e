package labtest

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

// WideFields are the fields of a schema with more fields than a small screen has rows. Some names
// share a prefix.
var WideFields = []string{"time", "position-x", "position-y", "position-z", "velocity-x", "velocity-y", "velocity-z",
	"acceleration-x", "acceleration-y", "acceleration-z", "rotation-p", "rotation-y", "rotation-r", "spin-p", "spin-y",
	"spin-r", "mode", "jump", "crouch", "sprint", "fire", "aim", "reload", "use", "melee", "base"}

// NewShown returns a lab like NewWide whose snapshot also contains the frame that was sent and the
// one that the receiver displays, 137 ms old. They differ in the position.
func NewShown() *Lab {
	lab := NewWide()
	d := &playout.Frames{Shown: &frame.Frame{}, Age: 137 * time.Millisecond}
	for i := range lab.Snap.Schema.Fields {
		f := &lab.Snap.Schema.Fields[i]
		if f.Name == "spin-p" {
			f.Scale = 1.0 / 131072 // values with many decimals
		}
		v := int32(i*i*i - 999)
		d.Sent.Table, d.Shown.Table = append(d.Sent.Table, v), append(d.Shown.Table, v)
		if i > 0 && i < 4 { // the three coordinates of the position
			d.Shown.Table[i] -= 7
		}
	}
	lab.Snap.Frames = d
	lane := &lab.Snap.Lanes[0]
	lane.Totals.AgeMS = figures.Quantiles{N: 1, P50: 131, P99: 263}
	for i := range lane.Samples {
		s := &lane.Samples[i]
		s.Displayed, s.Aged, s.Oldest = 6, 6, time.Duration(120+i%37)*time.Millisecond
		s.Age = 6 * s.Oldest
	}
	return lab
}

// NewWide returns a lab that sends calls of a schema with many fields, each with a share of the
// bit budget.
func NewWide() *Lab {
	lab := NewLab()
	schema := &frame.Schema{Name: "wide", Item: "call", Rows: 1, TickHz: packetRateHz}
	var b encoders.Budget
	b.Bits(encoders.SlotPadding, 40)
	for i, name := range WideFields {
		schema.Fields = append(schema.Fields, frame.Field{Name: name, Max: 1000})
		b.Bits(encoders.FieldSlot(i), 3+(i*37)%101)
	}
	lane := &lab.Snap.Lanes[0]
	lab.Snap.Schema, lab.Snap.Item, lane.Encoder, lane.Recent.Budget = schema, schema.Item, "rpc-adaptive", b
	for i := range lane.Samples {
		lane.Samples[i].Budget, lane.Samples[i].Changed, lane.Samples[i].Items = b, 6, 6
		lane.Samples[i].PayloadBits = b.Total() / encoders.BitUnit
	}
	return lab
}
