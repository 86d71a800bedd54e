package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/escape"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// describeRun describes a run for messages: "down.loss = 1%, seed 7".
func describeRun(set map[string]string, seed uint64) string {
	set = maps.Clone(set)
	delete(set, "seed")
	return strings.TrimPrefix(report.SetText(set, " = ", ", ")+fmt.Sprintf(", seed %d", seed), ", ")
}

// textColumn is a figure in the table for people.
type textColumn struct {
	name, heading string
	decimals      int
}

// textColumns are the figures in the table for people, if any point has them.
var textColumns = []textColumn{
	{"payload_kbps", "payload kbps", 1},
	{"wire_kbps", "wire kbps", 1},
	{"packet_bytes.p95", "p95 bytes", 0},
	{"playout.starved_ratio", "starved %", 2},
	{"age_ms.p50", "age ms", 0},
	{"playout.position_error_mm.p95", "error p95 mm", 1},
	{"playout.position_error.p95", "error p95", 3},
	{"transfer.time_s", "delivered s", 2},
	{"wrong", "wrong packets", 0},
}

// Text writes the figures as a plain-text table with one row for each point, for terminals.
func (s *Summary) Text(w io.Writer) error {
	t, notes := s.table()
	for i := range t.Heads {
		t.Heads[i].Number = true
	}
	t.Indent = "  "
	const noLimit = 0
	t.WriteText(w, noLimit)
	for _, line := range notes {
		if _, err := fmt.Fprintln(w, "  "+line); err != nil {
			return err
		}
	}
	return nil
}

// table returns the table of all points, without columns for figures that no point has, and the notes below it. The last
// column is the ratio of the payload to that of the first point.
func (s *Summary) table() (*texttable.Table, []string) {
	heads := append(slices.Clone(s.Keys), "seeds")
	var used []textColumn
	for _, c := range textColumns {
		if slices.ContainsFunc(s.Points, func(p page.SummaryPoint) bool { _, ok := p.Figures[c.name]; return ok }) {
			heads = append(heads, strings.TrimSpace(c.heading+" "+s.Units[c.name]))
			used = append(used, c)
		}
	}
	t := texttable.New(append(heads, "payload vs first")...)
	var notes figures.Notes
	for i := range s.Points {
		p := &s.Points[i]
		var cells []string
		for _, c := range used {
			m := p.Figures[c.name]
			if strings.HasSuffix(c.name, "_ratio") {
				m = m.Times(100) // in percent
			}
			notes.Add(m)
			cells = append(cells, m.Fixed(" ±", c.decimals))
		}
		ratio := p.Ratio["payload_kbps"]
		notes.Add(ratio)
		t.Add(s.pointSettings(p), p.Seeds, cells, ratio.Fixed(" ±", 3)+notes.AddDoubt(ratio.Doubt(1)))
	}
	return t, notes.Lines()
}

// pointSettings returns the settings of a point, in the order of s.Keys.
func (s *Summary) pointSettings(p *page.SummaryPoint) (cells []string) {
	for _, k := range s.Keys {
		cells = append(cells, p.Set[k])
	}
	return cells
}

// markdown writes report.md.
func (s *Summary) markdown(w io.Writer) error {
	fmt.Fprintf(w, "# Sweep\n\n%d of %d runs: %d points with %s each. Means with 95 %% intervals over the seeds;\n"+
		"the last column is the ratio of the payload to that of the first point, paired by seed.\n\n", s.Done, s.Planned, len(s.Points), words.Count(s.Repeat, "seed"))
	if s.Error != "" {
		fmt.Fprintf(w, "The sweep stopped: %s\n\n", escape.Markdown(s.Error))
	}
	t, notes := s.table()
	t.WriteMarkdown(w)
	for _, line := range notes {
		fmt.Fprintf(w, "\n%s\n", line)
	}
	for _, text := range s.Failed {
		fmt.Fprintf(w, "\n- %s", escape.Markdown(text))
	}
	_, err := fmt.Fprintln(w)
	return err
}

// CSV writes one row for each point: its settings, the number of seeds, and for each figure the mean
// and the ratio to the first point, both with their intervals. The last columns are 1 for approximate
// intervals of the means.
func (s *Summary) CSV(w io.Writer) error {
	heads := append(slices.Clone(s.Keys), "seeds")
	for _, name := range s.names {
		heads = append(heads, name, name+".lo", name+".hi", name+".ratio_to_first", name+".ratio_lo", name+".ratio_hi")
	}
	for _, name := range s.names {
		heads = append(heads, name+".approximate")
	}
	t := texttable.New(heads...)
	for i := range s.Points {
		p := &s.Points[i]
		var row, marks []string
		for _, name := range s.names {
			row = append(append(row, csvCells(p.Figures[name])...), csvCells(p.Ratio[name])...)
			marks = append(marks, map[bool]string{true: "1", false: ""}[p.Figures[name].Approximate])
		}
		row = append(row, marks...)
		t.Add(s.pointSettings(p), p.Seeds, row)
	}
	return t.WriteCSV(w)
}

// csvCells returns mean, lo and hi of a figure as CSV cells, which are empty if unknown.
func csvCells(m figures.Mean) []string {
	if m.N == 0 {
		return []string{"", "", ""}
	}
	const allDigits = -1
	row := []string{units.General(m.Mean, allDigits), "", ""}
	if m.Lo != nil {
		row[1], row[2] = units.General(*m.Lo, allDigits), units.General(*m.Hi, allDigits)
	}
	return row
}
