package labtest

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// WideFields are the fields of a schema with more slots than a small screen has rows, some of
// which begin alike.
var WideFields = []string{"time", "position-x", "position-y", "position-z", "velocity-x", "velocity-y", "velocity-z",
	"acceleration-x", "acceleration-y", "acceleration-z", "rotation-p", "rotation-y", "rotation-r", "spin-p", "spin-y",
	"spin-r", "mode", "jump", "crouch", "sprint", "fire", "aim", "reload", "use", "melee", "base"}

// NewWide is a session of calls of a wide schema, each of whose fields costs something.
func NewWide() *Lab {
	lab := NewLab()
	schema := &frame.Schema{Name: "wide", Item: "call", Rows: 1, TickHz: Hz}
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
