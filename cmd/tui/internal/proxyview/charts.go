package proxyview

import (
	"fmt"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// spans returns the time spans that the charts can show. The first is the default; while the history is shorter
// than it, the charts show a shorter span.
func spans() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Second, 30 * time.Second}
}

// currentSpan returns the time span that the charts show.
func (m *model) currentSpan() time.Duration {
	return panes.VisibleSpan(spans(), m.spanIndex, m.available())
}

// available returns the length of the displayed history.
func (m *model) available() time.Duration {
	return time.Duration(len(m.displayed().directions[0].kbps)) * period
}

// directionStyles are the styles of the two directions, by relay.Way.
var directionStyles = [2]look.Style{relay.Up: look.Wire, relay.Down: look.Payload}

// drawCharts draws as many charts as fit, stacked over one time axis.
func (m *model) drawCharts(c *look.Canvas, focused bool) {
	const minRows = 6                // of one chart
	const edgeRows, maxCharts = 3, 5 // edgeRows: the lower edge and the time axis
	list := m.visibleCharts(min(max((c.H-edgeRows)/minRows, 1), maxCharts), c.H >= 24)
	for i := range list {
		if list[i].Folded && list[i].Empty != "" {
			list[i].Legend = []look.Span{look.Dim.Span(list[i].Empty)}
		}
		list[i].Focused = focused && i == 0
		m.styleChart(list[i].Spec)
		for _, rule := range list[i].Spec.Rules { // name the rules as far as they fit
			named := append(list[i].Legend[:len(list[i].Legend):len(list[i].Legend)],
				look.Budget.Span("  "+look.RuleSample(m.Theme())+" "+rule.Name+" "+units.Fixed(rule.Value, 0)))
			list[i].Legend = look.Fit(look.TitleSpace(c.W, list[i].Title), named, list[i].Legend)
		}
		pairs := slices.Collect(slices.Chunk(list[i].Legend, 2)) // of a name and a value
		list[i].Legend = look.FitGroups(look.TitleSpace(c.W, list[i].Title), pairs)
	}
	panes.DrawStack(c, m.Theme(), list)
}

// styleChart sets what all charts have in common: styles, time axis and markers.
func (m *model) styleChart(s *chart.Spec) {
	h := m.displayed()
	m.Theme().StyleChart(s)
	s.End, s.Step, s.Span = h.nextIndex, period, int(m.currentSpan()/period)
	if m.frozen != nil {
		s.Newest = look.FormatTime(h.snap.Totals.At)
	}
	for _, mark := range m.marks {
		if at := int64(mark.T / period); at < h.nextIndex { // not after the display was stopped
			s.Marks = append(s.Marks, chart.Mark{At: at, Label: mark.Change.Mark(), Style: chart.Style(look.Mark), Rune: look.MarkSymbol(m.Theme(), engine.MarkChange)})
		}
	}
}

// visibleCharts returns the n most important charts, in their order on the screen. Charts of losses and queues without
// data are folded: they do not count and, unless withFolded is set, are left out.
func (m *model) visibleCharts(n int, withFolded bool) (list []panes.Stacked) {
	all := []panes.Stacked{m.bandwidthChart(), m.packetRateChart(), m.delayChart(), m.lossChart(), m.queueChart()}
	const loss, queue = 3, 4
	all[loss].Folded, all[queue].Folded = all[loss].Empty != "", all[queue].Empty != ""
	var shown [5]bool
	for _, i := range [5]int{0, 2, loss, 1, queue} { // in the order of importance
		switch {
		case all[i].Folded:
			shown[i] = withFolded
		case n > 0:
			shown[i] = true
			n--
		}
	}
	for i := range all {
		if shown[i] {
			list = append(list, all[i])
		}
	}
	return list
}

// directionChart returns a chart with one line per direction. series selects the samples, and
// formatNow formats a direction's recent value, counted over the given seconds, for the legend.
func (m *model) directionChart(title string, series func(*directionSeries) []float64,
	formatNow func(recent *relay.Flow, seconds float64) string) panes.Stacked {
	h := m.displayed()
	stacked := panes.Stacked{Title: title, Spec: &chart.Spec{}}
	strokes := look.LineSamples(m.Theme())
	for i := range h.directions {
		stroke := []chart.Stroke{relay.Up: chart.Dashed, relay.Down: chart.Solid}[i]
		stacked.Spec.Series = append(stacked.Spec.Series, chart.Series{Values: series(&h.directions[i]), Stroke: stroke, Style: chart.Style(directionStyles[i])})
		gap := "  "[:2*i] // before the second direction
		stacked.Legend = append(stacked.Legend, directionStyles[i].Span(gap+strokes[stroke]+" "+relay.Direction(i).String()+" "), look.Value.Span(formatNow(&h.recent.Flows[i], h.recentSeconds)))
	}
	return stacked
}

// bandwidthChart shows the rate on the wire, which includes headers, of all clients together, and the rate limits of the links as rules.
func (m *model) bandwidthChart() panes.Stacked {
	stacked := m.directionChart("Wire kbps, "+room.MeanText, func(series *directionSeries) []float64 { return series.kbps },
		func(f *relay.Flow, seconds float64) string { return units.Fixed(relay.Kbps(f.OutWire, seconds), 1) })
	stacked.Spec.Floor, stacked.Spec.Window = 1, meanWindow
	rule := func(name string, kbps float64) {
		if kbps > 0 {
			stacked.Spec.Rules = append(stacked.Spec.Rules, chart.Rule{Value: kbps, Style: chart.Style(look.Budget), Name: name})
		}
	}
	up, _ := m.rateLimit(relay.Up)
	down, clients := m.rateLimit(relay.Down)
	name := "rate"
	if clients > 1 {
		name = fmt.Sprintf("rate of %d clients", clients)
	}
	if up == down {
		rule(name, up)
	} else {
		rule(name+" up", up)
		rule(name+" down", down)
	}
	return stacked
}

// meanWindow is the number of samples that a point of a chart of rates averages: those of recentSpan.
const meanWindow = int(recentSpan / period)

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

// packetRateChart shows the datagrams per second that were sent on.
func (m *model) packetRateChart() panes.Stacked {
	stacked := m.directionChart("Datagrams/s, "+room.MeanText, func(series *directionSeries) []float64 { return series.rate }, func(f *relay.Flow, seconds float64) string { return formatRate(f.Out, seconds) })
	stacked.Spec.Floor, stacked.Spec.Window = 1, meanWindow
	return stacked
}

// delayChart shows the median delay of each direction, and behind it the 95th percentile.
func (m *model) delayChart() panes.Stacked {
	stacked := m.directionChart("Delay ms", func(series *directionSeries) []float64 { return series.p50 }, func(f *relay.Flow, _ float64) string {
		return formatQuantile(&f.Delay, 0.5) + " " + look.LineSamples(m.Theme())[chart.Dotted] + " p95 " + formatQuantile(&f.Delay, 0.95)
	})
	h := m.displayed()
	var high []chart.Series
	for i := range h.directions {
		high = append(high, chart.Series{Values: h.directions[i].p95, Reduce: chart.Max, Stroke: chart.Dotted, Style: chart.Style(directionStyles[i]), Loose: true})
	}
	stacked.Spec.Series, stacked.Spec.Floor = append(high, stacked.Spec.Series...), 1
	return stacked
}

// shownCauses returns the causes of loss that the chart stacks, from the bottom.
func shownCauses() []lossmodel.Cause {
	return []lossmodel.Cause{lossmodel.Loss, lossmodel.Burst, lossmodel.Queue, lossmodel.Fragment}
}

// lossChart stacks the losses of both directions per second, by cause.
func (m *model) lossChart() panes.Stacked {
	h := m.displayed()
	stacked := panes.Stacked{Title: "Lost/s by cause, " + room.MeanText, Spec: &chart.Spec{Floor: 1, Window: meanWindow}}
	total := uint64(0)
	for i, cause := range shownCauses() {
		recentLosses := h.recent.Flows[0].LostBy[cause] + h.recent.Flows[1].LostBy[cause]
		const firstSlot = 5 // the slots before it include the colours of the two directions
		style := look.SlotStyle(firstSlot + i)
		fill := '█'
		if !m.Theme().Color || m.Theme().Ascii {
			fill = m.Theme().Shade(i)
		}
		stacked.Spec.Areas = append(stacked.Spec.Areas, chart.Area{Values: sumLossRates(h.directions[0].lost[cause], h.directions[1].lost[cause]), Fill: fill, Style: chart.Style(style),
			NameStyle: chart.Style(look.Dim)})
		if recentLosses > 0 {
			stacked.Legend = append(stacked.Legend, style.Span(string(m.Theme().Swatch(i))+" "+cause.String()+" "), look.Value.Span(formatRate(recentLosses, h.recentSeconds)+" "))
		}
		total += h.snap.Totals.Flows[0].LostBy[cause] + h.snap.Totals.Flows[1].LostBy[cause]
	}
	if total == 0 {
		stacked.Empty = "no losses yet"
	}
	return stacked
}

// queueChart shows the bytes that wait before the bottlenecks.
func (m *model) queueChart() panes.Stacked {
	stacked := m.directionChart("Queue KB", func(series *directionSeries) []float64 { return series.queue }, func(f *relay.Flow, _ float64) string {
		return units.Fixed(float64(f.LineQueue.Bytes)/1000, 1)
	})
	stacked.Spec.Floor = 1
	const noticeable = 0.1 // kB; a datagram that leaves at once is in the queue only for an instant
	isNoticeable := func(kB float64) bool { return kB >= noticeable }
	h := m.displayed()
	if !slices.ContainsFunc(h.directions[0].queue, isNoticeable) && !slices.ContainsFunc(h.directions[1].queue, isNoticeable) {
		stacked.Empty = "no queue yet"
	}
	return stacked
}
