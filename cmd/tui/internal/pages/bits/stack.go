package bits

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// stack is a chart of one encoder's bits over time, stacked by slot.
type stack struct {
	*budgetModel
	index int // in shownLanes; 0 is the active encoder
	drawn int // numChanges at the last Observe
}

func (p *stack) Name() string {
	if lane := p.lane(); lane != nil && p.index > 0 {
		return lane.Letter + " " + lane.Encoder
	}
	return "Bits over time"
}

// Absent implements room.Absent.
func (p *stack) Absent() bool { return p.index > 0 && p.lane() == nil }

// Observe implements room.Observer. The first chart updates the budget of all panes.
func (p *stack) Observe(v room.View) bool {
	if p.index == 0 && p.observe(v) {
		p.numChanges++
	}
	changed := p.drawn != p.numChanges
	p.drawn = p.numChanges
	return changed
}

// Wheel implements room.Wheeler. A stack is no room.Timed, because the time span of all charts would
// change once for each.
func (p *stack) Wheel(_, _, notches int) room.Request {
	p.zoomBy(notches)
	return room.Request{}
}

// lane returns the lane of the chart, nil if it does not exist.
func (p *stack) lane() *engine.Lane {
	if lanes := p.shownLanes(); p.index < len(lanes) {
		return lanes[p.index]
	}
	return nil
}

// Draw implements room.Pane. All charts have the same scale, so that their heights can be compared.
func (p *stack) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	lane := p.lane()
	if lane == nil {
		c.Frame(th, focused, p.Name())
		return
	}
	title := lane.Name()
	if p.index > 0 {
		title = "shadow " + lane.Name()
	}
	c.Frame(th, focused, title, p.legend(lane, look.TitleSpace(c.W, title))...)
	if len(p.slots) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, panes.NothingSentText(lane))
		return
	}
	spec := p.spec(lane, th, c.W-2)
	spec.Floor = math.Max(spec.Floor, p.otherHeight(th, c.W-2))
	c.Blit(1, 1, chart.Draw(spec, c.W-2, c.H-2))
}

// otherHeight returns the highest value of the charts of the other lanes, w columns wide, for the common scale.
// It is 0 if there is no other lane, or if the unit is a share, whose scale always ends at 100 %.
func (p *stack) otherHeight(th *look.Theme, w int) (height float64) {
	for i, other := range p.shownLanes() {
		if i != p.index && p.unit != byShare {
			height = math.Max(height, p.spec(other, th, w).Height(w))
		}
	}
	return height
}

// legend returns the unit and the current figures, in at most maxWidth columns.
func (p *stack) legend(lane *engine.Lane, maxWidth int) []look.Span {
	unit := [numUnits]string{"kbps", "% of the payload", "bits per " + panes.PerItemUnit(p.snap.Schema, p.item())}[p.unit] + ", " + room.MeanText
	if p.onlySelected {
		unit = "only " + panes.SlotName(encoders.Slot(p.selected), p.snap.Schema) + ", " + unit
	}
	r := &lane.Recent
	now := []look.Span{look.Dim.Span(unit), look.Dim.Span("  " + panes.FiguresAt(p.crosshair) + " "), look.Payload.Span(units.Fixed(r.PayloadKbps, 1)),
		look.Dim.Span(" kbps, "), look.Ratio.Span(panes.FormatBitsPerItem(r.BitsPerChanged)),
		look.Dim.Span(" bits/" + panes.PerItemShort(p.snap.Schema, p.item()))}
	return look.Fit(maxWidth, now, now[:1], nil)
}

// spec returns the chart of a lane for w columns, with an area per slot of the bit budget.
func (p *stack) spec(lane *engine.Lane, th *look.Theme, w int) *chart.Spec {
	s := &chart.Spec{ASCII: th.Ascii, End: p.nextIndex, Step: meters.SamplePeriod, Span: int(p.span() / meters.SamplePeriod), Window: panes.MeanWindow,
		Time: true, Labels: true, Floor: 1, UnscaledRune: look.MarkSymbol(th, engine.MarkLoop)}
	look.SetChartStyles(s)
	panes.AddMarks(s, th, p.snap.Marks)
	panes.AddCrosshair(s, p.crosshair)
	samples := lockstep.AfterWarmUp(lane)
	samples = samples[max(len(samples)-s.VisibleValues(w), 0):]
	if n := len(samples); n > 0 { // the newest sample of a shadow may be older than that of the active encoder
		s.End = int64(samples[n-1].T / meters.SamplePeriod)
	}
	s.Since = panes.LastSwap(p.snap.Marks, s.End)
	s.UnscaledIntervals = panes.LoopPoints(samples)
	if p.unit == byShare {
		s.Whole = 100
	}
	weights := p.weights(samples)
	for _, k := range p.slotOrder() {
		s.Areas = append(s.Areas, p.area(samples, weights, k, th))
	}
	return s
}

// slotOrder returns the slots in the order of the stack, from the bottom. The selected slot is at the
// bottom, where its base is level and its shape can be read; if only that is shown, it is the only one.
func (p *stack) slotOrder() []encoders.Slot {
	order := slices.Clone(p.slots)
	// p.selected is -1 without a selection.
	if i := slices.Index(order, encoders.Slot(max(p.selected, 0))); p.selected >= 0 && i >= 0 {
		selected := order[i]
		if p.onlySelected {
			return []encoders.Slot{selected}
		}
		order = slices.Insert(slices.Delete(order, i, i+1), 0, selected)
	}
	return order
}

// area returns the layer of slot k. Colours distinguish the layers; without colours, shades do.
func (p *stack) area(samples []meters.Sample, weights []float64, slot encoders.Slot, th *look.Theme) chart.Area {
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = p.value(&samples[i], slot)
	}
	layer := chart.Area{Values: values, Weights: weights, Fill: th.Block, Style: chart.Style(look.SlotStyle(int(slot))),
		Name: panes.SlotName(slot, p.snap.Schema), NameStyle: chart.Style(look.BarStyle(int(slot)))}
	if th.Color && !th.Ascii {
		layer.Fill = '█'
	} else if !th.Color {
		layer.Fill, layer.NameStyle = th.Shade(int(slot)), chart.Style(look.Plain)
	}
	return layer
}

// value returns what sample s spent on slot k, in the current unit: kbps, percent of all bits, or bits per
// changed item.
func (p *stack) value(s *meters.Sample, k encoders.Slot) float64 {
	bits := float64(s.Budget.Units[k]) / encoders.BitUnit
	switch p.unit {
	case byShare:
		return 100 * bits / math.Max(float64(s.Budget.Total())/encoders.BitUnit, 1)
	case byChanged:
		return bits / math.Max(float64(s.Changed), 1)
	}
	samplesPerSecond := float64(time.Second / meters.SamplePeriod)
	return bits * samplesPerSecond / 1000
}

// weights returns the weight of each sample when several are averaged in a column: the denominator of the
// unit, so that the mean equals the ratio of the sums. nil means equal weights. Samples with too few
// changed items have weight 0.
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
