package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"wirelab/experiment/page"
)

// place names a run in words.
func place(set map[string]string, seed uint64) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if k != "seed" {
			words = append(words, k+" = "+set[k])
		}
	}
	return strings.Join(append(words, fmt.Sprintf("seed %d", seed)), ", ")
}

// columns of the table for people: a figure with its heading and decimals.
var columns = []struct {
	name, heading string
	decimals      int
}{
	{"payload_kbps", "payload kbps", 1},
	{"wire_kbps", "wire kbps", 1},
	{"packet_bytes.p95", "p95 bytes", 0},
	{"playout.starved_ratio", "starved %", 2},
	{"playout.behind_ms", "behind ms", 0},
	{"transfer.time_s", "delivered s", 2},
	{"wrong", "wrong", 0},
}

// Text writes the table for people: a row for each point.
func (s *Summary) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	rows := s.rows()
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	return t.Flush()
}

// rows returns heading and rows of the table, without columns that no point has.
func (s *Summary) rows() [][]string {
	head := append(slices.Clone(s.Keys), "seeds")
	var shown []int
	for i, c := range columns {
		if slices.ContainsFunc(s.Points, func(p PointResult) bool { _, ok := p.Figures[c.name]; return ok }) {
			head, shown = append(head, c.heading), append(shown, i)
		}
	}
	head = append(head, "of the first")
	rows := [][]string{head}
	for i := range s.Points {
		p := &s.Points[i]
		var row []string
		for _, k := range s.Keys {
			row = append(row, p.Set[k])
		}
		row = append(row, strconv.Itoa(p.Seeds))
		for _, c := range shown {
			row = append(row, withInterval(p.Figures, columns[c].name, columns[c].decimals))
		}
		rows = append(rows, append(row, withInterval(p.Ratio, "payload_kbps", 3)))
	}
	return rows
}

// withInterval writes a mean, and half the width of its interval unless there is none to
// speak of.
func withInterval(figures map[string]Mean, name string, decimals int) string {
	m, ok := figures[name]
	if !ok {
		return "-"
	}
	scale := 1.0
	if strings.HasSuffix(name, "_ratio") {
		scale = 100
	}
	text := strconv.FormatFloat(scale*m.Mean, 'f', decimals, 64)
	if m.Lo == nil {
		return text
	}
	half := strconv.FormatFloat(scale*(*m.Hi-*m.Lo)/2, 'f', decimals, 64)
	if strings.Trim(half, "0.") != "" {
		text += " ±" + half
	}
	return text
}

// markdown writes the page for people.
func (s *Summary) markdown(w io.Writer) error {
	fmt.Fprintf(w, "# Sweep\n\n%d of %d runs: %d points with %d seeds each. Means with 95 %% intervals over the seeds (Student's);\n"+
		"the last column is the payload against that of the first point, paired by seed.\n\n", s.Done, s.Planned, len(s.Points), s.Repeat)
	if s.Error != "" {
		fmt.Fprintf(w, "It was broken off: %s\n\n", s.Error)
	}
	for i, row := range s.rows() {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	for _, text := range s.Failed {
		fmt.Fprintf(w, "\n- %s", text)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// html writes the page for a browser. It is made from the JSON, so that it is the same as one
// that is made later from report.json.
func (s *Summary) html(w io.Writer) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	x, err := page.ReadSummary(data)
	if err != nil {
		return err
	}
	return x.Write(w)
}

// CSV writes a row for each point: its settings, its seeds, and of each figure mean and
// interval, and the ratio to the first point.
func (s *Summary) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append(slices.Clone(s.Keys), "seeds")
	for _, name := range s.names {
		head = append(head, name, name+".lo", name+".hi", name+".ratio_to_first", name+".ratio_lo", name+".ratio_hi")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range s.Points {
		p := &s.Points[i]
		var row []string
		for _, k := range s.Keys {
			row = append(row, p.Set[k])
		}
		row = append(row, strconv.Itoa(p.Seeds))
		for _, name := range s.names {
			row = append(row, cells(p.Figures, name)...)
			row = append(row, cells(p.Ratio, name)...)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cells are mean, lo and hi; empty where there is none.
func cells(figures map[string]Mean, name string) []string {
	m, ok := figures[name]
	if !ok {
		return []string{"", "", ""}
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	row := []string{text(m.Mean), "", ""}
	if m.Lo != nil {
		row[1], row[2] = text(*m.Lo), text(*m.Hi)
	}
	return row
}
