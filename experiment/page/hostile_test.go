package page

import (
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
)

// TestHostileNames checks that no text of a result adds a script, an attribute or a control character to a
// page, neither to its text nor to the data of its charts.
func TestHostileNames(t *testing.T) {
	for first := range testkit.HostileTexts {
		text := testkit.HostileTexts[first]
		r := &report.Report{Runs: []*engine.Result{{}, {}}, Sweep: true, Planned: 2}
		for i, x := range r.Runs {
			testkit.FillHostile(x, first+i)
			x.Config = config.Values{"encoder": map[string]any{"name": text}, "data": map[string]any{"source": text}}
		}
		one := &run{Result: r.Runs[0], Missing: []string{text}, Rows: newRows([]string{"t_s", "sent", "payload_kbps"},
			[]string{"seq", "outcome", "encoder", "reason", "why"})}
		one.Rows.Sample([]string{"0.1", "1", "5"})
		one.Rows.Sample([]string{"0.2", "1", "6"})
		one.Rows.Packet([]string{"1", "corrupt", text, text, text})
		var b strings.Builder
		if err := one.Write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `id="charts"`) {
			t.Fatal("the page has no charts, whose marks this test checks")
		}
		testkit.CheckHTML(t, "page of a run", b.String())
		b.Reset()
		if err := writeSweep(&b, r); err != nil {
			t.Fatal(err)
		}
		testkit.CheckHTML(t, "page of a sweep", b.String())
		b.Reset()
		s := Summary{Planned: 2}
		testkit.FillHostile(&s, first)
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		testkit.CheckHTML(t, "page of a summary", b.String())
	}
}
