package ui

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/encoders"
	"wirelab/experiment/engine"
)

// stackPane is one encoder's bits over time, the parts stacked one upon the other.
type stackPane struct {
	*account
	which int // 0: the encoder under the keys; 1: the shadow beside it
}

func (p *stackPane) name() string { return "Bits over time" }

// observe is the account's business.
func (p *stackPane) observe(sight) bool { return false }

func (p *stackPane) lane() *engine.Lane {
	if p.which == 0 {
		return p.first()
	}
	return p.other()
}

func (p *stackPane) draw(c *canvas, th *theme, focused bool) {
	lane := p.lane()
	if lane == nil {
		c.frame(th, focused, p.name())
		return
	}
	title := lane.Encoder
	if p.which == 1 {
		title = "shadow " + lane.Encoder
	}
	c.frame(th, focused, title, p.legend(lane, headRoom(c.w, title))...)
	if len(p.parts) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "nothing has been sent yet")
		return
	}
	spec := p.spec(lane, th, c.w-2)
	spec.Floor = math.Max(spec.Floor, p.top(th, c.w-2))
	c.blit(1, 1, chart.Draw(spec, c.w-2, c.h-2))
}

// top is how high the other one's chart reaches: both have one scale.
func (p *stackPane) top(th *theme, w int) float64 {
	beside := [2]*engine.Lane{p.other(), p.first()}[p.which]
	if beside == nil || p.unit == byShare {
		return 0
	}
	return p.spec(beside, th, w).Height(w)
}

// legend says what is stacked.
func (p *stackPane) legend(lane *engine.Lane, room int) []span {
	what := [numUnits]string{"kbps", "% of the payload", "bits per " + perWhat(p.snap.Schema, p.item())}[p.unit]
	if p.solo {
		what = encoders.Slot(p.chosen).Name(p.snap.Schema) + " alone, " + what
	}
	r := &lane.Recent
	now := []span{{inkDim, what}, {inkDim, "  now "}, {inkPayload, fixed(r.PayloadKbps, 1)}, {inkDim, " kbps, "}, {inkRatio, fixed(r.BitsPerChanged, 1)}, {inkDim, " bits/" + perShort(p.snap.Schema, p.item())}}
	return fit(room, now, now[:1], nil)
}

// spec is the picture: as many samples as it has room for.
func (p *stackPane) spec(lane *engine.Lane, th *theme, w int) *chart.Spec {
	cols := max(chart.Width(w), 1)
	span := chartSpans()[p.zoom]
	per := max(int(math.Ceil(span.Seconds()/engine.SamplePeriod.Seconds()/float64(cols))), 1)
	s := &chart.Spec{ASCII: th.ascii, End: p.newest, Step: engine.SamplePeriod, Per: per, Time: true, Labels: true, Floor: 1,
		Blank: chart.Ink(inkPlain), Axis: chart.Ink(inkBorder), Label: chart.Ink(inkDim), Tick: chart.Ink(inkFaint)}
	for _, m := range distinct(p.snap.Marks) {
		s.Marks = append(s.Marks, chart.Mark{At: int64(m.T / engine.SamplePeriod), Label: m.Label, Ink: chart.Ink(markInk(m.Kind)), Rune: markSign(th, m.Kind)})
	}
	samples := settled(lane)
	samples = samples[max(len(samples)-per*(cols+1), 0):]
	if n := len(samples); n > 0 { // a lane's newest may be older than the first one's
		s.End = int64(samples[n-1].T / engine.SamplePeriod)
	}
	s.Since = swapped(p.snap.Marks, s.End)
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
func (p *stackPane) order() []encoders.Slot {
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
func (p *stackPane) area(samples []engine.Sample, weights []float64, k encoders.Slot, th *theme) chart.Area {
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = p.value(&samples[i], k)
	}
	a := chart.Area{Values: values, Weights: weights, Fill: th.block, Ink: chart.Ink(slotInk(int(k))), Name: k.Name(p.snap.Schema), NameInk: chart.Ink(barInk(int(k)))}
	if th.color && !th.ascii {
		a.Fill = '█'
	} else if !th.color {
		a.Fill, a.NameInk = th.shade(int(k)), chart.Ink(inkPlain)
	}
	return a
}

// value is what one sample spent on a slot.
func (p *stackPane) value(s *engine.Sample, k encoders.Slot) float64 {
	bits := float64(s.Budget.Units[k]) / encoders.BitUnit
	switch p.unit {
	case byShare:
		return 100 * bits / math.Max(float64(s.Budget.Total())/encoders.BitUnit, 1)
	case byChanged:
		return bits / math.Max(float64(s.Changed), 1)
	}
	return bits * float64(time.Second/engine.SamplePeriod) / 1000
}

// weights are what a mean of several samples weighs them by, so that it is what
// the samples together spent.
func (p *stackPane) weights(samples []engine.Sample) []float64 {
	if p.unit == byKbps {
		return nil
	}
	out := make([]float64, len(samples))
	for i := range samples {
		s := &samples[i]
		switch {
		case p.unit == byShare:
			out[i] = float64(s.Budget.Total()) / encoders.BitUnit
		case enough(s):
			out[i] = float64(s.Changed)
		}
	}
	return out
}
