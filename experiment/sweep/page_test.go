package sweep

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/internal/testkit"
)

// The report.html of a sweep equals the page made from its report.json, and has every point with its
// interval.
func TestPageOfASweep(t *testing.T) {
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	runSweep(t, p, Options{Store: store})
	saved := must(os.ReadFile(filepath.Join(dir, "report.html")))
	l := must(page.Load(dir))
	var made bytes.Buffer
	noError(t, l.Document().WriteHTML(&made))
	if made.String() != string(saved) {
		t.Error("the page made from report.json is another than the one saved with it")
	}
	for _, what := range []string{"6 points; nothing decoded wrong", "30 of 30 runs", "Recommended setting", "at-rest", "±", "Heat maps"} {
		if !strings.Contains(made.String(), what) {
			t.Errorf("the page does not contain %q", what)
		}
	}
}

// The table for a terminal has the error of the display in the unit of the data, beside starvation.
func TestErrorInTable(t *testing.T) {
	s := Summary{}
	s.Units = figures.UnitsOf(&figures.Totals{Playout: figures.Playout{PositionErrorUnit: "cm"}})
	s.Points = []page.Point{{Figures: map[string]figures.Mean{"playout.starved_ratio": {N: 1, Mean: 0.47}, "playout.position_error.p95": {N: 1, Mean: 19.25}}}}
	var text strings.Builder
	if err := s.Text(&text, 0); err != nil || !regexp.MustCompile(`display starved, % +position error, p95, cm .*\n.* 47.00 +19.250 `).MatchString(text.String()) {
		t.Errorf("%v:\n%s", err, &text)
	}
}

// The table for a narrow terminal fits its width, and a line below it has the figures that are equal at all points.
func TestNarrowTable(t *testing.T) {
	s := Summary{}
	s.Keys = []string{"down.loss"}
	for _, loss := range []string{"1%", "5%"} {
		figure := func(mean float64) figures.Mean { return figures.Mean{N: 1, Mean: mean + float64(len(s.Points))} }
		s.Points = append(s.Points, page.Point{Set: map[string]string{"down.loss": loss}, Seeds: 1, Figures: map[string]figures.Mean{
			"payload_kbps": figure(160), "wire_kbps": figure(180), "bits_per_item": figure(3), "wrong": {N: 1}}})
	}
	var text strings.Builder
	noError(t, s.Text(&text, 40))
	for line := range strings.Lines(text.String()) {
		if utf8.RuneCountInString(line) > 41 { // with the end of the line
			t.Errorf("too wide: %q", line)
		}
	}
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{" 1% 1 160.0 180.0 ", " 5% 1 161.0 181.0 ", " 5% 1 4.00 ", "The same at all points: wrong packets: 0."} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestHostileSummary checks the table for a terminal, report.md and summary.csv of a sweep whose
// settings and failures are hostile texts.
func TestHostileSummary(t *testing.T) {
	lo, hi := 1.0, 3.0
	for first, text := range testkit.HostileTexts {
		s := Summary{}
		testkit.FillHostile(&s, first)
		s.Keys = []string{text}
		list := map[string]figures.Mean{"payload_kbps": {Mean: 2, Lo: &lo, Hi: &hi, Approximate: true}}
		s.Points = []page.Point{{Set: map[string]string{text: text}, Figures: list, Ratio: list}}
		c := config.Default()
		c.Sweep = []config.Axis{{Key: text}}
		s.samples = &samples{Names: []string{text}, plan: &Plan{Config: c, Grid: experiment.Grid{Points: []config.Point{{Set: s.Points[0].Set}}, Repeat: 1}},
			values: [][]float64{{1}}}
		for name, c := range map[string]struct {
			write func(io.Writer) error
			check func(testing.TB, string, string)
		}{
			"text":        {func(w io.Writer) error { return s.Text(w, 0) }, testkit.CheckTerminalText},
			"narrow":      {func(w io.Writer) error { return s.Text(w, 40) }, testkit.CheckTerminalText},
			"report.md":   {s.Document().WriteMarkdown, testkit.CheckMarkdown},
			"summary.csv": {s.CSV, func(t testing.TB, name, text string) { testkit.CheckCSV(t, name, text) }},
		} {
			var b strings.Builder
			if err := c.write(&b); err != nil || b.Len() == 0 {
				t.Fatalf("%s: %d bytes, %v", name, b.Len(), err)
			}
			c.check(t, name, b.String())
		}
	}
}
