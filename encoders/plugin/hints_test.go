//go:build unix

package plugin

import (
	"encoding/binary"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// TestHints checks that modules and processes receive the hints of a schema if their flags request them, in the format
// of wl_hint. The encoders of this test send the hints that they received as their packet.
func TestHints(t *testing.T) {
	s := &frame.Schema{Name: "match", Item: "player", Rows: 2, TickHz: 30, Fields: []frame.Field{
		{Name: "x", Max: 100, Hint: frame.Hint{Role: frame.Position, Group: 1, Axis: 2, Rides: 3}},
		{Name: "vx", Max: 100, Hint: frame.Hint{Role: frame.Velocity, Group: 1, Rate: 0.5, Drag: 0.25, StopSpeed: 100}},
		{Name: "hp", Max: 100},
		{Name: "yaw", Kind: frame.Float32, Hint: frame.Hint{Turn: 360, Step: 0.125}},
		{Name: "kind", Max: 3, Hint: frame.Hint{Role: frame.Type}}, {Name: "there", Max: 1, Hint: frame.Hint{Role: frame.Present}},
		{Name: "since", Max: 100, Hint: frame.Hint{Role: frame.Clock}}, {Name: "now", Max: 100, Hint: frame.Hint{Role: frame.Now}}}}
	type hint struct { // wl_hint in wirelab.h
		Role, Group, Axis, Rides          int32
		Rate, Drag, StopSpeed, Turn, Step float32
	}
	want := []hint{{Role: 1, Group: 1, Axis: 2, Rides: 3}, {Role: 2, Group: 1, Rate: 0.5, Drag: 0.25, StopSpeed: 100}, {},
		{Turn: 360, Step: 0.125}, {Role: 3}, {Role: 4}, {Role: 5}, {Role: 6}}
	for _, path := range []string{"testdata/hints.wasm", processPath(t, "hints")} {
		p := load(t, path, Options{})
		enc, _, err := p.Codecs[0].New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		packet, _, err := enc.Encode(nil, s.NewFrame(), []encoders.Ref{{Frame: s.NewFrame()}}, nil, nil)
		if err != nil || len(packet) != len(want)*36 {
			t.Fatalf("%s: %d bytes, %v", path, len(packet), err)
		}
		for i, w := range want {
			var got hint
			if _, err := binary.Decode(packet[36*i:], binary.LittleEndian, &got); err != nil || got != w {
				t.Errorf("%s: field %d: %+v, %v, want %+v", path, i, got, err, w)
			}
		}
	}
}
