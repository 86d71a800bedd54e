package ui

import (
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
)

// What is sent as a whole has one figure per item; what a protocol says of itself
// takes the place of the baseline, and the receiver's word comes first.
func TestNowOfMessages(t *testing.T) {
	lane := engine.Lane{Recent: engine.Recent{BitsPerItem: 3.42, BitsPerChanged: 3.42}}
	lane.Totals.Sender = []encoders.Gauge{{Name: "models built", Value: 7}}
	p := &nowPane{item: "byte", schema: &frame.Schema{Item: "byte"}, lane: lane}
	text := func() string {
		var b strings.Builder
		for _, row := range p.figures() {
			for _, f := range row {
				b.WriteString(f.label + " " + f.value + " " + f.unit + "; ")
			}
		}
		return b.String()
	}
	if got := text(); !strings.Contains(got, "models built 7 ;") || strings.Contains(got, "per changed") || strings.Contains(got, "baseline") {
		t.Errorf("the sender alone: %s", got)
	}
	p.lane.Totals.Receiver = []encoders.Gauge{{Name: "models built", Value: 8}, {Name: "loss seen", Unit: "%", Value: 2.25}, {Name: "memory", Unit: "bytes", Value: 51_716}}
	if got := text(); !strings.Contains(got, "models built 8 ; loss seen 2.2 %; memory 51.7 KB;") {
		t.Errorf("both ends: %s", got)
	}
	p.lane.Totals.Sender, p.lane.Totals.Receiver = nil, nil
	if got := text(); !strings.Contains(got, "baseline") {
		t.Errorf("no protocol: %s", got)
	}
}

// A call is all there is in its frame: one is enough for a mean. Of cubes it is not.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		s    engine.Sample
		want bool
	}{
		{engine.Sample{Sent: 6, Items: 6, Changed: 6}, true},
		{engine.Sample{Sent: 6, Items: 3000, Changed: 3000}, true},
		{engine.Sample{Sent: 6, Items: 6 * 901, Changed: 29}, false},
		{engine.Sample{Sent: 6, Items: 6 * 901, Changed: 30}, true},
		{engine.Sample{}, false},
	} {
		if got := enough(&c.s); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
	if got := perHead(perWhat(frame.Cubes(901), "cube")) + " " + perHead(perWhat(&frame.Schema{Rows: 1}, "call")); got != "chg call" {
		t.Errorf("columns are headed %q", got)
	}
}
