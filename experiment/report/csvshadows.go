package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// writeSideBySide writes shadows.csv: a row for each 100 ms that is remembered, with what
// every lane did in it. Before a shadow joined its cells are empty.
func writeSideBySide(w io.Writer, lanes []engine.LaneSamples) error {
	out := csv.NewWriter(w)
	head := []string{"t_s"}
	for i := range lanes {
		for _, what := range []string{"payload_kbps", "bits_per_changed", "failed"} {
			head = append(head, what+" ["+lanes[i].Name+"]")
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range lanes[0].Samples {
		t := lanes[0].Samples[i].T
		row := []string{decimal(t.Seconds(), 3)}
		for k := range lanes {
			row = append(row, laneCells(&lanes[k], t)...)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// laneCells are the cells of a lane in the row of the sample that ends at t.
func laneCells(l *engine.LaneSamples, t time.Duration) []string {
	i, found := slices.BinarySearchFunc(l.Samples, t, func(x engine.Sample, t time.Duration) int { return cmp.Compare(x.T, t) })
	if !found {
		return []string{"", "", ""}
	}
	s := &l.Samples[i]
	from := max((t - 1).Truncate(engine.SamplePeriod), l.Began) // it may have joined on the way
	perChanged := ""
	if s.Changed > 0 {
		perChanged = decimal(float64(s.PayloadBits)/float64(s.Changed), 3)
	}
	return []string{decimal(figures.Ratio(float64(s.PayloadBits)/1000, (t-from).Seconds()), 3), perChanged, strconv.Itoa(s.Failed())}
}
