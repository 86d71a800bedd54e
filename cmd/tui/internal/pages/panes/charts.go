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

	Selected     int  // the highlighted chart, an index into chartKinds; -1 means none
	OnlySelected bool // show only the selected chart
	OfRun        bool // the figures above the charts, from Lane.Recent, are means of the run, not of the last two seconds
	InTour       bool // the guided tour is open: the span is at most 30 s, and a single chart is highlighted
}

func (p *Charts) Name() string { return "Charts" }

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

// The charts, as indices of chartKinds.
const (
	BandwidthChart = iota
	ItemChart
	FailureChart
	// RatioChart shows the payload of each shadow divided by that of the active encoder, sample by
	// sample. Because both encode the same frames, differences of a few percent are visible that
	// the bandwidth chart hides.
	RatioChart
)

// liveCharts is the number of charts that are stacked on page 1.
const liveCharts = RatioChart

// chartKind describes one of the charts.
type chartKind struct {
	title, short func(*Charts) string                                      // heading, with the unit; short is for narrow panes
	legend       func(p *Charts, th *look.Theme, maxWidth int) []look.Span // current figures, in at most maxWidth columns
	spec         func(*Charts, *look.Theme) *chart.Spec                    // the lines and the axis
	isEmpty      func(*engine.Lane) bool                                   // reports whether there are no data yet; nil if there always are
}

func chartKinds() []chartKind {
	named := func(title string) func(*Charts) string { return func(*Charts) string { return title } }
	return []chartKind{ // title, short, legend, spec, isEmpty
		BandwidthChart: {named("Bandwidth kbps"), named("kbps"), (*Charts).bandwidthLegend, (*Charts).bandwidthSpec, nil},
		ItemChart: {func(p *Charts) string { return "Bits per " + p.perItem() }, func(p *Charts) string { return "Bits/" + PerItemShort(p.schema, p.itemName()) },
			(*Charts).bitsPerItemLegend, (*Charts).bitsPerItemSpec, nil},
		FailureChart: {named("Decode failures/s"), named("Fail/s"), (*Charts).failuresLegend, (*Charts).failuresSpec,
			func(l *engine.Lane) bool { return l.Totals.Failed() == 0 }},
		RatioChart: {named("Payload ratio"), named("Ratio"), (*Charts).payloadRatioLegend, (*Charts).payloadRatioSpec, nil},
	}
}

// heading returns the title of a chart in a pane of w columns, with the period of its means.
func (k *chartKind) heading(p *Charts, w int) string {
	const narrow = 66 // below it, a long title leaves too little room for the legend
	title := k.title
	if w < narrow {
		title = k.short
	}
	return title(p) + ", " + room.MeanText
}

// Draw implements room.Pane: the charts of page 1, stacked, or only the selected chart. The selected
// one of several charts has a marker before its title.
func (p *Charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p = p.withVisibleSamples(th, c.W-2)
	legends := p.atCrosshair()
	kinds := chartKinds()[:liveCharts]
	if p.OnlySelected && p.Selected >= 0 {
		kinds = chartKinds()[p.Selected : p.Selected+1]
	}
	isSingle := len(kinds) == 1
	list := make([]Stacked, len(kinds))
	for i, kind := range kinds {
		out := &list[i]
		isSelected := p.Selected == i || isSingle
		out.Title, out.Spec = kind.heading(p, c.W), kind.spec(p, th)
		out.Focused = focused && (p.Selected < 0 || isSelected) || isSingle && p.InTour // the tour always highlights its chart
		out.Legend = kind.legend(legends, th, look.TitleSpace(c.W, out.Title))
		if isSelected && !isSingle {
			out.Title = th.Chosen + " " + out.Title
		}
		if kind.isEmpty != nil && kind.isEmpty(&p.Lane) && !isSelected {
			out.Folded, out.Legend = true, []look.Span{look.Dim.Span("none yet")}
		}
		p.StyleChart(out.Spec, th)
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

// payloadSeries returns the payload of each sample in kbps; the weights are nil, which means equal.
func payloadSeries(all []meters.Sample) (values, weights []float64) {
	return mapSamples(all, func(s *meters.Sample) float64 { return kbps(s.PayloadBits) }), nil
}

// bandwidthSpec returns the chart of payload and wire bandwidth, with the budget as a rule. With
// shadows it shows their payload instead of the wire bandwidth. The axis reaches at least 10 kbps.
func (p *Charts) bandwidthSpec(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10}
	if p.budget > 0 {
		spec.Rules = []chart.Rule{{Value: p.budget, Style: chart.Style(look.Budget), Name: "budget " + units.Fixed(p.budget, 0)}}
	}
	if len(p.shadows) == 0 { // with shadows the chart would be crowded
		wire := mapSamples(p.Lane.Samples, func(s *meters.Sample) float64 { return kbps(s.WireBits) })
		spec.Series = append(spec.Series, chart.Series{Values: wire, Stroke: chart.Dashed, Style: chart.Style(look.Wire)})
	}
	spec.Series = append(spec.Series, shadowSeries(th, p.shadows, payloadSeries)...)
	payload, _ := payloadSeries(p.Lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: payload, Style: chart.Style(look.Payload)})
	return spec
}

// bitsPerChangedSeries returns the bits per changed item of each sample, weighted by the number of
// changed items. A sample with too few changed items has weight 0, which is a gap in the line.
func bitsPerChangedSeries(all []meters.Sample) (values, weights []float64) {
	values = mapSamples(all, func(s *meters.Sample) float64 {
		return float64(s.PayloadBits) / math.Max(float64(s.Changed), 1)
	})
	weights = mapSamples(all, func(s *meters.Sample) float64 {
		if !EnoughChanged(s) {
			return 0
		}
		return float64(s.Changed)
	})
	return values, weights
}

// bitsPerItemSpec returns the chart of bits per changed item. Its axis reaches at least 10 bits.
func (p *Charts) bitsPerItemSpec(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10, Series: shadowSeries(th, p.shadows, bitsPerChangedSeries)}
	values, weights := bitsPerChangedSeries(p.Lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Style: chart.Style(look.Ratio)})
	return spec
}

// failureRateSeries returns the decode failures per second of all causes; the weights are nil.
func failureRateSeries(all []meters.Sample) (values, weights []float64) {
	return mapSamples(all, func(s *meters.Sample) float64 { return room.PerSecond * float64(s.Failed()) }), nil
}

// failuresSpec returns the chart of decode failures per second by cause, and of the shadows in total.
// Its axis reaches at least 4 per second.
func (p *Charts) failuresSpec(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 4, Series: shadowSeries(th, p.shadows, failureRateSeries)}
	list := p.failureStats()
	for _, f := range slices.Backward(list) { // the last series is drawn on top: the first cause
		if f.stroke == chart.Dotted && f.total == 0 {
			continue // two causes share the dotted stroke; one without failures would cover the other
		}
		spec.Series = append(spec.Series, chart.Series{
			Values: mapSamples(p.Lane.Samples, func(s *meters.Sample) float64 { return room.PerSecond * float64(*f.outcome.In(&s.Counts)) }),
			Stroke: f.stroke, Style: chart.Style(look.OutcomeStyle(f.outcome)),
		})
	}
	return spec
}

// bandwidthLegend returns the figures of the payload, of the wire or the shadows, and the budget, in
// at most maxWidth columns.
func (p *Charts) bandwidthLegend(th *look.Theme, maxWidth int) []look.Span {
	r := p.Lane.Recent
	stroke := look.LineSamples(th)
	word := " payload "
	if p.OfRun {
		word = " payload, mean "
	}
	lines := []look.Span{look.Payload.Span(stroke[chart.Solid] + word), look.Value.Span(units.Fixed(r.PayloadKbps, 1))}
	if len(p.shadows) == 0 {
		lines = append(lines, look.Wire.Span("  "+stroke[chart.Dashed]+" wire "), look.Value.Span(units.Fixed(r.WireKbps, 1)))
	}
	// budget returns the marker and the value of the budget with word between them; nil without a budget.
	budget := func(word string) []look.Span {
		if p.budget == 0 {
			return nil
		}
		return []look.Span{look.Budget.Span("  " + look.RuleSample(th) + word + " " + units.Fixed(p.budget, 0))}
	}
	rest := maxWidth - look.SpansWidth(lines)
	if len(p.shadows) == 0 {
		return append(lines, look.Fit(rest, budget(" budget"), budget(""), nil)...)
	}
	brief := budget("") // shadows have priority over the word "budget"
	shadows := shadowLegend(th, rest-look.SpansWidth(brief), &p.Lane, p.shadows,
		func(l *engine.Lane) string { return units.Fixed(l.Recent.PayloadKbps, 1) })
	rest -= look.SpansWidth(shadows)
	return slices.Concat(lines, shadows, look.Fit(rest, budget(" budget"), brief, nil))
}

// bitsPerItemLegend returns the current bits per changed item, dim if too few items changed. With
// shadows their figures follow; without, the bits per item, changed or not.
func (p *Charts) bitsPerItemLegend(th *look.Theme, maxWidth int) []look.Span {
	r := p.Lane.Recent
	style := look.Value
	if !enoughChangedRecently(&r) {
		style = look.Dim
	}
	word := " " + FiguresAt(p.crosshair) + " "
	if p.OfRun {
		word = " mean "
	}
	now := []look.Span{look.Ratio.Span(look.LineSamples(th)[chart.Solid] + word), style.Span(units.Fixed(r.BitsPerChanged, p.decimals()))}
	if len(p.shadows) > 0 {
		return append(now, shadowLegend(th, maxWidth-look.SpansWidth(now), &p.Lane, p.shadows,
			func(l *engine.Lane) string { return units.Fixed(l.Recent.BitsPerChanged, p.decimals()) })...)
	}
	if ChangesAsWhole(p.schema) {
		return now
	}
	perItem := append(now[:len(now):len(now)], look.Dim.Span("  per "+p.itemName()+" "), look.Plain.Span(units.Fixed(r.BitsPerItem, 2)))
	return look.Fit(maxWidth, perItem, now)
}

// failuresLegend returns the causes of failures with their rates, and the number of failures of each shadow in the
// whole run.
func (p *Charts) failuresLegend(th *look.Theme, maxWidth int) []look.Span {
	own := failureLegend(th, p.failureStats(), maxWidth)
	return append(own, shadowLegend(th, maxWidth-look.SpansWidth(own), &p.Lane, p.shadows, func(l *engine.Lane) string {
		return strconv.FormatInt(l.Totals.Failed(), 10)
	})...)
}
