package sweep

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
)

// describeRun describes a run for messages: "down.loss = 1%, seed 7".
func describeRun(set map[string]string, seed uint64) string {
	set = maps.Clone(set)
	delete(set, "seed")
	return strings.TrimPrefix(report.SetText(set, " = ", ", ")+fmt.Sprintf(", seed %d", seed), ", ")
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

// table returns the table of all points, without columns for figures that no point has, and the notes
// below it. The last column is the ratio of the payload to that of the first point.
func (s *Summary) table() (*texttable.Table, []string) {
	heads := append(slices.Clone(s.Keys), "seeds")
	var used []figures.Row
	for _, row := range figures.Ranked(figures.Narrow) {
		if slices.ContainsFunc(s.Points, func(p page.Point) bool { _, ok := p.Figures[row.Key]; return ok }) {
			row.Unit = cmp.Or(s.Units[row.Key], row.Unit)
			heads = append(heads, row.Label())
			used = append(used, row)
		}
	}
	t := texttable.New(append(heads, "payload vs first")...)
	var notes figures.Notes
	for i := range s.Points {
		p := &s.Points[i]
		var cells []string
		for _, row := range used {
			m := p.Figures[row.Key].Times(row.Scale())
			notes.Add(m)
			cells = append(cells, m.Fixed(" ±", row.Decimals))
		}
		ratio := p.Ratio["payload_kbps"]
		notes.Add(ratio)
		t.Add(valuesOf(s.Keys, p.Set), p.Seeds, cells, ratio.Fixed(" ±", 3)+notes.AddDoubt(ratio.Doubt(1)))
	}
	return t, notes.Lines()
}

// valuesOf returns the values of a point's settings, in the order of keys.
func valuesOf(keys []string, set map[string]string) (values []string) {
	for _, key := range keys {
		values = append(values, set[key])
	}
	return values
}

// CSV writes the figures of all points, with their ratios to the first.
func (s *Summary) CSV(w io.Writer) error {
	const first = 0
	list := make([]int, len(s.Points))
	for i := range list {
		list[i] = i
	}
	return s.samples.writeCSV(w, list, first, "first")
}
