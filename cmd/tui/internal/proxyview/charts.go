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

// spans are the spans of time that the charts can show; the first grows with what there is.
func spans() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Second, 30 * time.Second}
}

func (m *model) spanNow() time.Duration {
	return panes.SpanNow(spans(), m.page.span, time.Duration(len(m.shown().ways[0].kbps))*period)
}

// inks of the directions.
var wayInks = [2]look.Ink{relay.Up: look.Wire, relay.Down: look.Payload}

// drawCharts draws as many charts as there is room for, one below the other over one axis.
func (m *model) drawCharts(c *look.Canvas, focused bool) {
	const least = 6
	list := m.charts(min(max((c.H-3)/least, 1), 5))
	for i := range list {
		list[i].Focused, list[i].Fit = focused && i == 0, m.page.fit
		m.style(list[i].Spec)
	}
	panes.DrawStack(c, m.Theme(), list)
}

// style sets what all charts share.
func (m *model) style(s *chart.Spec) {
	h := m.shown()
	m.Theme().StyleChart(s)
	s.End, s.Step, s.Span = h.end, period, int(m.spanNow()/period)
	s.Fit = m.page.fit && len(s.Areas) == 0
	if m.frozen != nil {
		s.Newest = look.Clock(h.snap.Totals.At)
	}
	for _, x := range m.marks {
		if at := int64(x.T / period); at < h.end {
			s.Marks = append(s.Marks, chart.Mark{At: at, Label: x.Change.Mark, Ink: chart.Ink(look.Mark), Rune: look.MarkSign(m.Theme(), engine.MarkChange)})
		}
	}
}

// charts are the n most telling ones, from the top.
func (m *model) charts(n int) (list []panes.Stacked) {
	all := []panes.Stacked{m.bandwidth(), m.rates(), m.delay(), m.lost(), m.queue()}
	for i, rank := range []int{0, 3, 1, 2, 4} { // places in the order of what they tell
		if rank < n {
			list = append(list, all[i])
		}
	}
	return list
}

// both draws one line for each direction.
func (m *model) both(title string, of func(*way) []float64, value func(*relay.Flow, float64) string) panes.Stacked {
	h := m.shown()
	x := panes.Stacked{Title: title, Spec: &chart.Spec{}}
	strokes := look.Strokes(m.Theme())
	for i := range h.ways {
		stroke := []chart.Stroke{relay.Up: chart.Dashed, relay.Down: chart.Solid}[i]
		x.Spec.Series = append(x.Spec.Series, chart.Series{Values: of(&h.ways[i]), Stroke: stroke, Ink: chart.Ink(wayInks[i])})
		x.Legend = append(x.Legend, wayInks[i].Span("  "[:2*i]+strokes[stroke]+" "+relay.Way(i).String()+" "), look.Value.Span(value(&h.now.Flows[i], h.span)))
	}
	return x
}

func (m *model) bandwidth() panes.Stacked {
	x := m.both("Bandwidth kbps with headers", func(w *way) []float64 { return w.kbps },
		func(f *relay.Flow, span float64) string { return units.Fixed(relay.Kbps(f.OutWire, span), 1) })
	x.Spec.Floor = 1
	cfg := m.proxy.Live.Config(m.client)
	rule := func(name string, s *lossmodel.Spec) {
		if bits := s.Rate.BitsPerSecond; bits > 0 && !s.Netem.On {
			x.Spec.Rules = append(x.Spec.Rules, chart.Rule{Value: float64(bits) / 1000, Ink: chart.Ink(look.Budget), Name: name})
		}
	}
	if cfg.Up.Rate == cfg.Down.Rate {
		rule("rate", &cfg.Down)
	} else {
		rule("rate up", &cfg.Up)
		rule("rate down", &cfg.Down)
	}
	return x
}

func (m *model) rates() panes.Stacked {
	x := m.both("Datagrams /s", func(w *way) []float64 { return w.rate }, func(f *relay.Flow, span float64) string { return perSecond(f.Out, span) })
	x.Spec.Floor = 1
	return x
}

// delay is the median of both directions, and below them their 95th percentiles.
func (m *model) delay() panes.Stacked {
	x := m.both("Delay ms", func(w *way) []float64 { return w.p50 }, func(f *relay.Flow, _ float64) string {
		return quantile(&f.Took, 0.5) + " " + look.Strokes(m.Theme())[chart.Dotted] + " p95 " + quantile(&f.Took, 0.95)
	})
	h := m.shown()
	var high []chart.Series
	for i := range h.ways {
		high = append(high, chart.Series{Values: h.ways[i].p95, Reduce: chart.Max, Stroke: chart.Dotted, Ink: chart.Ink(wayInks[i]), Loose: true})
	}
	x.Spec.Series, x.Spec.Floor = append(high, x.Spec.Series...), 1
	return x
}

// causes are those that anything is lost by, from the bottom of the chart.
func causes() []lossmodel.Cause {
	return []lossmodel.Cause{lossmodel.Loss, lossmodel.Burst, lossmodel.Queue, lossmodel.Fragment, lossmodel.Corrupt}
}

// lost stacks the losses of both directions by cause.
func (m *model) lost() panes.Stacked {
	h := m.shown()
	x := panes.Stacked{Title: "Lost /s by cause", Spec: &chart.Spec{Floor: 1}}
	total := uint64(0)
	for i, cause := range causes() {
		n := h.now.Flows[0].LostBy[cause] + h.now.Flows[1].LostBy[cause]
		ink := look.SlotInk(i + 5)
		fill := '█'
		if !m.Theme().Color || m.Theme().Ascii {
			fill = m.Theme().Shade(i)
		}
		x.Spec.Areas = append(x.Spec.Areas, chart.Area{Values: rates(h.ways[0].lost[cause], h.ways[1].lost[cause]), Fill: fill, Ink: chart.Ink(ink),
			NameInk: chart.Ink(look.Dim)})
		if n > 0 {
			x.Legend = append(x.Legend, ink.Span(string(m.Theme().Swatch(i))+" "+cause.String()+" "), look.Value.Span(perSecond(n, h.span)+" "))
		}
		total += h.snap.Totals.Flows[0].LostBy[cause] + h.snap.Totals.Flows[1].LostBy[cause]
	}
	if total == 0 {
		x.Empty = "nothing so far"
	}
	return x
}

func (m *model) queue() panes.Stacked {
	x := m.both("Queue KB", func(w *way) []float64 { return w.queue }, func(f *relay.Flow, _ float64) string {
		return units.Fixed(float64(f.Line.Bytes)/1000, 1)
	})
	x.Spec.Floor = 1
	return x
}
