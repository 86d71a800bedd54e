package ui

import (
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

func TestFailedPacketsAreShown(t *testing.T) {
	for _, c := range []struct {
		w, h int
		keys string
		want []string
	}{
		// 6 corrupt, all in the last 2 s
		{160, 48, "", []string{"! corrupt   3.0", "6 in total", "! 6 corrupt"}},
		{112, 32, "", []string{"! corrupt   3.0"}},
		{80, 24, "", []string{"failed 6", "! corrupt   3.0"}},
		{60, 20, "", []string{"failed 6", "! corrupt   3.0"}},
		{60, 20, "tab tab", []string{"! corrupt  ◐ stale  ✕ no base"}},
	} {
		m := screen(labtest.NewDamaged(), c.w, c.h)
		press(m, c.keys)
		checkShown(t, m, c.want...)
	}
}
