package panes

import (
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// maxDragGap is the time between two changes of one setting below which they are combined.
const maxDragGap = time.Second

// settingName returns the label of a change, such as "loss 5%", without the value at its end.
func settingName(label string) string {
	if i := strings.LastIndexByte(label, ' '); i >= 0 {
		return label[:i]
	}
	return label
}

// SameMarks reports whether a and b, the marks of two snapshots of one session, are equal. Marks are
// only appended, so comparing their number and the last mark suffices.
func SameMarks(a, b []engine.Mark) bool {
	n := len(a)
	return n == len(b) && (n == 0 || a[n-1] == b[n-1])
}

// LoopPoints returns the sample periods in which packets were sent whose references are from before a loop
// point. Charts draw these periods differently, because the data jump there. samples must be in order.
func LoopPoints(samples []meters.Sample) (out []chart.Interval) {
	for i := range samples {
		if s := &samples[i]; s.CrossingLoop > 0 {
			end := int64(s.T / meters.SamplePeriod)
			out = append(out, chart.Interval{From: end - 1, To: end})
		}
	}
	return out
}
