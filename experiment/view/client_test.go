package view

import (
	"testing"

	"wirelab/dataset/frame"
)

// TestForgedPackets checks that a client stays small if packets repeat a sequence number and name no ack, as no server does.
func TestForgedPackets(t *testing.T) {
	s := &frame.Schema{Name: "tanks", Rows: 1, TickHz: 60, Fields: []frame.Field{{Name: "x", Max: 1000}}}
	c, f := NewClient(s, s.NewFrame()), s.NewFrame()
	f.Table[0] = 1
	for i := range 2 * maxSpan {
		if _, ok := c.Reference(0, uint64(i), 0); !ok {
			t.Fatal("the initial state is no reference")
		}
		_, ok := c.Apply(1, 0, f, new(int), uint64(i)) // the memo may be any value
		if ok != (i < maxSpan) || len(c.applied) > maxSpan || len(c.spares) > MaxStates {
			t.Fatalf("packet %d: %v, the client lists %d packets and has %d spare memos", i, ok, len(c.applied), len(c.spares))
		}
	}
}
