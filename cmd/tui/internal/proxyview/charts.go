package proxyview

import (
	"fmt"
	"math"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// directionStyles are the styles of the two directions, by relay.Way.
var directionStyles = [2]look.Style{relay.Up: look.Wire, relay.Down: look.Payload}

// updateAxis sets the time axis to the displayed history and its marks.
func (m *model) updateAxis() {
	h := m.displayed()
	m.axis.End, m.axis.Length = h.nextIndex, len(h.samples)
	m.axis.Stopped = m.frozen != nil
	m.axis.Marks = m.axis.Marks[:0]
	for _, mark := range m.marks {
		if int64(mark.T/period) < h.nextIndex { // not after the display was stopped
			m.axis.Marks = append(m.axis.Marks, engine.Mark{T: mark.T, Label: mark.Change.Mark()})
		}
	}
}

// drawCharts draws as many charts as fit, stacked over one time axis.
func (m *model) drawCharts(c *look.Canvas, focused bool) {
	m.updateAxis()
	list := m.charts()
	list[0].Focused = focused
	t := panes.TimeCharts[sample]{TimeAxis: &m.axis, Samples: m.displayed().samples}
	t.Draw(c, m.Theme(), list)
}

type (
	timeChart = panes.TimeChart[sample]
	timeLine  = panes.TimeLine[sample]
)

// charts returns the charts, the most important first.
func (m *model) charts() []timeChart {
	bandwidth := timeChart{Title: "Wire kbps", Floor: 1, Decimals: 1, Lines: directionLines(func(s *directionSample) float64 { return s.kbps })}
	bandwidth.Rules = m.rateRules()
	return []timeChart{
		bandwidth,
		m.delayChart(),
		m.lossChart(),
		{Title: "Datagrams/s", Floor: 1, Decimals: 1, Lines: directionLines(func(s *directionSample) float64 { return s.rate })},
		{Title: "Queue KB", Floor: 1, Decimals: 1, MaxRows: smallChart, Lines: directionLines(func(s *directionSample) float64 { return s.queueKB })},
	}
}

// smallChart is the largest number of rows of charts that are often at 0.
const smallChart = 5

// directionLines returns a line for each direction; NaN means that a value is unknown.
func directionLines(value func(*directionSample) float64) (lines []timeLine) {
	for _, direction := range []relay.Direction{relay.Down, relay.Up} {
		lines = append(lines, timeLine{Name: direction.String(), Style: directionStyles[direction],
			Stroke: [2]chart.Stroke{relay.Up: chart.Dashed, relay.Down: chart.Solid}[direction],
			Value: func(s *sample) (num, den float64) {
				v := value(&s[direction])
				return panes.Known(v, !math.IsNaN(v))
			}})
	}
	return lines
}

// rateRules returns the rate limits of the links, which are those of all clients together.
func (m *model) rateRules() []chart.Rule {
	up, _ := m.rateLimit(relay.Up)
	down, clients := m.rateLimit(relay.Down)
	name := "rate"
	if clients > 1 {
		name = fmt.Sprintf("rate of %d clients", clients)
	}
	if up == down {
		return panes.LimitRule(name, up)
	}
	return append(panes.LimitRule(name+" up", up), panes.LimitRule(name+" down", down)...)
}

// rateLimit returns the sum of the rate limits of all links of a direction in kbps, 0 if one of them has none, and the
// number of links. Lines and limits in the chart are then sums over the same clients. Before the first client it is
// the limit that a client will have.
func (m *model) rateLimit(direction relay.Direction) (kbps float64, links int) {
	unlimited := false
	for _, link := range m.displayed().snap.Links {
		if link.Way == direction {
			limit := specLimit(&link.Spec)
			kbps, links, unlimited = kbps+limit, links+1, unlimited || limit == 0
		}
	}
	switch {
	case links == 0:
		cfg := m.proxy.Live.Config(m.target)
		return specLimit([2]*lossmodel.Spec{relay.Up: &cfg.Up, relay.Down: &cfg.Down}[direction]), 0
	case unlimited:
		return 0, links
	}
	return kbps, links
}

// specLimit returns the rate limit of a link in kbps, 0 if it has none. netem has a rate of its own and ignores s.Rate.
func specLimit(s *lossmodel.Spec) float64 {
	if s.Netem.On {
		return 0
	}
	return float64(s.Rate.BitsPerSecond) / 1000
}

// delayChart shows the median delay of each direction, and behind it the 95th percentile.
func (m *model) delayChart() timeChart {
	k := timeChart{Title: "Delay ms", Floor: 1}
	medians := directionLines(func(s *directionSample) float64 { return s.p50 })
	high := directionLines(func(s *directionSample) float64 { return s.p95 })
	for i, direction := range []relay.Direction{relay.Down, relay.Up} { // the order of directionLines
		delay := &m.displayed().recent.Flows[direction].Delay
		medians[i].Figure = func([]sample) string { return formatQuantile(delay, 0.5, 1) }
		high[i].Figure = func([]sample) string { return formatQuantile(delay, 0.95, 1) }
		high[i].Name, high[i].Stroke = "p95", chart.Dotted
		high[i].Reduce, high[i].Loose = chart.Max, m.hasOnlySpikes(direction)
		k.Lines = append(k.Lines, medians[i], high[i])
	}
	return k
}

// hasOnlySpikes reports whether few of the visible 95th percentiles are far above the mean of the medians. Those may
// leave the chart.
func (m *model) hasOnlySpikes(direction relay.Direction) bool {
	const far, share = 4, 20 // at most one of share samples is a spike
	samples := m.displayed().samples
	samples = samples[max(len(samples)-int(m.axis.Span()/period), 0):]
	sum, known := 0.0, 0
	for i := range samples {
		if s := &samples[i][direction]; !math.IsNaN(s.p50) {
			sum += s.p50
			known++
		}
	}
	spikes := 0
	for i := range samples {
		if samples[i][direction].p95*float64(known) > far*sum {
			spikes++
		}
	}
	return spikes*share <= known
}

// shownCauses returns the causes of loss that the chart stacks, from the bottom.
func shownCauses() []lossmodel.Cause {
	return []lossmodel.Cause{lossmodel.Loss, lossmodel.Burst, lossmodel.Queue, lossmodel.Fragment}
}

// lossChart stacks the losses of both directions per second, by cause.
func (m *model) lossChart() timeChart {
	k := timeChart{Title: "Lost/s by cause", Short: "Lost/s", Floor: 1, Decimals: 1, IsStack: true, MaxRows: smallChart}
	for i, cause := range shownCauses() {
		const firstSlot = 5 // the slots before it include the colours of the two directions
		k.Lines = append(k.Lines, timeLine{Name: cause.String(), Symbol: m.Theme().Swatch(firstSlot + i), Style: look.SlotStyle(firstSlot + i),
			Value: func(s *sample) (num, den float64) { return s[0].lost[cause] + s[1].lost[cause], 1 }})
	}
	return k
}
