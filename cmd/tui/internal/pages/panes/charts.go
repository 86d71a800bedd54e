package panes

import (
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// ChartSpans returns the time spans that the charts can show. The first is the default.
func ChartSpans() []time.Duration {
	return []time.Duration{60 * time.Second, 120 * time.Second, 15 * time.Second, 30 * time.Second}
}

// VisibleSpan returns the time span that a chart shows: spans[chosen]. If chosen is 0, the default,
// the span is shortened to the available history, so that no chart is mostly empty.
func VisibleSpan(spans []time.Duration, chosen int, available time.Duration) time.Duration {
	if chosen > 0 {
		return spans[chosen]
	}
	for _, shorter := range []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second} {
		if available <= shorter {
			return shorter
		}
	}
	return spans[0]
}

// ZoomSpan returns the index in spans of the next shorter visible span if notches is positive, otherwise of
// the next longer one; chosen if no other span is visible. See VisibleSpan for the other parameters.
func ZoomSpan(spans []time.Duration, chosen int, available time.Duration, notches int) int {
	current := VisibleSpan(spans, chosen, available)
	best, bestDistance := chosen, time.Duration(math.MaxInt64)
	for i := range spans {
		distance := VisibleSpan(spans, i, available) - current // how much longer
		if notches > 0 {
			distance = -distance
		}
		if distance > 0 && distance < bestDistance {
			best, bestDistance = i, distance
		}
	}
	return best
}

// available returns the length of the history.
func (p *Charts) available() time.Duration {
	return time.Duration(len(p.Lane.Samples)) * meters.SamplePeriod
}

// Span returns the time span that the charts show, at most 30 s for the guided tour.
func (p *Charts) Span() time.Duration {
	span := VisibleSpan(ChartSpans(), p.spanIndex, p.available())
	if p.InTour {
		return min(span, 30*time.Second)
	}
	return span
}

// Charts shows bandwidth, bits per changed item and decode failures over one time axis, with a
// mark at each change.
type Charts struct {
	budget    float64 // kbps; 0 means none
	spanIndex int     // index in ChartSpans

	item        string // name of an item, such as "cube"; "" means unknown
	schema      *frame.Schema
	Lane        engine.Lane // the active encoder
	shadows     []engine.Lane
	marks       []engine.Mark
	loopPoints  []chart.Interval // visible periods in which packets have references from before a loop point
	end         int64            // number of periods from the start to the newest sample
	numSamples  int              // samples of the active encoder; Lane has only the visible ones while drawing
	viewChanged bool             // span or axes changed since the last Observe
	past        bool             // the time cursor is in the past
	crosshair   time.Duration    // the instant under the crosshair; 0 means none

	Selected     int  // the highlighted chart, an index into charts; -1 means none
	OnlySelected bool // show only the selected chart
	OfRun        bool // the figures above the charts, from Lane.Recent, are means of the run, not of the last two seconds
	InTour       bool // the guided tour is open: the span is at most 30 s, and a single chart is highlighted
}

func (p *Charts) Name() string {
	if p.OnlySelected && p.Selected == RatioChart {
		return "Ratio"
	}
	return "Charts"
}

// NextSpan selects the next time span.
func (p *Charts) NextSpan() {
	p.spanIndex, p.viewChanged = (p.spanIndex+1)%len(ChartSpans()), true
}

// ZoomBy selects the next shorter time span if notches is positive, otherwise the next longer one.
func (p *Charts) ZoomBy(notches int) {
	p.spanIndex, p.viewChanged = ZoomSpan(ChartSpans(), p.spanIndex, p.available(), notches), true
}

// Observe implements room.Observer. The charts change when a slow redraw is due (see room.View.RedrawDue), or at once
// if the user changed their span or axes.
func (p *Charts) Observe(v room.View) bool {
	lane := v.ActiveLane()
	end := int64(0) // number of sample periods so far
	if n := len(lane.Samples); n > 0 {
		end = int64(lane.Samples[n-1].T / meters.SamplePeriod)
	}
	changed := end != p.end || !SameMarks(p.marks, v.Snap.Marks) || len(p.shadows) != len(v.Shadows()) || v.Past != p.past ||
		v.Cfg.BudgetKbps != p.budget
	p.viewChanged = p.viewChanged || v.Crosshair != p.crosshair
	if !p.viewChanged && !(v.RedrawDue && changed) {
		return false
	}
	p.item, p.schema, p.Lane, p.marks, p.end, p.viewChanged = v.Snap.Item, v.Snap.Schema, *lane, v.Snap.Marks, end, false
	p.shadows, p.past, p.budget, p.crosshair = v.Shadows(), v.Past, v.Cfg.BudgetKbps, v.Crosshair
	p.numSamples = len(lane.Samples)
	return true
}

// MeanWindow is the number of samples that a point of a chart averages: those of room.RecentSpan, as in the legends.
const MeanWindow = int(room.RecentSpan / meters.SamplePeriod)

// withVisibleSamples returns a copy of p with only the samples that are visible in w columns, those
// before them that sliding means need, and the visible loop points. Drawing need not visit the whole
// history then, which is several times longer than the charts.
func (p *Charts) withVisibleSamples(th *look.Theme, w int) *Charts {
	spec := &chart.Spec{Span: int(p.Span() / meters.SamplePeriod), Window: MeanWindow}
	th.StyleChart(spec)
	maxAge := time.Duration(spec.VisibleValues(w)) * meters.SamplePeriod
	cut := *p
	cut.Lane.Samples = meters.Tail(p.Lane.Samples, maxAge)
	cut.shadows = slices.Clone(p.shadows)
	for i := range cut.shadows {
		cut.shadows[i].Samples = meters.Tail(cut.shadows[i].Samples, maxAge)
	}
	cut.loopPoints = LoopPoints(cut.Lane.Samples)
	for i := range cut.shadows {
		cut.loopPoints = append(cut.loopPoints, LoopPoints(cut.shadows[i].Samples)...)
	}
	return &cut
}

// The charts, as indices of charts.
const (
	BandwidthChart = iota
	ItemChart
	FailureChart
	// RatioChart shows the payload of each shadow divided by that of the active encoder, sample by
	// sample. Because both encode the same frames, differences of a few percent are visible that
	// the bandwidth chart hides.
	RatioChart
)

// liveCharts is the number of charts that are stacked on the page Live.
const liveCharts = RatioChart

// charts returns the charts of the page Live and the ratio, by the indices above.
func (p *Charts) charts() []timeChart {
	bandwidth := timeChart{title: "Bandwidth kbps", short: "kbps", floor: 10, decimals: 1, lines: []timeLine{
		{name: "payload", style: look.Payload, recent: func(l *engine.Lane) float64 { return l.Recent.PayloadKbps }, value: func(s *meters.Sample) float64 { return kbps(s.PayloadBits) }}}}
	if len(p.shadows) == 0 { // with shadows the chart would be crowded
		bandwidth.lines = append(bandwidth.lines, timeLine{name: "wire", style: look.Wire, stroke: chart.Dashed, recent: func(l *engine.Lane) float64 { return l.Recent.WireKbps },
			value: func(s *meters.Sample) float64 { return kbps(s.WireBits) }})
	}
	if p.budget > 0 {
		name := "budget " + units.Fixed(p.budget, 0)
		bandwidth.rules = []chart.Rule{{Value: p.budget, Style: chart.Style(look.Budget), Name: name}}
		bandwidth.after = func(_ *Charts, th *look.Theme) [][]look.Span {
			sample := "  " + look.RuleSample(th) + " "
			return [][]look.Span{{look.Budget.Span(sample + name)}, {look.Budget.Span(sample + units.Fixed(p.budget, 0))}}
		}
	}
	perItem := timeChart{title: "Bits per " + p.perItem(), short: "Bits/" + PerItemShort(p.schema, p.itemName()), floor: 10, decimals: p.decimals(),
		lines: []timeLine{{style: look.Ratio, recent: func(l *engine.Lane) float64 { return l.Recent.BitsPerChanged },
			value:  func(s *meters.Sample) float64 { return float64(s.PayloadBits) / math.Max(float64(s.Changed), 1) },
			weight: changedWeight}}}
	if len(p.shadows) == 0 && !ChangesAsWhole(p.schema) {
		perItem.after = func(figures *Charts, _ *look.Theme) [][]look.Span {
			return [][]look.Span{{look.Dim.Span("  per " + p.itemName() + " "), look.Plain.Span(units.Fixed(figures.Lane.Recent.BitsPerItem, 2))}}
		}
	}
	return []timeChart{BandwidthChart: bandwidth, ItemChart: perItem, FailureChart: p.failureChart(), RatioChart: {title: "Payload ratio", short: "Ratio"}}
}

// changedWeight returns the weight of a sample in means per changed item. A sample with too few changed items has weight 0,
// which is a gap in the line.
func changedWeight(s *meters.Sample) float64 {
	if !EnoughChanged(s) {
		return 0
	}
	return float64(s.Changed)
}

// failureChart returns the chart of decode failures per second by cause.
func (p *Charts) failureChart() timeChart {
	k := timeChart{title: "Decode failures/s", short: "Fail/s", floor: 4, decimals: 1, ofShadow: func(s *meters.Sample) float64 {
		return room.PerSecond * float64(s.Failed())
	}, shadowFigure: func(l *engine.Lane) string { return strconv.FormatInt(l.Totals.Failed(), 10) }}
	total := p.Lane.Totals.Failed()
	for i, outcome := range []packetlog.Outcome{packetlog.NoBaseline, packetlog.Corrupt, packetlog.UnknownCodec} {
		if outcome == packetlog.UnknownCodec && p.Lane.Totals.Failures.UnknownCodec == 0 {
			continue // its dotted line would cover those of shadows
		}
		k.lines = append(k.lines, timeLine{name: look.OutcomeName(outcome), short: look.ShortOutcomeName(outcome), symbol: func(th *look.Theme) rune { return th.Outcome[outcome] },
			style: look.OutcomeStyle(outcome), stroke: chart.Stroke(i),
			silent: total > 0 && *outcome.In(&p.Lane.Totals.Counts) == 0,
			value:  func(s *meters.Sample) float64 { return room.PerSecond * float64(*outcome.In(&s.Counts)) }})
	}
	if total > 0 {
		k.after = func(*Charts, *look.Theme) [][]look.Span {
			return [][]look.Span{{look.Dim.Span("  " + strconv.FormatInt(total, 10) + " in total")}, nil}
		}
	} else {
		k.folded = "none yet"
	}
	return k
}

// Draw implements room.Pane: the charts of the page Live, stacked, or only the selected chart. The selected
// one of several charts has a marker before its title.
func (p *Charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	figures := p.atCrosshair()
	visible := p.withVisibleSamples(th, c.W-2)
	all := visible.charts()[:liveCharts]
	if p.OnlySelected && p.Selected >= 0 {
		all = visible.charts()[p.Selected : p.Selected+1]
	}
	isSingle := len(all) == 1
	list := make([]Stacked, len(all))
	for i := range all {
		k, out := &all[i], &list[i]
		isSelected := p.Selected == i || isSingle
		const narrow = 66 // below it, a long title leaves too little room for the legend
		title := k.title
		if c.W < narrow {
			title = k.short
		}
		*out = k.stacked(visible, figures, th, title+", "+room.MeanText, c.W)
		out.Focused = focused && (p.Selected < 0 || isSelected) || isSingle && p.InTour // the tour always highlights its chart
		if isSelected && !isSingle {
			out.Title = th.Chosen + " " + out.Title
		}
		if k.folded != "" && !isSelected {
			out.Folded, out.Legend = true, []look.Span{look.Dim.Span(k.folded)}
		}
	}
	DrawStack(c, th, list)
}

// perItem names what ItemChart counts bits per, such as "changed cube".
func (p *Charts) perItem() string {
	if p.item == "" {
		return "changed item"
	}
	return PerItemUnit(p.schema, p.item)
}

// decimals returns the decimals of bits per item: two for data whose items all change together, such
// as the bytes of a file, because these have few bits per item.
func (p *Charts) decimals() int {
	if ChangesAsWhole(p.schema) {
		return 2
	}
	return 1
}

// itemName returns the glossary's name of an item, such as "cube".
func (p *Charts) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// StyleChart sets what all charts have in common: theme, time axis, the start of the samples that the
// value axis fits (see LastSwap), marks and loop points.
func (p *Charts) StyleChart(s *chart.Spec, th *look.Theme) {
	th.StyleChart(s)
	if p.past { // the right end of the time axis is not "now"
		s.Newest = look.FormatTime(time.Duration(p.end) * meters.SamplePeriod)
	}
	s.End, s.Step, s.Since = p.end, meters.SamplePeriod, LastSwap(p.marks, p.end)
	s.Span, s.Window = int(p.Span()/meters.SamplePeriod), MeanWindow
	s.UnscaledIntervals = p.loopPoints
	AddMarks(s, th, p.marks)
	AddCrosshair(s, p.crosshair)
}

func mapSamples(samples []meters.Sample, value func(*meters.Sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i := range out {
		out[i] = value(&samples[i])
	}
	return out
}

// kbps converts the bits of one sample to kilobits per second.
func kbps(bits int64) float64 { return float64(bits) * room.PerSecond / 1000 }
