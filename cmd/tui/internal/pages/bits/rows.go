package bits

import (
	"cmp"
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// rowList lists the rows on which the active encoder spent most in the last two seconds, with a bar by slot.
type rowList struct {
	costs  *engine.RowCosts // nil while they are not shown
	schema *frame.Schema
}

func (p *rowList) Name() string { return "Most expensive rows" }

// Absent implements room.Absent.
func (p *rowList) Absent() bool { return p.costs == nil }

// Wheel implements room.Wheeler: ten rows do not scroll.
func (p *rowList) Wheel(_, _, _ int) room.Request { return room.Request{} }

func (p *rowList) Observe(v room.View) bool {
	changed := (p.costs == nil) != (v.Snap.RowCosts == nil) || p.costs != v.Snap.RowCosts && (!v.Running() || v.RedrawDue)
	if changed {
		p.costs, p.schema = v.Snap.RowCosts, v.Snap.Schema
	}
	return changed
}

// maxListedRows is the number of rows that the list shows.
const maxListedRows = 10

// rowListHeight is the height of the list with all rows, the sums and its border.
const rowListHeight = maxListedRows + 6

// Draw implements room.Pane: a line per row, then the sums.
func (p *rowList) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.costs == nil {
		c.Frame(th, focused, p.Name())
		return
	}
	k := p.costs
	counted := look.Labelled("", words.Count(k.Packets, "packet"), " of the last "+units.Fixed((k.Now-k.Since).Seconds(), 1)+" s")
	if k.Omitted > 0 { // of a long history only a part can be encoded again
		counted = append(counted, look.Warn.Span(", "+strconv.Itoa(k.Omitted)+" older ones left out"))
	}
	c.FitFrame(th, focused, p.Name(), counted)
	ranked := k.Ranked(maxListedRows)
	if len(ranked) == 0 {
		text := "no bits were spent on single rows"
		if k.Limit != "" {
			text = k.Limit
		}
		c.Clip(2, 1, c.W-4, look.Dim, text)
		return
	}
	for i, heading := range []string{"bits/packet", "share"} {
		c.TextRight(rowColumnEnds[i], 1, look.Dim, heading)
	}
	const frameAndHeading, sums, leastRows = 3, 3, 4
	rows := c.H - frameAndHeading
	rows = min(len(ranked), max(rows-sums, min(rows, leastRows)))
	listed := ranked[:rows]
	for i, row := range listed {
		p.drawRow(c, th, 2+i, i+1, row, k.Rows[listed[0]])
	}
	p.drawSums(c, th, 2+rows, listed)
}

// rowColumnEnds are the right edges of the bits per packet and their share.
var rowColumnEnds = [...]int{37, 46}

// drawRow draws row number row, which has the given rank, at row y of the canvas. The bar of a row with the cost largest is the longest.
func (p *rowList) drawRow(c *look.Canvas, th *look.Theme, y, rank, row int, largest int64) {
	k := p.costs
	c.TextRight(4, y, look.Dim, strconv.Itoa(rank))
	c.Clip(6, y, 19, look.Plain, panes.RowName(p.schema, row))
	p.drawFigures(c, y, k.Rows[row])
	x := rowColumnEnds[1] + 2
	width := float64(max(c.W-2-x, 0)) / float64(largest)
	sum := int64(0)
	for i, slot := range k.Slots {
		from := x + int(float64(sum)*width)
		sum += k.OfSlot(row, i)
		c.Fill(from, y, x+int(float64(sum)*width)-from, look.SlotStyle(int(slot)), th.Swatch(int(slot)))
	}
}

// drawFigures draws a cost: bits per packet and the share of the payload.
func (p *rowList) drawFigures(c *look.Canvas, y int, cost int64) {
	c.TextRight(rowColumnEnds[0], y, look.Value, units.Fixed(panes.BitsPerPacket(p.costs, cost), 1))
	c.TextRight(rowColumnEnds[1], y, look.Plain, units.Fixed(100*float64(cost)/float64(max(p.costs.Total, 1)), 1)+" %")
}

// drawSums draws the cost of the rows that are not listed, that of no single row, and the parts of the schema or the
// slots with their shares of the bits of rows.
func (p *rowList) drawSums(c *look.Canvas, th *look.Theme, y int, listed []int) {
	k := p.costs
	others := k.Total - k.Shared
	for _, row := range listed {
		others -= k.Rows[row]
	}
	for _, line := range []struct {
		name string
		cost int64
	}{{"all other rows", others}, {"headers, padding", k.Shared}} {
		if y < c.H-1 {
			c.Clip(6, y, 19, look.Dim, line.name)
			p.drawFigures(c, y, line.cost)
			y++
		}
	}
	if y < c.H-1 {
		c.Spans(6, y, c.W-8, look.FitGroups(c.W-8, p.groupShares(th))...)
	}
}

// groupShares returns the parts of the schema, such as players and projectiles, with their shares of the bits of rows;
// the slots in a schema without parts. The largest is first.
func (p *rowList) groupShares(th *look.Theme) (groups [][]look.Span) {
	k := p.costs
	type group struct {
		mark look.Span
		name string
		cost int64
	}
	var list []group
	for _, part := range p.schema.Parts {
		cost := int64(0)
		for _, units := range k.Rows[part.Row:min(part.Row+part.Rows, len(k.Rows))] {
			cost += units
		}
		list = append(list, group{name: words.Plural(part.Name), cost: cost})
	}
	if list == nil {
		for i, slot := range k.Slots {
			cost := int64(0)
			for row := range k.Rows {
				cost += k.OfSlot(row, i)
			}
			list = append(list, group{th.SlotMark(int(slot)), panes.SlotName(slot, p.schema), cost})
		}
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.cost, a.cost) })
	for _, g := range list {
		if g.cost > 0 {
			groups = append(groups, []look.Span{g.mark, look.Plain.Span(g.name + " "),
				look.Value.Span(units.Fixed(100*float64(g.cost)/float64(max(k.Total, 1)), 1) + " %   ")})
		}
	}
	return groups
}
