package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/view"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writeSideBySide writes shadows.csv, which has a row for each time at which a lane has a stored sample,
// with the figures of all lanes. The columns of a lane have its letter, because its encoder may change.
// The cells of a shadow are empty before it joined and after it left.
func writeSideBySide(w io.Writer, lanes []engine.LaneSamples) error {
	var times []time.Duration
	hasErrors := false
	for i := range lanes {
		for k := range lanes[i].Samples {
			s := &lanes[i].Samples[k]
			times = append(times, s.T)
			hasErrors = hasErrors || s.View.Rows > 0
		}
	}
	slices.Sort(times)
	columns := []string{"encoder", "payload_kbps", "bits_per_changed", "failed"}
	if hasErrors {
		columns = append(columns, "mean_error") // the last cell of laneCells
	}
	head := []string{"t_s"}
	for i := range lanes {
		for _, column := range columns {
			head = append(head, column+" ["+lanes[i].Letter+"]")
		}
	}
	t := texttable.New(head...)
	for _, at := range slices.Compact(times) {
		row := []string{units.Fixed(at.Seconds(), 3)}
		for k := range lanes {
			cells := laneCells(&lanes[k], at)
			row = append(row, cells[:len(columns)]...)
		}
		t.Add(row)
	}
	return t.WriteCSV(w)
}

// laneCells returns the cells of a lane in the row of the sample that ends at t: the encoder, the
// payload in kbit/s, bits per changed row, failures, and the mean error under a budget. They are empty
// if the lane has no sample that ends at t.
func laneCells(l *engine.LaneSamples, t time.Duration) []string {
	i, found := slices.BinarySearchFunc(l.Samples, t, func(x meters.Sample, t time.Duration) int { return cmp.Compare(x.T, t) })
	if !found {
		return make([]string, 5)
	}
	s := l.Samples[i]
	// The sample starts with its period, or when the lane joined, if that was later. The period ends at t, which
	// is usually a multiple of SamplePeriod; so t-1 is truncated, which is within the period.
	s.Width = t - max((t-1).Truncate(meters.SamplePeriod), l.Began)
	meanError := meters.Ratio(func(s *meters.Sample) (num, den float64) {
		return float64(s.View.Error) / view.ErrorUnit, float64(s.View.Rows)
	})
	cell := func(of meters.Ratio, decimals int, unknown string) string {
		format := func(v float64) string { return units.Fixed(v, decimals) }
		return of.Of([]meters.Sample{s}).FormatWith(format, unknown)
	}
	return []string{s.Encoder, cell(meters.PayloadKbps, 3, "0.000"), cell(meters.BitsPerChanged, 3, ""),
		strconv.FormatInt(s.Failed(), 10), cell(meanError, 1, "")}
}
