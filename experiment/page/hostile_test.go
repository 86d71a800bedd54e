package page

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
)

// TestHostileNames checks that no text of a result adds markup, a script or a control character to a page or
// to Markdown, whatever document has it.
func TestHostileNames(t *testing.T) {
	for first := range testkit.HostileTexts {
		text := testkit.HostileTexts[first]
		r := &report.Report{Runs: []*engine.Result{{}, {}}, Sweep: true, Planned: 2}
		for i, x := range r.Runs {
			testkit.FillHostile(x, first+i)
			x.Config = config.Values{"encoder": map[string]any{"name": text},
				"data": map[string]any{"source": text}}
		}
		one := &run{Result: r.Runs[0], Missing: []string{text}, Rows: &rows{}}
		for i := range 2 {
			one.Rows.Sample(&meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, Width: meters.SamplePeriod, Encoder: text, Sizes: meters.Sizes{PayloadBits: 500}})
		}
		one.Rows.Packet(testPacket([]string{"1", "0", "0", "", "corrupt", text, text}))
		s := Summary{Planned: 2}
		testkit.FillHostile(&s, first)
		file := &Loaded{Path: text, Report: r, Run: one}
		sweep := &Loaded{Path: text, Report: r}
		if len(chartsOf(sectionOf(one.document(), "charts"))) == 0 {
			t.Fatal("the page has no charts, whose marks this test checks")
		}
		for _, d := range []*Document{one.document(), sweepDocument(r), s.Document(),
			Compare([]*Loaded{file, file}), Compare([]*Loaded{sweep, file})} {
			page, markdown := render(t, d)
			testkit.CheckHTML(t, "page of a "+d.Title, page)
			testkit.CheckMarkdown(t, "markdown of a "+d.Title, markdown)
		}
	}
}
