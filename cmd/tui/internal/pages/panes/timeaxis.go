package panes

import (
	"math"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// TimeAxis is the time axis of the charts of a page: the visible time, the marks and the crosshair. Its methods
// implement room.Timed.
type TimeAxis struct {
	End       int64         // number of sample periods from the start of the run to the end of the newest sample
	Length    int           // samples of the history
	Marks     []engine.Mark // changes of settings and notes of the user
	Crosshair time.Duration // the instant under the crosshair; 0 means none
	Stopped   bool          // the right end of the axis is not the present
	MaxSpan   time.Duration // limit of the visible time; 0 means none
	Changed   bool          // the user changed what the charts show: the next Observe reports true

	choice int // index in spans
	client int // whose run is shown, of a crowd; 0 if none
}

// spans are the time spans that charts can show. The first is the default.
var spans = [...]time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Second, 30 * time.Second}

// span returns the time span of a choice. The default is the history of a shorter run, so that a chart is full from the
// start.
func (a *TimeAxis) span(choice int) time.Duration {
	const shortest = 5 * time.Second
	if choice > 0 {
		return spans[choice]
	}
	return min(max(time.Duration(a.Length)*meters.SamplePeriod, shortest), spans[0])
}

// Span returns the visible time.
func (a *TimeAxis) Span() time.Duration {
	if a.MaxSpan > 0 {
		return min(a.span(a.choice), a.MaxSpan)
	}
	return a.span(a.choice)
}

// NextSpan selects the next time span.
func (a *TimeAxis) NextSpan() {
	a.choice = (a.choice + 1) % len(spans)
	a.Changed = true
}

// ZoomBy selects the next shorter time span if notches is positive, otherwise the next longer one.
func (a *TimeAxis) ZoomBy(notches int) {
	current, nearest := a.span(a.choice), time.Duration(math.MaxInt64)
	for i := range spans {
		distance := a.span(i) - current // how much longer
		if notches > 0 {
			distance = -distance
		}
		if distance > 0 && distance < nearest {
			a.choice, nearest = i, distance
		}
	}
	a.Changed = true
}

// Observe sets the axis to the time of a view and of n samples, the newest of which ends at end. It reports whether the
// charts have to be redrawn: at once after a change by the user, else if a slow redraw is due (see room.View.RedrawDue).
func (a *TimeAxis) Observe(v room.View, end time.Duration, n int) bool {
	newest := int64(end / meters.SamplePeriod)
	isNew := newest != a.End || !SameMarks(a.Marks, v.Snap.Marks) || v.Past != a.Stopped || v.Snap.Client != a.client
	if !a.Changed && v.Crosshair == a.Crosshair && !(v.RedrawDue && isNew) {
		return false
	}
	a.End, a.Length, a.client = newest, n, v.Snap.Client
	a.Marks, a.Crosshair, a.Stopped = v.Snap.Marks, v.Crosshair, v.Past
	a.Changed = false
	return true
}

// EndOf returns the end of the newest sample; 0 without samples.
func EndOf(samples []meters.Sample) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	return samples[len(samples)-1].T
}

// meanWindow is the number of samples that a point of a chart averages: those of room.RecentSpan, as in the legends.
const meanWindow = int(room.RecentSpan / meters.SamplePeriod)

// style sets what all charts of the axis, w columns wide, have in common.
func (a *TimeAxis) style(s *chart.Spec, th *look.Theme, w int) {
	th.StyleChart(s)
	if a.Stopped {
		s.Newest = look.FormatTime(time.Duration(a.End) * meters.SamplePeriod)
	}
	s.End, s.Step = a.End, meters.SamplePeriod
	s.Span, s.Window = int(a.Span()/meters.SamplePeriod), meanWindow
	const columnsPerLoop = 10 // with less, the marks of loops would hide the lines
	loops := 0
	for _, m := range a.Marks {
		if m.Kind == engine.MarkLoop && int64(m.T/meters.SamplePeriod) >= a.End-int64(s.Span) {
			loops++
		}
	}
	for _, m := range groupMarks(a.Marks) { // a dragged control gets one mark, at its last step
		if m.Kind == engine.MarkLoop && loops*columnsPerLoop > w {
			continue
		}
		s.Marks = append(s.Marks, chart.Mark{At: int64(m.T / meters.SamplePeriod), Label: m.Label,
			Style: chart.Style(look.MarkStyle(m.Kind)), Rune: look.MarkSymbol(m.Kind)})
	}
	if a.Crosshair > 0 {
		s.Crosshair = &chart.Crosshair{At: a.crosshairIndex(), Label: look.FormatTime(a.Crosshair), Style: chart.Style(look.Key)}
	}
}

// crosshairIndex returns the index of the sample that ends at the crosshair.
func (a *TimeAxis) crosshairIndex() int64 { return int64(a.Crosshair/meters.SamplePeriod) - 1 }

// FiguresAt names the instant of the figures in a legend: the crosshair, or "now" without one.
func (a *TimeAxis) FiguresAt() string {
	if a.Crosshair > 0 {
		return "at " + look.FormatTime(a.Crosshair)
	}
	return "now"
}

// upToCrosshair returns the samples up to the crosshair, the newest of which ends at a.End; all without a crosshair.
func upToCrosshair[S any](a *TimeAxis, samples []S) []S {
	if a.Crosshair == 0 {
		return samples
	}
	newer := int(a.End - a.crosshairIndex() - 1)
	return samples[:min(max(len(samples)-newer, 0), len(samples))]
}

// newest returns the last n samples.
func newest[S any](samples []S, n int) []S { return samples[max(len(samples)-n, 0):] }
