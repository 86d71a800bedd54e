package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
)

// TestGoldenCharts compares charts of all sizes and styles with golden files: with shadows,
// and charts of ratios.
func TestGoldenCharts(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "charts-80x24", w: 80, h: 24},
		{name: "charts-100x30", w: 100, h: 30},
		{name: "charts-160x48", w: 160, h: 48},
		{name: "charts-200x60", w: 200, h: 60},
		{name: "charts-160x48-line", w: 160, h: 48, opt: Options{Charts: "line"}},
		{name: "charts-160x48-ascii", w: 160, h: 48, opt: Options{Charts: "ascii"}},
		{name: "ratios-80x24", w: 80, h: 24, keys: []string{"5", "c"}},
		{name: "ratios-100x30", w: 100, h: 30, keys: []string{"5", "c"}},
		{name: "ratios-200x60", w: 200, h: 60, keys: []string{"5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screen(&labtest.Lab{Snap: labtest.FourShadows()}, c.w, c.h, c.opt)
			press(m, c.keys...)
			m.lab.Dismiss()
			press(m)
			compareGolden(t, c.name, m.View())
		})
	}
}

// TestChartStyles checks that each chart style has its characters, and that a change of the theme keeps the style.
func TestChartStyles(t *testing.T) {
	const fine, line, ascii = "⠤⠖⣀⠒⠉", "╭─╮", ""
	var m *dashboard
	for name, want := range map[string]string{"fine": fine, "line": line, "ascii": ascii} {
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
	press(m, append([]string{"/"}, append(strings.Split("theme light", ""), "enter")...)...)
	if chart := strings.Join(strings.Split(m.View(), "\n")[2:12], "\n"); strings.ContainsAny(chart, fine) {
		t.Errorf("a theme changes the charts:\n%s", chart)
	}
}
