package bits

import (
	"math"
	"slices"

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
	p.axis.ZoomBy(notches)
	p.recompute()
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
	if lane == nil || len(p.slots) == 0 {
		c.Frame(th, focused, p.Name())
		c.Wrap(2, 1, c.W-4, look.Dim, panes.NothingSentText(p.snap, lane))
		return
	}
	t, k := p.chart(lane, th)
	k.Focused = focused
	for i, other := range p.shownLanes() {
		if i != p.index && p.unit != byShare { // the scale of shares always ends at 100 %
			others, area := p.chart(other, th)
			k.Floor = math.Max(k.Floor, others.Spec(&area, th, c.W-2).Height(c.W-2))
		}
	}
	k.Title = look.LaneName(lane.Name(), c.W/2)
	if p.index > 0 {
		k.Title = "shadow " + k.Title
	}
	k.After = p.legend(lane)
	t.Draw(c, th, []panes.TimeChart[meters.Sample]{k})
}

// legend returns the unit and the figures of a lane, and shorter texts.
func (p *stack) legend(lane *engine.Lane) [][]look.Span {
	unit := [numUnits]string{"kbps", "% of the payload", "bits per " + p.perItem()}[p.unit]
	if p.onlySelected {
		unit = "only " + panes.SlotName(encoders.Slot(p.selected), p.snap.Schema) + ", " + unit
	}
	r := &lane.Recent
	all := []look.Span{look.Dim.Span(unit), look.Dim.Span("  " + p.axis.FiguresAt() + " "), look.Payload.Span(units.Fixed(r.PayloadKbps, 1)),
		look.Dim.Span(" kbps, "), look.Ratio.Span(panes.FormatBitsPerItem(r.BitsPerChanged)),
		look.Dim.Span(" bits per " + p.perItem())}
	return [][]look.Span{all, all[:1]}
}

// maxAreas is the largest number of areas of a chart; if there are more slots, the last area is that of the others.
const maxAreas = 9

// chart returns the chart of a lane, with an area per slot of the bit budget, and its samples.
func (p *stack) chart(lane *engine.Lane, th *look.Theme) (*panes.TimeCharts[meters.Sample], panes.TimeChart[meters.Sample]) {
	axis := p.axis
	samples := lockstep.AfterWarmUp(lane)
	if n := len(samples); n > 0 { // the newest sample of a shadow may be older than that of the active encoder
		axis.End = int64(samples[n-1].T / meters.SamplePeriod)
	}
	k := panes.TimeChart[meters.Sample]{Floor: 1, IsStack: true}
	if p.unit == byShare {
		k.Whole = 100
	}
	order := p.slotOrder()
	if len(order) > maxAreas {
		largest, others := p.largestSlots(order, maxAreas-1)
		order = largest
		k.Lines = append(k.Lines, p.area(others, p.othersName(others), th))
	}
	for _, slot := range slices.Backward(order) {
		k.Lines = append(k.Lines, p.area([]encoders.Slot{slot}, panes.SlotName(slot, p.snap.Schema), th))
	}
	slices.Reverse(k.Lines) // the others are on top
	return &panes.TimeCharts[meters.Sample]{TimeAxis: &axis, Samples: samples, LoopPoints: panes.LoopPoints}, k
}

// slotOrder returns the slots in the order of the stack, from the bottom. The selected slot is at the
// bottom, where its base is level and its shape can be read; if only that is shown, it is the only one.
func (p *stack) slotOrder() []encoders.Slot {
	order := slices.Clone(p.slots)
	if i := p.selectedRow(); i >= 0 {
		selected := order[i]
		if p.onlySelected {
			return []encoders.Slot{selected}
		}
		order = slices.Insert(slices.Delete(order, i, i+1), 0, selected)
	}
	return order
}

// area returns the area of slots, which has the colour of the first of them.
func (p *stack) area(slots []encoders.Slot, name string, th *look.Theme) panes.TimeLine[meters.Sample] {
	first := int(slots[0])
	area := panes.TimeLine[meters.Sample]{Name: name, Silent: true, Symbol: th.Swatch(first), Style: look.SlotStyle(first),
		Value: func(s *meters.Sample) (num, den float64) { return p.value(s, slots) }}
	if th.Color {
		area.InArea = look.BarStyle(first)
	}
	return area
}

// value returns what sample s spent on slots, in the current unit: kbps, percent of all bits, or bits per
// changed item. It is unknown with too few changed items.
func (p *stack) value(s *meters.Sample, slots []encoders.Slot) (num, den float64) {
	bits := 0.0
	for _, k := range slots {
		bits += float64(s.Budget.Units[k]) / encoders.BitUnit
	}
	switch p.unit {
	case byShare:
		return 100 * bits, float64(s.Budget.Total()) / encoders.BitUnit
	case byChanged:
		if !panes.EnoughChanged(s) {
			return 0, 0
		}
		return bits, float64(s.Changed)
	}
	return bits / 1000, s.Width.Seconds()
}
