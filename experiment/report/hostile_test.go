package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// hostileReport returns a report of a sweep in which every text, such as the name of an encoder or the
// value of a setting, is hostile. first selects the text of the first one.
func hostileReport(first int) *Report {
	r := &Report{Runs: []*engine.Result{{}, {}}, Sweep: true, Planned: 3}
	for i, run := range r.Runs {
		run.Comparison = &engine.Comparison{Lanes: make([]engine.ComparedLane, 2)}
		run.Totals.BitsPerCube = &figures.Figure{}
		testkit.FillHostile(run, first+i)
		run.Config = config.Values{}
		for k, table := range map[string][]string{"encoder": {"name"}, "data": {"source"}, "receiver": {"playout_delay", "interpolation"}} {
			sub := map[string]any{}
			for n, key := range table {
				sub[key] = testkit.HostileTexts[(first+n)%len(testkit.HostileTexts)]
			}
			run.Config[k] = sub
		}
		run.Set = r.Runs[0].Set // all runs of a sweep have the same keys
	}
	testkit.FillHostile(&r.Error, first)
	return r
}

// TestHostileNames checks that no text of a result is dangerous in any file of a report: control characters,
// forged lines, markup, and formulas are escaped.
func TestHostileNames(t *testing.T) {
	write := func(f func(w io.Writer) error) string {
		t.Helper()
		var b strings.Builder
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for first := range testkit.HostileTexts {
		r := hostileReport(first)
		rows := testkit.CheckCSV(t, "summary.csv", write(func(w io.Writer) error { return writeSummary(w, r) }))
		if len(rows) != 3 {
			t.Errorf("summary.csv has %d rows, expected 3", len(rows))
		}
		lanes := []engine.LaneSamples{{Samples: make([]meters.Sample, 1)}}
		testkit.FillHostile(&lanes[0].Name, first)
		testkit.FillHostile(&lanes[0].Samples[0].Encoder, first)
		testkit.CheckCSV(t, "shadows.csv", write(func(w io.Writer) error { return writeSideBySide(w, lanes) }))
		packet := packetEntry{}
		testkit.FillHostile(&packet.Encoder, first)
		testkit.FillHostile(&packet.problem, first)
		var b strings.Builder
		for i, cell := range packetRow(&packet) {
			b.WriteString(strings.Repeat(",", min(i, 1)) + `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
		}
		testkit.CheckCSV(t, "packets.csv", b.String()+"\n")
		testkit.CheckTerminalText(t, "the benchmark", write(func(w io.Writer) error { return WriteBench(w, r) }))

		junit := write(func(w io.Writer) error { return WriteJUnit(w, r) })
		testkit.CheckTerminalText(t, "JUnit", junit)
		for d := xml.NewDecoder(strings.NewReader(junit)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					testkit.CheckTerminalText(t, "JUnit, "+a.Name.Local, a.Value)
				}
			}
		}
	}
}
