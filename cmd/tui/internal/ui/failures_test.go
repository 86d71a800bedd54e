package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

func TestFailedPacketsAreShown(t *testing.T) {
	for _, c := range []struct {
		w, h int
		keys []string
		want []string
	}{
		// 6 corrupt, all in the last 2 s
		{160, 48, nil, []string{"! corrupt   3.0", "6 in total", "! 6 corrupt"}},
		{112, 32, nil, []string{"! corrupt   3.0"}},
		{80, 24, nil, []string{"failed 6", "! corrupt   3.0"}},
		{60, 20, nil, []string{"failed 6", "! corrupt   3.0"}},
		{60, 20, []string{"tab", "tab"}, []string{"! corrupt  ◐ stale  ✕ no base"}},
	} {
		m := screen(labtest.NewDamaged(), c.w, c.h, Options{})
		press(m, c.keys...)
		for _, want := range c.want {
			if !strings.Contains(m.View(), want) {
				t.Errorf("at %dx%d after %v the screen lacks %q:\n%s", c.w, c.h, c.keys, want, m.View())
			}
		}
	}
}
