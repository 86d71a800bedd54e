package crowd

import (
	"math"
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

// period contains the sums of several samples.
type period struct {
	sum     engine.CrowdSample
	samples int
}

// recent returns the sums over the last two seconds of samples; of Wait it returns the largest.
func recent(samples []engine.CrowdSample) (p period) {
	samples = samples[max(len(samples)-int(room.RecentSpan/meters.SamplePeriod), 0):]
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
	return figures.RatioFigure(float64(p.sum.WireBits)/1e6, (time.Duration(p.samples) * meters.SamplePeriod).Seconds())
}

// charts shows what ticks cost over time.
type charts struct {
	*panes.TimeAxis
	view *engine.CrowdView
}

func (p *charts) Name() string { return "Charts" }

func (p *charts) Observe(v room.View) bool {
	samples, end := v.Snap.Crowd.Samples, time.Duration(0)
	if n := len(samples); n > 0 {
		end = samples[n-1].T
	}
	p.Changed = p.Changed || p.view == nil
	if !p.TimeAxis.Observe(v, end, len(samples)) {
		return false
	}
	p.view = v.Snap.Crowd
	return true
}

// part is a part of the work of a tick.
type part struct {
	name, short string
	of          func(*engine.CrowdCPU) int64
}

// cpuParts returns the parts of the work of a tick. Their sum is the time on all cores. Only a budget needs the choice of rows.
func cpuParts(hasBudget bool) []part {
	parts := []part{
		{"choose", "ch", func(c *engine.CrowdCPU) int64 { return c.Choose }},
		{"encode", "enc", func(c *engine.CrowdCPU) int64 { return c.Encode }},
		{"server", "srv", func(c *engine.CrowdCPU) int64 { return c.Server }},
		{"clients", "cl", func(c *engine.CrowdCPU) int64 { return c.Clients }},
		{"decode", "dec", func(c *engine.CrowdCPU) int64 { return c.Decode }},
	}
	if !hasBudget {
		return parts[1:]
	}
	return parts
}

// list returns the charts, the most important first.
func (p *charts) list(th *look.Theme) []panes.TimeChart[engine.CrowdSample] {
	type (
		sample = engine.CrowdSample
		row    = panes.TimeChart[sample]
		line   = panes.TimeLine[sample]
	)
	tick := units.Fixed(units.Milliseconds(p.view.TickTime), 1)
	cpu := row{Title: "CPU µs a tick", Short: "CPU µs", Floor: 100, IsStack: true,
		After: [][]look.Span{{look.Dim.Span("  of "), look.Value.Span(tick), look.Dim.Span(" ms")}}}
	for i, part := range cpuParts(p.view.Totals.View != nil) {
		cpu.Lines = append(cpu.Lines, line{Name: part.name, Short: part.short, Symbol: th.Swatch(i), Style: look.SlotStyle(i), Value: func(s *sample) (num, den float64) {
			if s.CPU == (engine.CrowdCPU{}) { // a replay has no clock
				return 0, 0
			}
			return float64(part.of(&s.CPU)) / 1000, float64(s.Ticks)
		}})
	}
	list := []row{
		{Title: "Encodings a tick", Floor: 4, Decimals: 1, Lines: []line{
			{Style: look.Payload, Value: func(s *sample) (num, den float64) { return float64(s.Encodings), float64(s.Ticks) }},
			{Name: "clients each", Style: look.Dim, Figure: func(list []sample) string {
				now := recent(list)
				return figures.RatioFigure(float64(now.sum.Packets), float64(now.sum.Encodings)).Text(0)
			}},
		}},
		cpu,
		{Title: "All clients Mbit/s", Floor: 1, Decimals: 2, Lines: []line{{Name: "with headers", Style: look.Wire,
			Value: func(s *sample) (num, den float64) { return float64(s.WireBits) / 1e6, meters.SamplePeriod.Seconds() }}}},
		{Title: "Lost %", Floor: 1, Decimals: 2, Lines: []line{{Style: look.Lost,
			Value: func(s *sample) (num, den float64) { return 100 * float64(s.Lost), float64(s.Packets) }}}},
	}
	if p.view.HasUplink {
		list = append(list, row{Title: "Uplink of the server: longest wait ms", Short: "Uplink wait ms", Floor: 5, Decimals: 1, Lines: []line{{Name: "max, 2 s", Style: look.Warn, Reduce: chart.Max,
			Value: func(s *sample) (num, den float64) { return units.Milliseconds(s.Wait), 1 }}}})
	}
	return list
}

func (p *charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	list := p.list(th)
	for i := range list {
		list[i].Focused = focused
	}
	t := panes.TimeCharts[engine.CrowdSample]{TimeAxis: p.TimeAxis, Samples: p.view.Samples}
	t.Draw(c, th, list)
}

// ratio returns x/n; NaN if n is 0.
func ratio(x float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return x / float64(n)
}
