package report

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// MainFigures returns a table of the main figures that a run has, without counts of 0.
func MainFigures(r *engine.Result) *texttable.Table {
	t := texttable.New("figure", ">measured")
	values := figures.Flatten(r.Totals)
	if !CostsPerChange(r) {
		delete(values, "bits_per_changed_cube")
	}
	for _, row := range figures.Ranked(figures.Main) {
		row = row.In(&r.Totals)
		if v, known := values[row.Key]; known && !row.IsIdle(v) {
			t.Add(row.Label(), row.Text(v))
		}
	}
	return t
}

// FigureTable returns a table with a row for each of totals and columns for the figures with the highest
// rank that any of them has, without counts that are 0 in all rows. Names are the first cells of each
// row, and heads their columns.
func FigureTable(heads []string, names [][]string, totals []*figures.Totals) *texttable.Table {
	var rows []figures.Row
	var values []map[string]float64
	for _, t := range totals {
		values = append(values, figures.Flatten(*t))
	}
	for _, row := range figures.Ranked(figures.Narrow) {
		isShown := false
		for _, all := range values {
			v, known := all[row.Key]
			isShown = isShown || known && !row.IsIdle(v)
		}
		if isShown {
			rows = append(rows, row.In(totals[0]))
			heads = append(heads, ">"+rows[len(rows)-1].Label())
		}
	}
	t := texttable.New(heads...)
	for i, all := range values {
		var cells []string
		for _, row := range rows {
			cell := "-"
			if v, known := all[row.Key]; known {
				cell = row.Text(v)
			}
			cells = append(cells, cell)
		}
		t.Add(names[i], cells)
	}
	return t
}
