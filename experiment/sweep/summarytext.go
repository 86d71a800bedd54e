package sweep

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/escape"
	"wirelab/internal/texttable"
	"wirelab/internal/words"
)

// describeRun describes a run for messages: "down.loss = 1%, seed 7".
func describeRun(set map[string]string, seed uint64) string {
	set = maps.Clone(set)
	delete(set, "seed")
	return strings.TrimPrefix(report.SetText(set, " = ", ", ")+fmt.Sprintf(", seed %d", seed), ", ")
}

// Text writes the figures as a plain-text table with one row for each point. A table that is wider than width is
// written in parts, without the figures that are the same at all points, which a line below it contains. A width of 0
// means no limit.
func (s *Summary) Text(w io.Writer, width int) error {
	t, notes := s.table()
	for i := range t.Heads {
		t.Heads[i].Number = true
	}
	t.Indent = "  "
	var whole strings.Builder
	t.WriteText(&whole, width)
	firstLine, _, _ := strings.Cut(whole.String(), "\n")
	fits := width == 0 || utf8.RuneCountInString(firstLine) <= width
	settings := len(s.Keys) + 1 // with the number of seeds
	if fits {
		fmt.Fprint(w, whole.String())
	} else {
		if same := removeEqual(t, settings); same != "" {
			notes = append([]string{same}, notes...)
		}
		t.WriteParts(w, width, settings)
	}
	for _, note := range notes {
		lines := []string{note}
		if !fits {
			lines = words.Wrap(note, width-len(t.Indent))
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, t.Indent+line); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEqual removes the columns after the first n whose cells are equal, and describes them; "" if none are.
func removeEqual(t *texttable.Table, n int) string {
	if len(t.Rows) < 2 {
		return ""
	}
	var equal []string
	for i := len(t.Heads) - 1; i >= n; i-- {
		isOther := func(row []texttable.Cell) bool { return row[i].Text != t.Rows[0][i].Text }
		if slices.ContainsFunc(t.Rows, isOther) {
			continue
		}
		if text := t.Rows[0][i].Text; text != "-" {
			equal = append(equal, escape.Line(t.Heads[i].Text)+": "+text)
		}
		t.Heads = slices.Delete(t.Heads, i, i+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
		}
	}
	if len(equal) == 0 {
		return ""
	}
	slices.Reverse(equal)
	return "The same at all points: " + strings.Join(equal, "; ") + "."
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
