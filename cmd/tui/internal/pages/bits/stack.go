package bits

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// stack is one encoder's bits over time, the parts stacked one upon the other.
type stack struct {
	*account
	which int // 0: the encoder under the keys; 1: the shadow beside it
}

func (p *stack) Name() string { return "Bits over time" }

func (p *stack) lane() *engine.Lane {
	if p.which == 0 {
		return p.first()
	}
	return p.other()
}

func (p *stack) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	lane := p.lane()
	if lane == nil {
		c.Frame(th, focused, p.Name())
		return
	}
	title := lane.Name()
	if p.which == 1 {
		title = "shadow " + lane.Name()
	}
	c.Frame(th, focused, title, p.legend(lane, look.HeadRoom(c.W, title))...)
	if len(p.parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, panes.NothingSentText(lane))
		return
	}
	spec := p.spec(lane, th, c.W-2)
	spec.Floor = math.Max(spec.Floor, p.top(th, c.W-2))
	c.Blit(1, 1, chart.Draw(spec, c.W-2, c.H-2))
}

// top is how high the other one's chart reaches: both have one scale.
func (p *stack) top(th *look.Theme, w int) float64 {
	beside := [2]*engine.Lane{p.other(), p.first()}[p.which]
	if beside == nil || p.unit == byShare {
		return 0
	}
	return p.spec(beside, th, w).Height(w)
}

// legend says what is stacked.
func (p *stack) legend(lane *engine.Lane, room int) []look.Span {
	what := [numUnits]string{"kbps", "% of the payload", "bits per " + panes.PerItemUnit(p.snap.Schema, p.item())}[p.unit]
	if p.solo {
		what = panes.SlotName(encoders.Slot(p.chosen), p.snap.Schema) + " alone, " + what
	}
	r := &lane.Recent
	now := []look.Span{look.Dim.Span(what), look.Dim.Span("  now "), look.Payload.Span(units.Fixed(r.PayloadKbps, 1)),
		look.Dim.Span(" kbps, "), look.Ratio.Span(panes.FormatBitsPerItem(r.BitsPerChanged)),
		look.Dim.Span(" bits/" + panes.PerItemShort(p.snap.Schema, p.item()))}
	return look.Fit(room, now, now[:1], nil)
}

// spec is the picture of the time that all charts show.
func (p *stack) spec(lane *engine.Lane, th *look.Theme, w int) *chart.Spec {
	s := &chart.Spec{ASCII: th.Ascii, End: p.newest, Step: meters.SamplePeriod, Span: int(p.span() / meters.SamplePeriod), Time: true, Labels: true, Floor: 1}
	look.InkChart(s)
	panes.AddMarks(s, th, p.snap.Marks)
	samples := lockstep.CaughtUp(lane)
	samples = samples[max(len(samples)-s.VisibleValues(w), 0):]
	if n := len(samples); n > 0 { // a lane's newest may be older than the first one's
		s.End = int64(samples[n-1].T / meters.SamplePeriod)
	}
	s.Since = panes.LastSwap(p.snap.Marks, s.End)
	if p.unit == byShare {
		s.Whole = 100
	}
	weights := p.weights(samples)
	for _, k := range p.order() {
		s.Areas = append(s.Areas, p.area(samples, weights, k, th))
	}
	return s
}

// order is that of the layers: the chosen one lies at the bottom, where its shape
// can be read.
func (p *stack) order() []encoders.Slot {
	list := slices.Clone(p.parts)
	if at := slices.Index(list, encoders.Slot(max(p.chosen, 0))); p.chosen >= 0 && at >= 0 {
		k := list[at]
		if p.solo {
			return []encoders.Slot{k}
		}
		list = slices.Insert(slices.Delete(list, at, at+1), 0, k)
	}
	return list
}

// area is one layer.
func (p *stack) area(samples []meters.Sample, weights []float64, k encoders.Slot, th *look.Theme) chart.Area {
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = p.value(&samples[i], k)
	}
	a := chart.Area{Values: values, Weights: weights, Fill: th.Block, Ink: chart.Ink(look.SlotInk(int(k))),
		Name: panes.SlotName(k, p.snap.Schema), NameInk: chart.Ink(look.BarInk(int(k)))}
	if th.Color && !th.Ascii {
		a.Fill = '█'
	} else if !th.Color {
		a.Fill, a.NameInk = th.Shade(int(k)), chart.Ink(look.Plain)
	}
	return a
}

// value is what one sample spent on a slot.
func (p *stack) value(s *meters.Sample, k encoders.Slot) float64 {
	bits := float64(s.Budget.Units[k]) / encoders.BitUnit
	switch p.unit {
	case byShare:
		return 100 * bits / math.Max(float64(s.Budget.Total())/encoders.BitUnit, 1)
	case byChanged:
		return bits / math.Max(float64(s.Changed), 1)
	}
	return bits * float64(time.Second/meters.SamplePeriod) / 1000
}

// weights are what a mean of several samples weighs them by, so that it is what
// the samples together spent.
func (p *stack) weights(samples []meters.Sample) []float64 {
	if p.unit == byKbps {
		return nil
	}
	out := make([]float64, len(samples))
	for i := range samples {
		s := &samples[i]
		switch {
		case p.unit == byShare:
			out[i] = float64(s.Budget.Total()) / encoders.BitUnit
		case panes.EnoughChanged(s):
			out[i] = float64(s.Changed)
		}
	}
	return out
}
