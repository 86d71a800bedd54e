package panes

import (
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// dragTime is how close together changes of one thing count as one.
const dragTime = time.Second

// AddMarks adds the marks worth showing to a chart: of a control that was dragged, which makes a
// change with every rung, only where it came to rest.
func AddMarks(s *chart.Spec, th *look.Theme, marks []engine.Mark) {
	for _, m := range entries(marks) {
		s.Marks = append(s.Marks, chart.Mark{At: int64(m.T / meters.SamplePeriod), Label: m.Label,
			Ink: chart.Ink(look.MarkInk(m.Kind)), Rune: look.MarkSign(th, m.Kind)})
	}
}

// subject is what a label is about: all of it but the value at its end.
func subject(label string) string {
	if i := strings.LastIndexByte(label, ' '); i >= 0 {
		return label[:i]
	}
	return label
}

// SameMarks reports whether two snapshots of one session have the same marks.
func SameMarks(a, b []engine.Mark) bool {
	n := len(a)
	return n == len(b) && (n == 0 || a[n-1] == b[n-1])
}

// swapLooked is how long a swap of the encoder is shown in full: afterwards what
// the one before cost may lie off the chart, if it is far above.
const swapLooked = 10 * time.Second

// LastSwap is when the encoder was last swapped, in periods, if by the period end
// that has been looked at; else 0.
func LastSwap(marks []engine.Mark, end int64) int64 {
	const looked = int64(swapLooked / meters.SamplePeriod)
	for i := len(marks) - 1; i >= 0; i-- {
		at := int64(marks[i].T / meters.SamplePeriod)
		if at <= end-looked && strings.Contains(marks[i].Label, "encoder ") && marks[i].Kind != engine.MarkNote {
			return at + 1 // the sample in which it falls is of either
		}
	}
	return 0
}

// seamsOf are the periods in which some lane sent packets that build on frames from
// before a seam.
func seamsOf(lanes []engine.Lane) (out []chart.Stretch) {
	for i := range lanes {
		for k := range lanes[i].Samples {
			if s := &lanes[i].Samples[k]; s.Across > 0 {
				end := int64(s.T / meters.SamplePeriod)
				out = append(out, chart.Stretch{From: end - 1, To: end})
			}
		}
	}
	return out
}
