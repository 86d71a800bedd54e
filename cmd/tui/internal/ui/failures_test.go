package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

func TestTaintedPacketsAreShown(t *testing.T) {
	for _, c := range []struct {
		w, h int
		keys []string
		want []string
	}{
		// 7 without a baseline, 41 tainted; 8 of them in 2 s
		{160, 48, nil, []string{"T tainted  ", "T tainted 4.0", "48 in total", "T 41 tainted"}},
		{112, 32, nil, []string{"T tainted 4.0"}},
		{80, 24, nil, []string{"failed 48", "T tainted 4.0"}},
		{60, 20, nil, []string{"failed 48", "T tainted 4.0"}},
		{60, 20, []string{"tab", "tab"}, []string{"✕ no base  T tainted"}},
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
