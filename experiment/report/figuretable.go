package report

import (
	"slices"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// MainFigures returns a table of the main figures that a run has, without counts of 0.
func MainFigures(r *engine.Result) *texttable.Table {
	t := texttable.New("figure", ">measured")
	values := figures.Flatten(r.Totals)
	for _, row := range KnownFigures(figures.Main, []*figures.Totals{&r.Totals}) {
		if row.Key != "bits_per_changed_cube" || CostsPerChange(r) {
			t.Add(row.Label(), row.Text(values[row.Key]))
		}
	}
	return t
}

// KnownFigures returns the figures of at least the given rank that any of items has, without counts that are 0 in
// all of them. Items are structs with the tags of figures.Totals.
func KnownFigures[T any](least figures.Rank, items []T) []figures.Row {
	if len(items) == 0 {
		return nil
	}
	values := flatten(items)
	return slices.DeleteFunc(figures.RankedOf(rowsOf(items[0]), least), func(row figures.Row) bool {
		return !slices.ContainsFunc(values, func(all map[string]float64) bool {
			v, known := all[row.Key]
			return known && !row.IsIdle(v)
		})
	})
}

// rowsOf returns the rows of the figures of x. Those of totals have the units of the run's data.
func rowsOf(x any) []figures.Row {
	t, isTotals := x.(*figures.Totals)
	if !isTotals {
		return figures.RowsOf(x)
	}
	rows := slices.Clone(figures.Table())
	for i := range rows {
		rows[i] = rows[i].In(t)
	}
	return rows
}

// flatten returns the figures of each item by their keys.
func flatten[T any](items []T) []map[string]float64 {
	out := make([]map[string]float64, len(items))
	for i := range items {
		out[i] = figures.Flatten(items[i])
	}
	return out
}

// FigureTable returns a table with a row for each of items and columns for their KnownFigures. Names are the first
// cells of each row, and heads their columns.
func FigureTable[T any](heads []string, names [][]string, least figures.Rank, items []T) *texttable.Table {
	rows := KnownFigures(least, items)
	for _, row := range rows {
		heads = append(heads, ">"+row.Label())
	}
	t := texttable.New(heads...)
	for i, values := range flatten(items) {
		var cells []string
		for _, row := range rows {
			cell := "-"
			if v, known := values[row.Key]; known {
				cell = row.Text(v)
			}
			cells = append(cells, cell)
		}
		t.Add(names[i], cells)
	}
	return t
}
