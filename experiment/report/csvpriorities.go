package report

import (
	"io"
	"strconv"

	"wirelab/experiment/engine"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writePriorities writes priorities.csv, which explains the priorities of the rows that should be sent, the most urgent
// first. Ages that are unknown are empty.
func writePriorities(w io.Writer, rows []engine.Priority) error {
	t := texttable.New("rank", "row", "standing", "priority", "error", "weighted_error", "constant", "group_weight", "interest", "waited_frames", "age_ms",
		"bits", "first")
	for i := range rows {
		r := &rows[i]
		number := func(v float64) string { return units.Fixed(v, 3) }
		age := ""
		if r.Age >= 0 {
			age = number(units.Milliseconds(r.Age))
		}
		t.Add([]string{strconv.Itoa(i + 1), strconv.Itoa(r.Row), r.Standing.String(), strconv.FormatUint(r.Priority, 10), number(r.Error), number(r.Weighted),
			number(r.Constant), number(r.Group), number(r.Factor), strconv.Itoa(r.Waited), age, strconv.Itoa(r.Bits),
			strconv.FormatBool(r.First)})
	}
	return t.WriteCSV(w)
}
