package proxyview

import (
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
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
	return panes.VisibleSpan(spans(), m.page.spanIndex, m.available())
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
	list := m.visibleCharts(min(max((c.H-edgeRows)/minRows, 1), maxCharts))
	for i := range list {
		list[i].Focused, list[i].Fit = focused && i == 0, m.page.fit
		m.styleChart(list[i].Spec)
	}
	panes.DrawStack(c, m.Theme(), list)
}

// styleChart sets what all charts have in common: styles, time axis and markers.
func (m *model) styleChart(s *chart.Spec) {
	h := m.displayed()
	m.Theme().StyleChart(s)
	s.End, s.Step, s.Span = h.nextIndex, period, int(m.currentSpan()/period)
	s.Fit = m.page.fit && len(s.Areas) == 0
	if m.frozen != nil {
		s.Newest = look.FormatTime(h.snap.Totals.At)
	}
	for _, mark := range m.marks {
		if at := int64(mark.T / period); at < h.nextIndex { // not after the display was stopped
			s.Marks = append(s.Marks, chart.Mark{At: at, Label: mark.Change.Mark, Style: chart.Style(look.Mark), Rune: look.MarkSymbol(m.Theme(), engine.MarkChange)})
		}
	}
}

// visibleCharts returns the n most important charts, in their order on the screen.
func (m *model) visibleCharts(n int) (list []panes.Stacked) {
	all := []panes.Stacked{m.bandwidthChart(), m.packetRateChart(), m.delayChart(), m.lossChart(), m.queueChart()}
	for i, rank := range [5]int{0, 3, 1, 2, 4} { // importance of each chart of all; 0 is the highest
		if rank < n {
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

// bandwidthChart shows the rate on the wire, and the rate limits of the links as rules.
func (m *model) bandwidthChart() panes.Stacked {
	stacked := m.directionChart("Bandwidth kbps with headers", func(series *directionSeries) []float64 { return series.kbps },
		func(f *relay.Flow, seconds float64) string { return units.Fixed(relay.Kbps(f.OutWire, seconds), 1) })
	stacked.Spec.Floor = 1
	cfg := m.proxy.Live.Config(m.target)
	// rule adds the rate limit of a link, if there is one, as a horizontal line with this name.
	rule := func(name string, s *lossmodel.Spec) {
		if limit := s.Rate.BitsPerSecond; limit > 0 && !s.Netem.On { // netem has a rate of its own and ignores s.Rate
			stacked.Spec.Rules = append(stacked.Spec.Rules, chart.Rule{Value: float64(limit) / 1000, Style: chart.Style(look.Budget), Name: name})
		}
	}
	if cfg.Up.Rate == cfg.Down.Rate {
		rule("rate", &cfg.Down)
	} else {
		rule("rate up", &cfg.Up)
		rule("rate down", &cfg.Down)
	}
	return stacked
}

// packetRateChart shows the datagrams per second that were sent on.
func (m *model) packetRateChart() panes.Stacked {
	stacked := m.directionChart("Datagrams/s", func(series *directionSeries) []float64 { return series.rate }, func(f *relay.Flow, seconds float64) string { return formatRate(f.Out, seconds) })
	stacked.Spec.Floor = 1
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
	return []lossmodel.Cause{lossmodel.Loss, lossmodel.Burst, lossmodel.Queue, lossmodel.Fragment, lossmodel.Corrupt}
}

// lossChart stacks the losses of both directions per second, by cause.
func (m *model) lossChart() panes.Stacked {
	h := m.displayed()
	stacked := panes.Stacked{Title: "Lost/s by cause", Spec: &chart.Spec{Floor: 1}}
	total := uint64(0)
	for i, cause := range shownCauses() {
		recentLosses := h.recent.Flows[0].LostBy[cause] + h.recent.Flows[1].LostBy[cause]
		const firstSlot = 5 // the slots before it include the colours of the two directions
		style := look.SlotStyle(firstSlot + i)
		fill := '█'
		if !m.Theme().Color || m.Theme().Ascii {
			fill = m.Theme().Shade(i)
		}
		stacked.Spec.Areas = append(stacked.Spec.Areas, chart.Area{Values: lossRates(h.directions[0].lost[cause], h.directions[1].lost[cause]), Fill: fill, Style: chart.Style(style),
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
	return stacked
}
