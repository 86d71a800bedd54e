package ui

import (
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// spans of time that the charts can show.
func chartSpans() []time.Duration {
	return []time.Duration{60 * time.Second, 120 * time.Second, 15 * time.Second, 30 * time.Second}
}

// chartsPane shows bandwidth, bits per changed item and failures over time, one
// below the other over one axis, with a mark wherever something was changed.
type chartsPane struct {
	budget float64
	zoom   int // index into chartSpans

	item   string
	schema *frame.Schema
	lane   experiment.Lane
	beside []experiment.Lane // the shadows
	marks  []experiment.Mark
	end    int64 // periods since the start
	zoomed bool
	back   bool // what is shown is over

	lit   int  // the chart that the tour points at; -1: none
	solo  bool // show that one only
	brief bool // a tour is on: show what a step of it takes
}

func (p *chartsPane) name() string { return "Charts" }

// nextSpan changes how much time the charts show.
func (p *chartsPane) nextSpan() {
	p.zoom, p.zoomed = (p.zoom+1)%len(chartSpans()), true
}

func (p *chartsPane) observe(v sight) bool {
	lane := v.lane()
	end := int64(0)
	if n := len(lane.Samples); n > 0 {
		end = int64(lane.Samples[n-1].T / experiment.SamplePeriod)
	}
	moved := end != p.end || !sameMarks(p.marks, v.snap.Marks) || len(p.beside) != len(v.beside()) || v.back != p.back
	if !p.zoomed && !(v.slow && moved) {
		return false
	}
	p.item, p.schema, p.lane, p.marks, p.end, p.zoomed = v.snap.Item, v.snap.Schema, *lane, v.snap.Marks, end, false
	p.beside, p.back = v.beside(), v.back
	return true
}

// chartRows says which rows each of the three charts gets inside a pane of h
// rows: first[i] is the row of its title, rows[i] what is below it.
func chartRows(h int) (first, rows [3]int) {
	const edges, axis = 4, 2
	room := max(h-edges-axis, 0)
	y := 0
	for i := range rows {
		first[i] = y
		rows[i] = (room + 2 - i) / 3 // the first ones get what is left over
		y += 1 + rows[i]
	}
	rows[2] += min(axis, max(h-edges, 0))
	return first, rows
}

func (p *chartsPane) draw(c *canvas, th *theme, focused bool) {
	if p.solo && p.lit >= 0 {
		p.drawOne(c, th, p.lit, focused || p.brief)
		return
	}
	first, rows := chartRows(c.h)
	for i := range 3 {
		title, legend, spec := p.chart(th, c.w, i)
		here := focused && (p.lit < 0 || p.lit == i)
		if p.lit == i {
			title = th.chosen + " " + title
		}
		if i == 0 {
			c.frame(th, here, title, legend...)
		} else if first[i] < c.h-1 {
			c.divider(th, first[i], here, title, legend...)
		}
		spec.Time, spec.Labels = i == 2, i == 2
		p.common(spec, th, c.w-2)
		h := min(rows[i], c.h-2-first[i])
		c.blit(1, first[i]+1, chart.Draw(spec, c.w-2, max(h, 0)))
	}
	if failedSoFar(&p.lane.Totals) == 0 && rows[2] > 4 {
		const calm = "none so far"
		c.text((c.w-len(calm))/2, first[2]+rows[2]/2, inkDim, calm)
	}
}

// chart is the i-th of the charts, for a pane of w columns.
func (p *chartsPane) chart(th *theme, w, i int) (title string, legend []span, spec *chart.Spec) {
	switch i {
	case 0:
		title = "Bandwidth kbps"
		return title, p.bandwidthLegend(th, headRoom(w, title)), p.bandwidth(th)
	case 1:
		title = "Bits per " + p.per()
		return title, p.ratioLegend(th, headRoom(w, title)), p.ratio(th)
	}
	title = "Decode failures /s"
	return title, p.failuresLegend(th, headRoom(w, title)), p.failures(th)
}

// drawOne draws a single chart over the whole pane.
func (p *chartsPane) drawOne(c *canvas, th *theme, i int, focused bool) {
	title, legend, spec := p.chart(th, c.w, i)
	c.frame(th, focused, title, legend...)
	spec.Time, spec.Labels = true, true
	p.common(spec, th, c.w-2)
	c.blit(1, 1, chart.Draw(spec, c.w-2, max(c.h-2, 0)))
}

// per names what the second chart divides by.
func (p *chartsPane) per() string {
	if p.item == "" {
		return "changed item"
	}
	return perWhat(p.schema, p.item)
}

// digits is how exactly: of bytes and calls a tenth of a bit is much.
func (p *chartsPane) digits() int {
	if newsAll(p.schema) {
		return 2
	}
	return 1
}

func (p *chartsPane) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// common sets what the three charts share.
func (p *chartsPane) common(s *chart.Spec, th *theme, w int) {
	span := chartSpans()[p.zoom]
	if p.brief {
		span = 30 * time.Second
	}
	cols := max(chart.Width(w), 1)
	s.ASCII = th.ascii
	if p.back {
		s.Newest = clock(time.Duration(p.end) * experiment.SamplePeriod)
	}
	s.End, s.Step, s.Since = p.end, experiment.SamplePeriod, swapped(p.marks, p.end)
	s.Per = max(int(math.Ceil(span.Seconds()/experiment.SamplePeriod.Seconds()/float64(cols))), 1)
	s.Blank, s.Axis, s.Label, s.Tick = chart.Ink(inkPlain), chart.Ink(inkBorder), chart.Ink(inkDim), chart.Ink(inkFaint)
	for _, m := range distinct(p.marks) {
		s.Marks = append(s.Marks, chart.Mark{At: int64(m.T / experiment.SamplePeriod), Label: m.Label, Ink: chart.Ink(markInk(m.Kind)), Rune: markSign(th, m.Kind)})
	}
}

// series takes one number from every sample.
func series(all []experiment.Sample, of func(*experiment.Sample) float64) []float64 {
	out := make([]float64, len(all))
	for i := range out {
		out[i] = of(&all[i])
	}
	return out
}

func kbps(bits int64) float64 { return float64(bits) * perSecond / 1000 }

// payloadLine is the payload of samples, in kbps.
func payloadLine(all []experiment.Sample) (values, weights []float64) {
	return series(all, func(s *experiment.Sample) float64 { return kbps(s.PayloadBits) }), nil
}

func (p *chartsPane) bandwidth(th *theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10, Rules: []chart.Rule{{Value: p.budget, Ink: chart.Ink(inkBudget)}}}
	if len(p.beside) == 0 { // among shadows it would be a line too many
		wire := series(p.lane.Samples, func(s *experiment.Sample) float64 { return kbps(s.WireBits) })
		spec.Series = append(spec.Series, chart.Series{Values: wire, Stroke: chart.Dashed, Ink: chart.Ink(inkWire)})
	}
	spec.Series = append(spec.Series, shadowLines(th, p.beside, chart.Mean, payloadLine)...)
	payload, _ := payloadLine(p.lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: payload, Ink: chart.Ink(inkPayload)})
	return spec
}

// perChangedLine is the bits per changed item of samples, weighted by how many
// changed.
func perChangedLine(all []experiment.Sample) (values, weights []float64) {
	return series(all, func(s *experiment.Sample) float64 {
			return float64(s.PayloadBits) / math.Max(float64(s.Changed), 1)
		}), series(all, func(s *experiment.Sample) float64 {
			if !enough(s) {
				return 0 // a gap
			}
			return float64(s.Changed)
		})
}

func (p *chartsPane) ratio(th *theme) *chart.Spec {
	spec := &chart.Spec{Floor: 10, Series: shadowLines(th, p.beside, chart.Mean, perChangedLine)}
	values, weights := perChangedLine(p.lane.Samples)
	spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Ink: chart.Ink(inkRatio)})
	return spec
}

// failedLine is the decode failures a second of samples, whatever their cause.
func failedLine(all []experiment.Sample) (values, weights []float64) {
	return series(all, func(s *experiment.Sample) float64 { return float64(failedIn(s)) * perSecond }), nil
}

// failedIn counts the packets of a sample that arrived and could not be used.
func failedIn(s *experiment.Sample) int {
	return s.Outcomes[experiment.NoBaseline] + s.Outcomes[experiment.Corrupt] + s.Outcomes[experiment.UnknownCodec]
}

func (p *chartsPane) failures(th *theme) *chart.Spec {
	spec := &chart.Spec{Floor: 20, Series: shadowLines(th, p.beside, chart.Max, failedLine)}
	list := failures(&p.lane)
	for _, f := range slices.Backward(list) { // the first lies on top
		if f.stroke == chart.Dotted && f.total == 0 {
			continue // another has that stroke too
		}
		spec.Series = append(spec.Series, chart.Series{
			Values: series(p.lane.Samples, func(s *experiment.Sample) float64 { return float64(s.Outcomes[f.outcome]) * perSecond }),
			Reduce: chart.Max, Stroke: f.stroke, Ink: chart.Ink(outcomeInk(f.outcome)),
		})
	}
	return spec
}

func (p *chartsPane) bandwidthLegend(th *theme, room int) []span {
	r := p.lane.Recent
	stroke := strokes(th)
	payload := []span{{inkPayload, stroke[chart.Solid] + " payload "}, {inkValue, fixed(r.PayloadKbps, 1)}}
	if len(p.beside) > 0 {
		return append(payload, shadowLegend(th, room-spansWidth(payload), p.beside, func(l *experiment.Lane) string { return fixed(l.Recent.PayloadKbps, 1) })...)
	}
	lines := append(payload, span{inkWire, "  " + stroke[chart.Dashed] + " wire "}, span{inkValue, fixed(r.WireKbps, 1)})
	budget := func(word string) []span {
		return append(lines[:len(lines):len(lines)], span{inkBudget, "  " + ruleStroke(th) + word + " " + fixed(p.budget, 0)})
	}
	return fit(room, budget(" budget"), budget(""), lines)
}

func (p *chartsPane) ratioLegend(th *theme, room int) []span {
	r := p.lane.Recent
	k := inkValue
	if !enoughLately(&r) {
		k = inkDim
	}
	now := []span{{inkRatio, strokes(th)[chart.Solid] + " now "}, {k, fixed(r.BitsPerChanged, p.digits())}}
	if len(p.beside) > 0 {
		return append(now, shadowLegend(th, room-spansWidth(now), p.beside, func(l *experiment.Lane) string { return fixed(l.Recent.BitsPerChanged, p.digits()) })...)
	}
	if newsAll(p.schema) {
		return now
	}
	every := func(words string) []span {
		return append(now[:len(now):len(now)], span{inkDim, "  " + words + " " + p.itemName() + " "}, span{inkPlain, fixed(r.BitsPerItem, 2)})
	}
	return fit(room, every("spread over every"), every("over every"), now)
}

// failuresLegend adds to the causes what failed of the shadows.
func (p *chartsPane) failuresLegend(th *theme, room int) []span {
	own := failureLegend(th, failures(&p.lane), room)
	return append(own, shadowLegend(th, room-spansWidth(own), p.beside, func(l *experiment.Lane) string {
		f := l.Totals.Failures
		return strconv.FormatInt(f.NoBaseline+f.Corrupt+f.UnknownCodec, 10)
	})...)
}

// strokes are samples of the lines of a chart, for legends.
func strokes(th *theme) [3]string {
	if th.ascii {
		return [3]string{"--", "==", ".."}
	}
	return [3]string{"──", "╌╌", "··"}
}

func ruleStroke(th *theme) string {
	if th.ascii {
		return ".."
	}
	return "┈┈"
}
