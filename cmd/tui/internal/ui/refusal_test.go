package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

// TestEncoderThatAlwaysFails checks that an encoder that fails on every frame is reported once in
// a notice and permanently in the header, until another encoder is active. Keys must work
// meanwhile.
func TestEncoderThatAlwaysFails(t *testing.T) {
	lab := labtest.NewEcho()
	m := large(lab)
	fail := func(n int) {
		for i := range n {
			next := *lab.Snap
			next.Lanes = slices.Clone(next.Lanes)
			next.Lanes[0].Err = fmt.Errorf("frame %d: cube %d is out of range", i, 900-i)
			next.Lanes[0].Totals.EncodeFailed += 3
			lab.Snap = &next
			tick(m, 1)
		}
	}
	fail(1)
	checkShown(t, m, "refused a frame: frame 0: cube 900", "ENCODER FAILS")
	m.lab.Dismiss()
	fail(200)
	if v := m.View(); strings.Contains(v, "refused a frame") || !strings.Contains(v, "ENCODER FAILS") ||
		!strings.Contains(lastRow(m), "? help") {
		t.Errorf("after ten seconds of it:\n%s", v)
	}
	press(m, "e down enter")
	checkSent(t, lab.Got, "encoder rotor")
	tick(m, noteFresh+1)
	checkLacking(t, m, "ENCODER FAILS")
}
