package ui

import (
	"regexp"
	"testing"
	"wirelab/cmd/tui/internal/labtest"
)

// TestLateIsOneFigure checks that the number of late snapshots is the same on all pages, and that
// overtaken packets are called stale and not late.
func TestLateIsOneFigure(t *testing.T) {
	said := 0
	for _, keys := range []string{"1", "1 tab tab tab tab", "1 tab tab", "3", "4 c", "4 c c"} {
		for _, size := range [][2]int{{80, 24}, {160, 48}, {260, 60}} {
			lab := labtest.NewWorld()
			lab.Snap.Lanes[0].Totals.Playout.Late, lab.Snap.Lanes[0].Totals.Stale = 1234, 4321
			m := screen(lab, size[0], size[1])
			press(m, keys)
			view := m.View()
			for _, found := range regexp.MustCompile(`(?i)late\b[^│╮]*?(\d+) in total|\blate +(\d+)|(\d+) +late\b`).FindAllStringSubmatch(view, -1) {
				said++
				if got := found[1] + found[2] + found[3]; got != "1234" {
					t.Errorf("%v after %s: late is %s, the totals say 1234: %s", size, keys, got, found[0])
				}
			}
		}
	}
	if said == 0 {
		t.Error("no page counts them")
	}
}
