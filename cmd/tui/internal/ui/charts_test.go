package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

// TestChartStyles checks that each chart style has its characters, and that a change of the theme keeps the style.
func TestChartStyles(t *testing.T) {
	const fine, line = "⠤⠖⣀⠒⠉", "╭─╮"
	var m *dashboard
	for name, want := range map[string]string{"fine": fine, "line": line} {
		m = screen(labtest.NewLab(), 160, 48, Options{Charts: name})
		chart := strings.Join(strings.Split(m.View(), "\n")[2:12], "\n")
		if has := strings.ContainsAny(chart, fine); has != (want == fine) {
			t.Errorf("dots %v, want %q:\n%s", has, want, chart)
		}
		if has := strings.Contains(strings.ReplaceAll(chart[:len(chart)-5], "╭", ""), "╯"); has != (want == line) && want != fine {
			t.Errorf("lines %v, want %q:\n%s", has, want, chart)
		}
	}
	m = screen(labtest.NewLab(), 160, 48, Options{Charts: "line"})
	press(m, "/theme light")
	if chart := strings.Join(strings.Split(m.View(), "\n")[2:12], "\n"); strings.ContainsAny(chart, fine) {
		t.Errorf("a theme changes the charts:\n%s", chart)
	}
}
