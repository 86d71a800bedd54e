package bits

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// comparesSeveral reports whether more than one shadow is selected. The table then has one figure per lane, in the
// unit of the charts.
func (m *budgetModel) comparesSeveral() bool { return len(m.shownLanes()) > 2 }

// cheapestShadow returns the selected shadow with the lowest bandwidth, nil if there are no shadows.
func (m *budgetModel) cheapestShadow() (cheapest *engine.Lane) {
	for i, l := range m.shownLanes() {
		if i > 0 && (cheapest == nil || l.Recent.PayloadKbps < cheapest.Recent.PayloadKbps) {
			cheapest = l
		}
	}
	return cheapest
}

// inUnit returns the cost in the unit of the charts.
func (s *slotCost) inUnit(u stackUnit) float64 {
	return [numUnits]float64{s.kbps, s.share, s.changed}[u]
}

// lanesThatFit returns the indices in p.lanes of the shown lanes for which a table of w columns has room, the active
// encoder first, and how many it has no room for.
func (p *table) lanesThatFit(w int) (indices []int, omitted int) {
	indices = append([]int{0}, p.shadowChoice.Indices(p.lanes)...)
	n := min(max((w-lanesLeft-2)/laneWidth, 1), len(indices))
	return indices[:n], len(indices) - n
}

// drawLaneNames draws letter and name of each lane and the unit of its figures, and returns the row below.
func (p *table) drawLaneNames(c *look.Canvas, th *look.Theme) (below int) {
	indices, omitted := p.lanesThatFit(c.W)
	unit := [numUnits]string{"kbps", "share %", "per " + p.perShort()}[p.unit]
	for i, index := range indices {
		l, left := &p.lanes[index], lanesLeft+i*laneWidth
		name := l.Letter + " " + look.LaneName(l.Name(), laneWidth-5)
		x := left + max(laneWidth-2-look.TextWidth(name), 0)
		c.Set(x, 1, look.LaneStyle(index), look.LaneSymbol(index))
		c.Clip(x+2, 1, laneWidth-2, look.Title, name)
		c.TextRight(left+laneWidth/2, 2, look.Dim, unit)
		if i > 0 {
			c.TextRight(left+laneWidth, 2, look.Dim, "vs "+p.active().Letter)
		}
	}
	if omitted > 0 {
		c.Text(5, 1, look.Dim, "+"+units.Fixed(float64(omitted), 0)+" lanes")
	}
	return 3
}

// drawLaneFigures draws what each lane spent on row r, and the differences to the active encoder.
func (p *table) drawLaneFigures(c *look.Canvas, y int, r *tableRow) {
	indices, _ := p.lanesThatFit(c.W)
	digits := 1
	if p.unit == byChanged {
		digits = 2
	}
	first := r.sumCost(p.active())
	for i, index := range indices {
		left, cost := lanesLeft+i*laneWidth, r.sumCost(&p.lanes[index])
		c.TextRight(left+laneWidth/2, y, look.Value, units.Fixed(cost.inUnit(p.unit), digits))
		if i > 0 {
			diff := cost.inUnit(p.unit) - first.inUnit(p.unit)
			c.TextRight(left+laneWidth, y, differenceStyle(diff), units.Signed(diff, digits))
		}
	}
}

// laneBox is the overlay in which the user chooses the shadows to compare with.
type laneBox struct {
	budget *budgetModel
	cursor int // index of the shadow
}

// Key implements room.Overlay: arrows move the cursor, space adds or removes the shadow, enter selects only it, and any
// other key closes the box.
func (b *laneBox) Key(msg tea.KeyMsg) room.Request {
	m := b.budget
	shadows := max(len(m.lanes)-1, 0)
	b.cursor = min(b.cursor, max(shadows-1, 0)) // a shadow may have left
	switch step := room.ListStep(msg); {
	case step != 0:
		b.cursor = min(max(b.cursor+step, 0), max(shadows-1, 0))
		return room.Request{}
	case shadows > 0 && msg.Type == tea.KeySpace:
		m.shadowChoice.Toggle(m.lanes, b.cursor+1)
	case shadows > 0 && msg.Type == tea.KeyEnter:
		m.shadowChoice.Select(m.lanes, b.cursor+1)
		m.recompute()
		return room.Request{Closes: true}
	default:
		return room.Request{Closes: true}
	}
	m.recompute()
	return room.Request{}
}

func (b *laneBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	const edges = 2
	return min(w, 72), min(h, len(b.budget.lanes)-1+edges), false
}

// Draw implements room.Overlay: a row for each shadow.
func (b *laneBox) Draw(c *look.Canvas, th *look.Theme) {
	m := b.budget
	c.Frame(th, look.Focused, "Compare with", look.Fit(look.TitleSpace(c.W, "Compare with"),
		[]look.Span{look.Dim.Span("space adds or removes, enter: only this, esc closes")},
		[]look.Span{look.Dim.Span("space adds, enter: only this")}, nil)...)
	selected := m.shadowChoice.Indices(m.lanes)
	first := min(max(b.cursor-(c.H-2)/2, 0), max(len(m.lanes)-1-(c.H-2), 0)) // so that the cursor is visible
	for i := first + 1; i < len(m.lanes) && i-first < c.H-1; i++ {
		y, l, style := i-first, &m.lanes[i], look.Plain
		if i == b.cursor+1 {
			style = look.Chosen
			c.Text(2, y, style, th.Chosen)
		}
		box := "[ ]"
		if slices.Contains(selected, i) {
			box = "[x]"
		}
		c.Text(4, y, style, box)
		c.Set(8, y, look.LaneStyle(i), look.LaneSymbol(i))
		c.Clip(10, y, c.W-22, style, l.Letter+" "+look.LaneName(l.Name(), c.W-24))
		c.TextRight(c.W-2, y, look.Value, units.Fixed(l.Recent.PayloadKbps, 1)+" kbps")
	}
}
