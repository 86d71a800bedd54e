package bits

import (
	"slices"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// hasShadows reports whether shadows are compared. The table then has one figure per lane, in the unit of the charts.
func (m *budgetModel) hasShadows() bool { return len(m.shownLanes()) > 1 }

// cheapestShadow returns the selected shadow with the lowest bandwidth, nil if there are no shadows.
func (m *budgetModel) cheapestShadow() (cheapest *engine.Lane) {
	for i, l := range m.shownLanes() {
		if i > 0 && (cheapest == nil || l.Recent.PayloadKbps < cheapest.Recent.PayloadKbps) {
			cheapest = l
		}
	}
	return cheapest
}

// of returns what a lane spent in the last two seconds, in the unit.
func (u stackUnit) of(l *engine.Lane) float64 {
	return [numUnits]float64{l.Recent.PayloadKbps, 100, l.Recent.BitsPerChanged}[u]
}

// lanesThatFit returns the indices in p.lanes of the shown lanes for which a table of w columns has room, the active
// encoder first, and how many it has no room for.
func (p *table) lanesThatFit(w int) (indices []int, omitted int) {
	indices = append([]int{0}, p.shadowChoice.Indices(p.lanes)...)
	n := min(max((w-namesWidth+differenceWidth)/shadowWidth, 1), len(indices))
	return indices[:n], len(indices) - n
}

// shadowList returns the list in which the user chooses the shadows to compare with: enter selects only one, space adds
// or removes one.
func (m *budgetModel) shadowList() *room.ListBox {
	b := &room.ListBox{Title: "Compare with", Width: 72}
	b.Names = func() (names []string) {
		for _, l := range m.lanes[min(1, len(m.lanes)):] {
			names = append(names, l.Name())
		}
		return names
	}
	b.Enter = func(shadow int) room.Request {
		m.shadowChoice.Select(m.lanes, shadow+1)
		m.recompute()
		return room.Request{Closes: true}
	}
	toggle := func() {
		if b.Item >= 0 {
			m.shadowChoice.Toggle(m.lanes, b.Item+1)
			m.recompute()
		}
	}
	b.Keys = []room.Binding{room.OverlayKey("enter", "only this", "compare with this shadow only, and close the list").Pin(),
		room.Bind("space", "add the shadow, or remove it; the list stays open", room.WithoutRequest(toggle)).InFooter("add, remove").Pin()}
	lane := func(cell grid.Cell) int { return b.At(cell) + 1 }
	b.Table = grid.Table{Sort: -1, Columns: []grid.Column{
		{Width: 3, Text: func(cell grid.Cell) []look.Span {
			if slices.Contains(m.shadowChoice.Indices(m.lanes), lane(cell)) {
				return grid.Text(look.Plain, "[x]")
			}
			return grid.Text(look.Plain, "[ ]")
		}},
		{Width: 1, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.LaneStyle(lane(cell)), string(look.LaneSymbol(lane(cell))))
		}},
		{Width: grid.Rest, Min: 20, Text: func(cell grid.Cell) []look.Span {
			l := &m.lanes[lane(cell)]
			return grid.Text(look.Plain, l.Letter+" "+look.LaneName(l.Name(), cell.Width-2))
		}},
		{Title: "kbps ", Width: 10, Right: true, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Value, units.Fixed(m.lanes[lane(cell)].Recent.PayloadKbps, 1)+" ")
		}},
	}}
	return b
}
