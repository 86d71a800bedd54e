package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// TestEncoderThatAlwaysFails checks that an encoder that fails on every frame is reported once in
// a notice and permanently in the header, until another encoder is active. Keys must work
// meanwhile.
func TestEncoderThatAlwaysFails(t *testing.T) {
	lab := labtest.NewEcho()
	m := screen(lab, 160, 48, Options{})
	fail := func(n int) {
		for i := range n {
			next := *lab.Snap
			next.Lanes = slices.Clone(next.Lanes)
			next.Lanes[0].Err = fmt.Errorf("frame %d: cube %d is out of range", i, 900-i)
			next.Lanes[0].Totals.EncodeFailed += 3
			lab.Snap = &next
			m.Update(room.Tick{})
		}
	}
	fail(1)
	if v := m.View(); !strings.Contains(v, "refused a frame: frame 0: cube 900") || !strings.Contains(v, "ENCODER FAILS") {
		t.Fatalf("nothing is said:\n%s", v)
	}
	m.lab.Dismiss()
	fail(200)
	if v := m.View(); strings.Contains(v, "refused a frame") || !strings.Contains(v, "ENCODER FAILS") ||
		!strings.Contains(lastRow(m), "? help") {
		t.Errorf("after ten seconds of it:\n%s", v)
	}
	press(m, "e", "down", "enter")
	if got := spell(lab.Got); got != "encoder rotor" {
		t.Errorf("the keys sent %q", got)
	}
	for range noteFresh + 1 {
		m.Update(room.Tick{})
	}
	if strings.Contains(m.View(), "ENCODER FAILS") {
		t.Error("the header shows a failure that has ended")
	}
}
