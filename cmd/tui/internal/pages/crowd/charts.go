package crowd

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// timeSpan is the time span of the panes with a time axis.
type timeSpan struct {
	index int // index in panes.ChartSpans
	count int // samples of the history
}

func (t *timeSpan) Span() time.Duration {
	return panes.VisibleSpan(panes.ChartSpans(), t.index, available(t.count))
}

func (t *timeSpan) NextSpan() { t.index = (t.index + 1) % len(panes.ChartSpans()) }

func (t *timeSpan) ZoomBy(notches int) {
	t.index = panes.ZoomSpan(panes.ChartSpans(), t.index, available(t.count), notches)
}

// available returns the length of a history of n samples.
func available(n int) time.Duration { return time.Duration(n) * meters.SamplePeriod }

// period contains the sums of several samples.
type period struct {
	sum     engine.CrowdSample
	samples int
}

// isTimed reports whether CPU times were measured. A replay without a clock has none.
func (p *period) isTimed() bool { return p.sum.CPU != engine.CrowdCPU{} }

// recent returns the sums over the last two seconds of samples; of Wait it returns the largest.
func recent(samples []engine.CrowdSample) (p period) {
	samples = samples[max(len(samples)-panes.MeanWindow, 0):]
	p.samples = len(samples)
	for i := range samples {
		s := &samples[i]
		p.sum.Ticks += s.Ticks
		p.sum.Encodings += s.Encodings
		p.sum.Packets += s.Packets
		p.sum.Lost += s.Lost
		p.sum.WireBits += s.WireBits
		p.sum.Wait = max(p.sum.Wait, s.Wait)
		p.sum.CPU.Add(&s.CPU, 1)
		for age, n := range s.ByAge {
			p.sum.ByAge[age] += n
		}
	}
	return p
}

// perTick returns a sum divided by the number of ticks.
func (p *period) perTick(sum float64) figures.Figure {
	return figures.RatioFigure(sum, float64(p.sum.Ticks))
}

// megabits returns the rate on the wire of all clients in Mbit/s.
func (p *period) megabits() figures.Figure {
	return figures.RatioFigure(float64(p.sum.WireBits)/1e6, available(p.samples).Seconds())
}

// charts shows what ticks cost over time.
type charts struct {
	*timeSpan
	samples []engine.CrowdSample
	tick    time.Duration // between two packets
	marks   []engine.Mark

	crosshair time.Duration // 0 for none
	hasUplink bool
	hasBudget bool
	seen      bool // Observe was called
}

func (p *charts) Name() string { return "Charts" }

func (p *charts) Observe(v room.View) bool {
	if p.seen && !v.RedrawDue && v.Crosshair == p.crosshair {
		return false
	}
	x := v.Snap.Crowd
	p.count = len(x.Samples)
	p.samples, p.tick, p.marks, p.crosshair, p.seen = x.Samples, x.TickTime, v.Snap.Marks, v.Crosshair, true
	p.hasUplink, p.hasBudget = x.HasUplink, x.Totals.View != nil
	return true
}

// part is a part of the work of a tick.
type part struct {
	name string
	of   func(*engine.CrowdCPU) int64
}

// cpuParts returns the parts of the work of a tick. Their sum is the time on all cores. Only a budget needs the choice of rows.
func cpuParts(hasBudget bool) []part {
	parts := []part{
		{"choose", func(c *engine.CrowdCPU) int64 { return c.Choose }},
		{"encode", func(c *engine.CrowdCPU) int64 { return c.Encode }},
		{"server", func(c *engine.CrowdCPU) int64 { return c.Server }},
		{"clients", func(c *engine.CrowdCPU) int64 { return c.Clients }},
		{"decode", func(c *engine.CrowdCPU) int64 { return c.Decode }},
	}
	if !hasBudget {
		return parts[1:]
	}
	return parts
}

func (p *charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	shown, at := p.samples, panes.FiguresAt(p.crosshair) // the figures of the legends
	if p.crosshair > 0 {
		after := slices.IndexFunc(shown, func(s engine.CrowdSample) bool { return s.T > p.crosshair })
		if after >= 0 {
			shown = shown[:after]
		}
	}
	now := recent(shown)
	encodings := panes.Stacked{Title: "Encodings a tick, " + room.MeanText, Spec: p.line(look.Payload, 4, func(s *engine.CrowdSample) float64 {
		return ratio(float64(s.Encodings), s.Ticks)
	})}
	encodings.Legend = look.FitGroups(look.TitleSpace(c.W, encodings.Title), [][]look.Span{
		legendValue(at, look.Payload, now.perTick(float64(now.sum.Encodings)), 1),
		legendValue("clients each", look.Dim, figures.RatioFigure(float64(now.sum.Packets), float64(now.sum.Encodings)), 0)})
	cpu := p.cpuChart(th, &now, c.W)
	rate := panes.Stacked{Title: "All clients Mbit/s, " + room.MeanText, Spec: p.line(look.Wire, 1, func(s *engine.CrowdSample) float64 {
		return float64(s.WireBits) * room.PerSecond / 1e6
	})}
	rate.Legend = look.Fit(look.TitleSpace(c.W, rate.Title), legendValue("with headers", look.Wire, now.megabits(), 2), nil)
	lost := panes.Stacked{Title: "Lost %, " + room.MeanText, Spec: p.line(look.Lost, 1, func(s *engine.CrowdSample) float64 {
		return 100 * ratio(float64(s.Lost), s.Packets)
	})}
	lost.Legend = legendValue(at, look.Lost, figures.RatioFigure(100*float64(now.sum.Lost), float64(now.sum.Packets)), 2)
	list := []panes.Stacked{encodings, cpu, rate, lost}
	if p.hasUplink {
		queue := panes.Stacked{Title: "Uplink of the server: longest wait ms", Spec: p.line(look.Warn, 5, func(s *engine.CrowdSample) float64 {
			return units.Milliseconds(s.Wait)
		})}
		queue.Spec.Series[0].Reduce = chart.Max
		queue.Legend = legendValue(at, look.Warn, figures.Known(units.Milliseconds(now.sum.Wait)), 1)
		list = slices.Insert(list, 2, queue)
	}
	const chartRows = 4 // smallest useful height with the title
	for i := range list {
		list[i].Focused = focused
		list[i].Folded = i > 0 && c.H < 3+chartRows*(i+1) || i == 1 && !now.isTimed()
		s := list[i].Spec
		th.StyleChart(s)
		s.Step, s.Span, s.Window = meters.SamplePeriod, int(p.Span()/meters.SamplePeriod), panes.MeanWindow
		if n := len(p.samples); n > 0 {
			s.End = int64(p.samples[n-1].T / meters.SamplePeriod)
		}
		panes.AddMarks(s, th, p.marks)
		panes.AddCrosshair(s, p.crosshair)
	}
	panes.DrawStack(c, th, list)
}

// legendValue returns the part of a legend for a figure.
func legendValue(name string, style look.Style, f figures.Figure, decimals int) []look.Span {
	return []look.Span{style.Span(name + " "), look.Value.Span(f.Text(decimals)), look.Dim.Span("  ")}
}

// cpuChart returns the chart of the CPU time of a tick by part. width is that of the pane.
func (p *charts) cpuChart(th *look.Theme, now *period, width int) panes.Stacked {
	cpu := panes.Stacked{Title: "CPU µs a tick, wall clock", Spec: &chart.Spec{Floor: 100}}
	legend := [][]look.Span{}
	for i, part := range cpuParts(p.hasBudget) {
		fill, style := th.Shade(0), look.SlotStyle(i)
		if !th.Color {
			fill = th.Shade(i)
		}
		cpu.Spec.Areas = append(cpu.Spec.Areas, chart.Area{Fill: fill, Style: chart.Style(style), Values: p.values(func(s *engine.CrowdSample) float64 {
			return ratio(float64(part.of(&s.CPU))/1000, s.Ticks)
		})})
		legend = append(legend, legendValue(string(th.Swatch(i))+" "+part.name, style, now.perTick(float64(part.of(&now.sum.CPU))/1000), 0))
	}
	legend = append(legend, []look.Span{look.Dim.Span("of "), look.Value.Span(units.Fixed(units.Milliseconds(p.tick), 1)), look.Dim.Span(" ms")})
	cpu.Legend = look.FitGroups(look.TitleSpace(width, cpu.Title), legend)
	if !now.isTimed() {
		cpu.Legend = []look.Span{look.Dim.Span("not measured")}
	}
	return cpu
}

// line returns a chart with one line of the visible samples.
func (p *charts) line(style look.Style, floor float64, value func(*engine.CrowdSample) float64) *chart.Spec {
	return &chart.Spec{Floor: floor, Series: []chart.Series{{Style: chart.Style(style), Values: p.values(value)}}}
}

// values returns a value of each visible sample, and of the samples before them that are part of the first means.
func (p *charts) values(value func(*engine.CrowdSample) float64) []float64 {
	visible := int(p.Span()/meters.SamplePeriod) + panes.MeanWindow
	list := p.samples[max(len(p.samples)-visible, 0):]
	out := make([]float64, len(list))
	for i := range list {
		out[i] = value(&list[i])
	}
	return out
}

// ratio returns x/n; NaN if n is 0.
func ratio(x float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return x / float64(n)
}
