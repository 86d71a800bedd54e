package report

import (
	"io"
	"slices"
	"strconv"

	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writeSummary writes summary.csv, which has a row for each run of a sweep: the settings, the seed, the
// duration, the reason of its end and all figures by their keys. The cell of an unknown figure is empty.
func writeSummary(w io.Writer, r *Report) error {
	rows, sets := flatten(totalsOf(r.Runs)), make([]map[string]string, len(r.Runs))
	for i, run := range r.Runs {
		sets[i] = run.Set
	}
	axes, names := slices.DeleteFunc(SortedKeys(sets), func(k string) bool { return k == "seed" }), SortedKeys(rows)
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
				cell = units.General(v, -1)
			}
			row = append(row, cell)
		}
		t.Add(row)
	}
	return t.WriteCSV(w)
}
