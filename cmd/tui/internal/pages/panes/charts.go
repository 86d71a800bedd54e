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

// ChartSpans are the spans of time that the charts can show.
func ChartSpans() []time.Duration {
	return []time.Duration{60 * time.Second, 120 * time.Second, 15 * time.Second, 30 * time.Second}
}

// SpanNow is how much time a chart shows: the chosen one of the spans. As long as nobody
// chose, it grows with what there is, so that no chart is empty for most of its width.
func SpanNow(spans []time.Duration, chosen int, there time.Duration) time.Duration {
	if chosen > 0 {
		return spans[chosen]
	}
	for _, shorter := range []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second} {
		if there <= shorter {
			return shorter
		}
	}
	return spans[0]
}

// span is how much time the charts show.
func (p *Charts) span() time.Duration {
	span := SpanNow(ChartSpans(), p.zoom, time.Duration(len(p.Lane.Samples))*meters.SamplePeriod)
	if p.Brief {
		return min(span, 30*time.Second)
	}
	return span
}

// Charts shows bandwidth, bits per changed item and failures over time, one
// below the other over one axis, with a mark wherever something was changed.
type Charts struct {
	budget float64 // kbps; 0: none
	zoom   int     // index into chartSpans

	item    string
	schema  *frame.Schema
	Lane    engine.Lane
	shadows []engine.Lane
	marks   []engine.Mark
	seams   []chart.Stretch // of what is in sight: the periods in which packets build across a seam
	end     int64           // periods since the start
	zoomed  bool
	fit     bool // the value axes go by the data, and need not begin at zero
	back    bool // what is shown is over

	Selected     int  // the highlighted chart, an index into chartKinds; -1 means none
	OnlySelected bool // show only the selected chart
	Brief        bool // a tour is on: show what a step of it takes
}

// Name implements room.Pane.
func (p *Charts) Name() string { return "Charts" }

// NextSpan changes how much time the charts show.
func (p *Charts) NextSpan() {
	p.zoom, p.zoomed = (p.zoom+1)%len(ChartSpans()), true
}

// Fit has the value axes go by the data alone, or from zero again.
func (p *Charts) Fit() { p.fit, p.zoomed = !p.fit, true }

// Observe implements room.Pane.
func (p *Charts) Observe(v room.View) bool {
	lane := v.Lane()
	end := int64(0)
	if n := len(lane.Samples); n > 0 {
		end = int64(lane.Samples[n-1].T / meters.SamplePeriod)
	}
	moved := end != p.end || !SameMarks(p.marks, v.Snap.Marks) || len(p.shadows) != len(v.Shadows()) || v.Back != p.back ||
		v.Cfg.BudgetKbps != p.budget
	if !p.zoomed && !(v.Slow && moved) {
		return false
	}
	p.item, p.schema, p.Lane, p.marks, p.end, p.zoomed = v.Snap.Item, v.Snap.Schema, *lane, v.Snap.Marks, end, false
	p.shadows, p.back, p.budget = v.Shadows(), v.Back, v.Cfg.BudgetKbps
	return true
}

// visible returns the charts with only the samples that w columns show, and those that their
// rates are computed over. The chart shows the last minute; the history keeps five.
func (p *Charts) visible(th *look.Theme, w int) *Charts {
	spec := &chart.Spec{Span: int(p.span() / meters.SamplePeriod)}
	th.StyleChart(spec)
	most := time.Duration(spec.VisibleValues(w))*meters.SamplePeriod + room.RecentSpan
	cut := *p
	cut.Lane.Samples = meters.Tail(p.Lane.Samples, most)
	cut.shadows = slices.Clone(p.shadows)
	for i := range cut.shadows {
		cut.shadows[i].Samples = meters.Tail(cut.shadows[i].Samples, most)
	}
	cut.seams = seamsOf(slices.Concat([]engine.Lane{cut.Lane}, cut.shadows))
	return &cut
}

// The charts, by their place in the table.
const (
	BandwidthChart = iota
	ItemChart
	FailureChart
	// RatioChart is the chart of what each shadow sends over what the encoder under the keys
	// does, sample by sample: a busy moment is costly for both, so a few percent show that drown
	// in the chart of bandwidth.
	RatioChart
)

// liveCharts is how many of them stand one below the other.
const liveCharts = RatioChart

// chartKind is one of the charts.
type chartKind struct {
	title  func(*Charts) string
	legend func(p *Charts, th *look.Theme, room int) []look.Span
	spec   func(*Charts, *look.Theme) *chart.Spec
	none   func(*engine.Lane) bool // whether nothing has happened yet; nil if there is always something to show
}

// chartKinds is the table of charts.
func chartKinds() []chartKind {
	named := func(title string) func(*Charts) string { return func(*Charts) string { return title } }
	return []chartKind{
		BandwidthChart: {named("Bandwidth kbps"), (*Charts).bandwidthLegend, (*Charts).bandwidth, nil},
		ItemChart:      {func(p *Charts) string { return "Bits per " + p.per() }, (*Charts).ratioLegend, (*Charts).ratio, nil},
		FailureChart: {named("Decode failures /s"), (*Charts).failuresLegend, (*Charts).failures,
			func(l *engine.Lane) bool { return l.Totals.Failed() == 0 }},
		RatioChart: {named("Payload as a multiple"), (*Charts).overRunningLegend, (*Charts).overRunning, nil},
	}
}

// Draw implements room.Pane.
func (p *Charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p = p.visible(th, c.W-2)
	kinds := chartKinds()[:liveCharts]
	if p.OnlySelected && p.Selected >= 0 {
		kinds = chartKinds()[p.Selected : p.Selected+1]
	}
	list := make([]Stacked, len(kinds))
	for i, k := range kinds {
		x := &list[i]
		lit := p.Selected == i || len(kinds) == 1
		x.Title, x.Spec, x.Fit = k.title(p), k.spec(p, th), p.fit
		x.Focused = focused && (p.Selected < 0 || lit) || len(kinds) == 1 && p.Brief
		room := look.HeadRoom(c.W, x.Title)
		if p.fit {
			room = look.HeadRoom(c.W-len(notFromZero), x.Title)
		}
		x.Legend = k.legend(p, th, room)
		if lit && len(kinds) > 1 {
			x.Title = th.Chosen + " " + x.Title
		}
		if k.none != nil && k.none(&p.Lane) && len(kinds) > 1 {
			x.Empty = "none so far"
		}
		p.Common(x.Spec, th)
	}
	DrawStack(c, th, list)
}

// per names what the second chart divides by.
func (p *Charts) per() string {
	if p.item == "" {
		return "changed item"
	}
	return PerItem(p.schema, p.item)
}

// digits is how exactly: of bytes and calls a tenth of a bit is much.
func (p *Charts) digits() int {
	if ChangesWhole(p.schema) {
		return 2
	}
	return 1
}

func (p *Charts) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// Common sets what the three charts share.
func (p *Charts) Common(s *chart.Spec, th *look.Theme) {
	th.StyleChart(s)
	s.Fit = s.Fit || p.fit
	if p.back {
		s.Newest = look.Clock(time.Duration(p.end) * meters.SamplePeriod)
	}
	s.End, s.Step, s.Since = p.end, meters.SamplePeriod, LastSwap(p.marks, p.end)
	s.Span = int(p.span() / meters.SamplePeriod)
	s.Aside = p.seams
	AddMarks(s, th, p.marks)
}

// series takes one number from every sample.
func series(all []meters.Sample, of func(*meters.Sample) float64) []float64 {
	out := make([]float64, len(all))
	for i := range out {
		out[i] = of(&all[i])
	}
	return out
}

func kbps(bits int64) float64 { return float64(bits) * room.PerSecond / 1000 }

// payloadLine is the payload of samples, in kbps.
func payloadLine(all []meters.Sample) (values, weights []float64) {
	return series(all, func(s *meters.Sample) float64 { return kbps(s.PayloadBits) }), nil
}

func (p *Charts) bandwidth(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10}
	if p.budget > 0 {
		spec.Rules = []chart.Rule{{Value: p.budget, Ink: chart.Ink(look.Budget), Name: "budget " + units.Fixed(p.budget, 0)}}
	}
	if len(p.shadows) == 0 { // among shadows it would be a line too many
		wire := series(p.Lane.Samples, func(s *meters.Sample) float64 { return kbps(s.WireBits) })
		spec.Series = append(spec.Series, chart.Series{Values: wire, Stroke: chart.Dashed, Ink: chart.Ink(look.Wire)})
	}
	spec.Series = append(spec.Series, shadowLines(th, p.shadows, payloadLine)...)
	payload, _ := payloadLine(p.Lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: payload, Ink: chart.Ink(look.Payload)})
	return spec
}

// perChangedLine is the bits per changed item of samples, weighted by how many
// changed.
func perChangedLine(all []meters.Sample) (values, weights []float64) {
	return series(all, func(s *meters.Sample) float64 {
			return float64(s.PayloadBits) / math.Max(float64(s.Changed), 1)
		}), series(all, func(s *meters.Sample) float64 {
			if !Enough(s) {
				return 0 // a gap
			}
			return float64(s.Changed)
		})
}

func (p *Charts) ratio(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10, Series: shadowLines(th, p.shadows, perChangedLine)}
	values, weights := perChangedLine(p.Lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Ink: chart.Ink(look.Ratio)})
	return spec
}

// rateLine is how often a second something happened, of each sample over the two
// seconds that end with it: the legends count over as much. A tenth of a second cannot
// carry a rate, for a single event would be ten a second.
func rateLine(all []meters.Sample, count func(*meters.Sample) int) []float64 {
	const window = int(room.RecentSpan / meters.SamplePeriod)
	out, n := make([]float64, len(all)), 0
	for i := range all {
		n += count(&all[i])
		if i >= window {
			n -= count(&all[i-window])
		}
		out[i] = float64(n) / room.RecentSpan.Seconds()
	}
	return out
}

// failedLine is the decode failures a second of samples, whatever their cause.
func failedLine(all []meters.Sample) (values, weights []float64) {
	return rateLine(all, (*meters.Sample).Failed), nil
}

func (p *Charts) failures(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Floor: 4, Series: shadowLines(th, p.shadows, failedLine)}
	list := failures(&p.Lane)
	for _, f := range slices.Backward(list) { // the first lies on top
		if f.stroke == chart.Dotted && f.total == 0 {
			continue // another has that stroke too
		}
		spec.Series = append(spec.Series, chart.Series{
			Values: rateLine(p.Lane.Samples, func(s *meters.Sample) int { return s.Outcomes[f.outcome] }),
			Stroke: f.stroke, Ink: chart.Ink(look.OutcomeInk(f.outcome)),
		})
	}
	return spec
}

func (p *Charts) bandwidthLegend(th *look.Theme, room int) []look.Span {
	r := p.Lane.Recent
	stroke := look.Strokes(th)
	payload := []look.Span{look.Payload.Span(stroke[chart.Solid] + " payload "), look.Value.Span(units.Fixed(r.PayloadKbps, 1))}
	lines := payload
	if len(p.shadows) == 0 {
		lines = append(lines, look.Wire.Span("  "+stroke[chart.Dashed]+" wire "), look.Value.Span(units.Fixed(r.WireKbps, 1)))
	}
	budget := func(word string) []look.Span {
		if p.budget == 0 {
			return nil
		}
		return []look.Span{look.Budget.Span("  " + look.RuleStroke(th) + word + " " + units.Fixed(p.budget, 0))}
	}
	rest := room - look.SpansWidth(lines)
	if len(p.shadows) == 0 {
		return append(lines, look.Fit(rest, budget(" budget"), budget(""), nil)...)
	}
	brief := budget("") // the shadows need the room
	beside := shadowLegend(th, rest-look.SpansWidth(brief), &p.Lane, p.shadows,
		func(l *engine.Lane) string { return units.Fixed(l.Recent.PayloadKbps, 1) })
	rest -= look.SpansWidth(beside)
	return slices.Concat(lines, beside, look.Fit(rest, budget(" budget"), brief, nil))
}

func (p *Charts) ratioLegend(th *look.Theme, room int) []look.Span {
	r := p.Lane.Recent
	k := look.Value
	if !enoughRecently(&r) {
		k = look.Dim
	}
	now := []look.Span{look.Ratio.Span(look.Strokes(th)[chart.Solid] + " now "), k.Span(units.Fixed(r.BitsPerChanged, p.digits()))}
	if len(p.shadows) > 0 {
		return append(now, shadowLegend(th, room-look.SpansWidth(now), &p.Lane, p.shadows,
			func(l *engine.Lane) string { return units.Fixed(l.Recent.BitsPerChanged, p.digits()) })...)
	}
	if ChangesWhole(p.schema) {
		return now
	}
	every := func(words string) []look.Span {
		return append(now[:len(now):len(now)], look.Dim.Span("  "+words+" "+p.itemName()+" "),
			look.Plain.Span(units.Fixed(r.BitsPerItem, 2)))
	}
	return look.Fit(room, every("spread over every"), every("over every"), now)
}

// failuresLegend names the causes of failures, then the failures of the shadows.
func (p *Charts) failuresLegend(th *look.Theme, room int) []look.Span {
	own := failureLegend(th, failures(&p.Lane), room)
	return append(own, shadowLegend(th, room-look.SpansWidth(own), &p.Lane, p.shadows, func(l *engine.Lane) string {
		return strconv.FormatInt(l.Totals.Failed(), 10)
	})...)
}
