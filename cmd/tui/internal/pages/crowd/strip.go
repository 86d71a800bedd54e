package crowd

import (
	"fmt"
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// strip has a row for each figure with its quantiles over clients, and in each row a bar for each client or, if there are
// more clients than columns, for the worst of several. The clients are in the order of the list.
type strip struct {
	*order
	width int // columns of the bars, as last drawn
	drawn int // the selected client, as last observed
}

func (p *strip) Name() string { return "Figures" }

// Observe implements room.Observer. The list updates the order before.
func (p *strip) Observe(v room.View) bool {
	changed := v.RedrawDue || p.drawn != p.selected
	p.drawn = p.selected
	return changed
}

// Move selects a client: dx in columns, dy in clients.
func (p *strip) Move(dx, dy int) room.Request { return p.move(dx*p.perColumn() + dy) }

func (p *strip) Arrows() [][2]string { return [][2]string{{"←→", "client"}} }

// Click selects the first client in a column.
func (p *strip) Click(x, _ int) room.Request {
	if x < stripX || x >= stripX+p.width {
		return room.Request{}
	}
	from, _ := p.placesAt(x - stripX)
	return p.choose(from)
}

// placesAt returns the range of places in the order whose clients column x of the strip shows: one client in several columns,
// or several clients in one column.
func (p *strip) placesAt(x int) (from, to int) {
	n, columns := len(p.sorted), max(p.width, 1)
	from = x * n / columns
	return from, max((x+1)*n/columns, from+1)
}

// perColumn returns the largest number of clients in a column of the strip.
func (p *strip) perColumn() int {
	columns := max(p.width, 1)
	return max((len(p.sorted)+columns-1)/columns, 1)
}

// stripX is the first column of the bars; before it are the names of the figures.
const stripX = 22

// stripRows is the number of rows of the pane that do not belong to a figure: the edges, the headings, and the mark of
// the selected client.
const stripRows = 4

func (p *strip) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.width = max(c.W-stripX-2-quantilesW, 0)
	quantileHeads(c, stripX+p.width)
	about := "a bar for each client"
	if n := p.perColumn(); n > 1 {
		about = fmt.Sprintf("a bar for the worst of %d clients", n)
	}
	since := "; freezes since the start"
	if p.view.Totals.View != nil {
		since = "; freezes, error p95, row ages and waits since the start"
	}
	c.FitFrame(th, focused, "Figures of clients, as listed", look.Labelled(about+since), look.Labelled(about))
	free := max(c.H-stripRows, 1)
	rows := max(free/len(p.fields), 1) // of each figure
	y := 2
	for i := range min(free/rows, len(p.fields)) {
		c.Clip(2, y+rows-1, stripX-3, look.Dim, p.fields[i].Label())
		p.drawRow(c, y, rows, &p.columns[i])
		p.drawQuantiles(c, stripX+p.width, y+rows-1, i)
		y += rows
	}
	place := p.place()
	for x := range p.width {
		if from, to := p.placesAt(x); place >= from && place < to {
			c.Text(stripX+x, y, look.Chosen, th.Up)
			break
		}
	}
}

// drawRow draws the bars of a figure at row y, rows high.
func (p *strip) drawRow(c *look.Canvas, y, rows int, column *tableColumn) {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	for x := range p.width {
		worst := -1.0
		from, to := p.placesAt(x)
		for _, client := range p.sorted[min(from, len(p.sorted)):min(to, len(p.sorted))] {
			worst = max(worst, column.values[client])
		}
		if worst <= 0 {
			continue
		}
		share := worst / column.hi
		eighths := max(int(math.Round(share*float64(8*rows))), 1)
		style := look.Heat + look.Style(min(int(share*look.NumHeats), look.NumHeats-1))
		for k := range rows { // from below
			if level := min(eighths-8*k, 8); level > 0 {
				c.Set(stripX+x, y+rows-1-k, style, blocks[level])
			}
		}
	}
}
