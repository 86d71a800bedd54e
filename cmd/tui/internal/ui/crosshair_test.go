package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// TestCrosshair checks that the legends of all pages with charts have the means of the two seconds before the crosshair,
// computed here from the samples, that the charts keep their data, and that esc removes the crosshair.
func TestCrosshair(t *testing.T) {
	lab := labtest.NewBits(true)
	m := large(lab)
	before := m.View()
	press(m, "/crosshair 01:10")
	press(m, "( ( ( )") // two steps of a second: the charts show a minute
	at := 68 * time.Second
	if m.crosshair != at {
		t.Fatalf("the crosshair is at %v, want %v", m.crosshair, at)
	}
	bits := [2]int64{}
	for i := range lab.Snap.Lanes {
		for _, s := range lab.Snap.Lanes[i].Samples {
			if s.T > at-2*time.Second && s.T <= at {
				bits[i] += s.PayloadBits
			}
		}
	}
	want := [2]string{units.Fixed(float64(bits[0])/2000, 1), units.Fixed(float64(bits[1])/2000, 1)}
	if want[0] == units.Fixed(lab.Snap.Lanes[0].Recent.PayloadKbps, 1) {
		t.Fatal("the mean does not change with time, so that the test is of no use")
	}
	for _, page := range []string{"1", "2", "5"} {
		press(m, page)
		view := after(m)
		labtest.CheckScreen(t, "page "+page, view, 160, 48)
		if !strings.Contains(view, look.FormatTime(at)) || !strings.Contains(view, want[0]) || !strings.Contains(view, want[1]) {
			t.Errorf("page %s lacks %s, %s or %s:\n%s", page, look.FormatTime(at), want[0], want[1], view)
		}
	}
	press(m, "3 (")
	checkShown(t, m, "this page has no charts for a crosshair")
	m.lab.Dismiss()
	for _, lab := range []*labtest.Lab{labtest.NewLab(), labtest.NewCalls()} { // cubes and a table
		m := large(lab)
		press(m, "4 c ( (")
		if m.crosshair == 0 || strings.Contains(m.View(), "this page has no charts for a crosshair") {
			t.Errorf("page 4 has no crosshair:\n%s", m.View())
		}
	}
	press(m, slices.Concat([]string{"1"}, slices.Repeat([]string{"("}, 100))...)
	if first := lab.Snap.Lanes[0].Samples[0].T; m.crosshair != first {
		t.Errorf("far to the left is %v, want the oldest sample at %v", m.crosshair, first)
	}
	press(m, "esc")
	if v := after(m); v != before {
		t.Errorf("esc does not restore the page:\n%s\nbefore:\n%s", v, before)
	}
	press(m, "/crosshair 00:50")
	press(m, "/crosshair off")
	if v := after(m); strings.Contains(v, "00:50.0") && m.crosshair != 0 {
		t.Errorf("crosshair off: %v", m.crosshair)
	}
}
