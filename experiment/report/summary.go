package report

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writeSummary writes a row for each run of a sweep: what was set, the seed, and every
// figure by its key. A figure that a run does not have is empty.
func writeSummary(w io.Writer, r *Report) error {
	set, keys := map[string]bool{}, map[string]bool{}
	rows := make([]map[string]float64, len(r.Runs))
	for i, run := range r.Runs {
		for k := range run.Set {
			set[k] = k != "seed"
		}
		rows[i] = figures.Of(run.Totals)
		for k := range rows[i] {
			keys[k] = true
		}
	}
	maps.DeleteFunc(set, func(_ string, keep bool) bool { return !keep })
	axes, names := slices.Sorted(maps.Keys(set)), slices.Sorted(maps.Keys(keys))
	t := texttable.New(slices.Concat(axes, []string{"seed", "duration_s", "reason"}, names)...)
	for i, run := range r.Runs {
		var row []string
		for _, k := range axes {
			row = append(row, run.Set[k])
		}
		row = append(row, strconv.FormatUint(run.Seed, 10), units.FormatDecimal(run.DurationS), string(run.Reason))
		for _, k := range names {
			cell := ""
			if v, ok := rows[i][k]; ok {
				cell = units.Significant(v, -1)
			}
			row = append(row, cell)
		}
		t.Add(row)
	}
	return t.WriteCSV(w)
}
