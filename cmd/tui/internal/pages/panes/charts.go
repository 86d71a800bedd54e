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
// the next longer one; chosen if there is none. See VisibleSpan for the other parameters.
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

// span returns the time span that the charts show, at most 30 s for the guided tour.
func (p *Charts) span() time.Duration {
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
	viewChanged bool             // span or axes changed since the last Observe
	fitAxes     bool             // value axes fit the data instead of beginning at 0
	past        bool             // the time cursor is in the past

	Selected     int  // the highlighted chart, an index into chartKinds; -1 means none
	OnlySelected bool // show only the selected chart
	InTour       bool // the guided tour is open: the span is at most 30 s, and a single chart is highlighted
}

// Name implements room.Pane.
func (p *Charts) Name() string { return "Charts" }

// NextSpan selects the next time span.
func (p *Charts) NextSpan() {
	p.spanIndex, p.viewChanged = (p.spanIndex+1)%len(ChartSpans()), true
}

// ZoomBy selects the next shorter time span if notches is positive, otherwise the next longer one.
func (p *Charts) ZoomBy(notches int) {
	p.spanIndex, p.viewChanged = ZoomSpan(ChartSpans(), p.spanIndex, p.available(), notches), true
}

// Fit toggles between value axes that fit the data and axes that begin at 0.
func (p *Charts) Fit() { p.fitAxes, p.viewChanged = !p.fitAxes, true }

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
	if !p.viewChanged && !(v.RedrawDue && changed) {
		return false
	}
	p.item, p.schema, p.Lane, p.marks, p.end, p.viewChanged = v.Snap.Item, v.Snap.Schema, *lane, v.Snap.Marks, end, false
	p.shadows, p.past, p.budget = v.Shadows(), v.Past, v.Cfg.BudgetKbps
	return true
}

// withVisibleSamples returns a copy of p with only the samples that are visible in w columns, those
// before them that sliding rates need, and the visible loop points. Drawing need not visit the whole
// history then, which is several times longer than the charts.
func (p *Charts) withVisibleSamples(th *look.Theme, w int) *Charts {
	spec := &chart.Spec{Span: int(p.span() / meters.SamplePeriod)}
	th.StyleChart(spec)
	maxAge := time.Duration(spec.VisibleValues(w))*meters.SamplePeriod + room.RecentSpan
	cut := *p
	cut.Lane.Samples = meters.Tail(p.Lane.Samples, maxAge)
	cut.shadows = slices.Clone(p.shadows)
	for i := range cut.shadows {
		cut.shadows[i].Samples = meters.Tail(cut.shadows[i].Samples, maxAge)
	}
	cut.loopPoints = findLoopPoints(slices.Concat([]engine.Lane{cut.Lane}, cut.shadows))
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
	title   func(*Charts) string                                      // heading, with the unit
	legend  func(p *Charts, th *look.Theme, maxWidth int) []look.Span // current figures, in at most maxWidth columns
	spec    func(*Charts, *look.Theme) *chart.Spec                    // the lines and the axis
	isEmpty func(*engine.Lane) bool                                   // reports whether there are no data yet; nil if there always are
}

// chartKinds returns all charts.
func chartKinds() []chartKind {
	named := func(title string) func(*Charts) string { return func(*Charts) string { return title } }
	return []chartKind{ // title, legend, spec, isEmpty
		BandwidthChart: {named("Bandwidth kbps"), (*Charts).bandwidthLegend, (*Charts).bandwidthSpec, nil},
		ItemChart:      {func(p *Charts) string { return "Bits per " + p.perItem() }, (*Charts).bitsPerItemLegend, (*Charts).bitsPerItemSpec, nil},
		FailureChart: {named("Decode failures/s"), (*Charts).failuresLegend, (*Charts).failuresSpec,
			func(l *engine.Lane) bool { return l.Totals.Failed() == 0 }},
		RatioChart: {named("Payload ratio"), (*Charts).payloadRatioLegend, (*Charts).payloadRatioSpec, nil},
	}
}

// Draw implements room.Pane: the charts of page 1, stacked, or only the selected chart. The selected
// one of several charts has a marker before its title.
func (p *Charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p = p.withVisibleSamples(th, c.W-2)
	kinds := chartKinds()[:liveCharts]
	if p.OnlySelected && p.Selected >= 0 {
		kinds = chartKinds()[p.Selected : p.Selected+1]
	}
	isSingle := len(kinds) == 1
	list := make([]Stacked, len(kinds))
	for i, kind := range kinds {
		out := &list[i]
		isSelected := p.Selected == i || isSingle
		out.Title, out.Spec, out.Fit = kind.title(p), kind.spec(p, th), p.fitAxes
		out.Focused = focused && (p.Selected < 0 || isSelected) || isSingle && p.InTour // the tour always highlights its chart
		legendWidth := look.TitleSpace(c.W, out.Title)
		if p.fitAxes {
			legendWidth = look.TitleSpace(c.W-len(notFromZero), out.Title)
		}
		out.Legend = kind.legend(p, th, legendWidth)
		if isSelected && !isSingle {
			out.Title = th.Chosen + " " + out.Title
		}
		if kind.isEmpty != nil && kind.isEmpty(&p.Lane) && !isSingle {
			out.Empty = "none yet"
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
	s.Fit = s.Fit || p.fitAxes
	if p.past { // the right end of the time axis is not "now"
		s.Newest = look.FormatTime(time.Duration(p.end) * meters.SamplePeriod)
	}
	s.End, s.Step, s.Since = p.end, meters.SamplePeriod, LastSwap(p.marks, p.end)
	s.Span = int(p.span() / meters.SamplePeriod)
	s.UnscaledIntervals = p.loopPoints
	AddMarks(s, th, p.marks)
}

// mapSamples returns value of each sample.
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

// rateSeries returns events per second for each sample, averaged over the room.RecentSpan that ends
// with the sample, as in the legends. A rate over one sample of 100 ms would show a single event as
// ten per second.
func rateSeries(samples []meters.Sample, count func(*meters.Sample) int) []float64 {
	const window = int(room.RecentSpan / meters.SamplePeriod)
	out, sum := make([]float64, len(samples)), 0
	for i := range samples {
		sum += count(&samples[i])
		if i >= window {
			sum -= count(&samples[i-window])
		}
		out[i] = float64(sum) / room.RecentSpan.Seconds()
	}
	return out
}

// failureRateSeries returns the decode failures per second of all causes; the weights are nil.
func failureRateSeries(all []meters.Sample) (values, weights []float64) {
	return rateSeries(all, (*meters.Sample).Failed), nil
}

// failuresSpec returns the chart of decode failures per second by cause, and of the shadows in total.
// Its axis reaches at least 4 per second.
func (p *Charts) failuresSpec(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 4, Series: shadowSeries(th, p.shadows, failureRateSeries)}
	list := failureStats(&p.Lane)
	for _, f := range slices.Backward(list) { // the last series is drawn on top: the first cause
		if f.stroke == chart.Dotted && f.total == 0 {
			continue // two causes share the dotted stroke; one without failures would cover the other
		}
		spec.Series = append(spec.Series, chart.Series{
			Values: rateSeries(p.Lane.Samples, func(s *meters.Sample) int { return s.Outcomes[f.outcome] }),
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
	lines := []look.Span{look.Payload.Span(stroke[chart.Solid] + " payload "), look.Value.Span(units.Fixed(r.PayloadKbps, 1))}
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
	now := []look.Span{look.Ratio.Span(look.LineSamples(th)[chart.Solid] + " now "), style.Span(units.Fixed(r.BitsPerChanged, p.decimals()))}
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
	own := failureLegend(th, failureStats(&p.Lane), maxWidth)
	return append(own, shadowLegend(th, maxWidth-look.SpansWidth(own), &p.Lane, p.shadows, func(l *engine.Lane) string {
		return strconv.FormatInt(l.Totals.Failed(), 10)
	})...)
}
