package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writeSideBySide writes shadows.csv, which has a row for each stored sample of the active encoder, the first
// lane, with the figures of all lanes: the active encoder and its shadows. The cells of a shadow are empty for
// the time before it joined.
func writeSideBySide(w io.Writer, lanes []engine.LaneSamples) error {
	head := []string{"t_s"}
	for i := range lanes {
		for _, figure := range []string{"payload_kbps", "bits_per_changed", "failed"} {
			head = append(head, figure+" ["+lanes[i].Name+"]")
		}
	}
	t := texttable.New(head...)
	for i := range lanes[0].Samples {
		at := lanes[0].Samples[i].T
		row := []string{units.Fixed(at.Seconds(), 3)}
		for k := range lanes {
			row = append(row, laneCells(&lanes[k], at)...)
		}
		t.Add(row)
	}
	return t.WriteCSV(w)
}

// laneCells returns the three cells of a lane in the row of the sample that ends at t: payload in kbit/s,
// bits per changed row, and failures. They are empty if the lane has no sample that ends at t.
func laneCells(l *engine.LaneSamples, t time.Duration) []string {
	i, found := slices.BinarySearchFunc(l.Samples, t, func(x meters.Sample, t time.Duration) int { return cmp.Compare(x.T, t) })
	if !found {
		return []string{"", "", ""}
	}
	s := &l.Samples[i]
	// The sample starts with its period, or when the lane joined, if that was later. The period ends at t, which
	// is usually a multiple of SamplePeriod; so t-1 is truncated, which is within the period.
	from := max((t - 1).Truncate(meters.SamplePeriod), l.Began)
	perChanged := ""
	if s.Changed > 0 {
		perChanged = units.Fixed(float64(s.PayloadBits)/float64(s.Changed), 3)
	}
	return []string{units.Fixed(figures.RatioOrZero(float64(s.PayloadBits)/1000, (t-from).Seconds()), 3), perChanged, strconv.Itoa(s.Failed())}
}
