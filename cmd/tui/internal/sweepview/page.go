package sweepview

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// The panes, as indices of the page's slots, in the order of the tab key.
const (
	paneMap = iota
	panePoint
	paneRanking
	paneCharts
	paneSeeds
)

// pane is a part of the page. The arrow keys move the cursor on the map.
type pane struct {
	m      *model
	name   string
	draw   func(c *look.Canvas, focused bool)
	absent bool
}

func (p *pane) Name() string { return p.name }

func (p *pane) Absent() bool { return p.absent }

func (p *pane) Draw(c *look.Canvas, _ *look.Theme, focused bool) { p.draw(c, focused) }

func (p *pane) Move(dx, dy int) room.Request {
	p.m.moveCursor(p.m.columns(), dx)
	p.m.moveCursor(p.m.rows(), dy)
	return room.Request{}
}

// Wheel implements room.Wheeler: in most panes the wheel has no effect, although the arrow keys move the
// cursor.
func (p *pane) Wheel(_, _, _ int) room.Request { return room.Request{} }

func (p *pane) Enter() room.Request { return p.m.openLive() }

func (p *pane) NextSort() room.Request {
	p.m.nextOrder()
	return room.Request{Notice: "the ranking is " + p.m.orderName()} // small screens may not show it
}

func (p *pane) NextReference() room.Request { return p.m.setReference() }

func (p *pane) WriteFile() room.Request { return p.m.export() }

func (p *pane) Arrows() [][2]string { return [][2]string{{"arrows", "point"}, {"enter", "live"}} }

func (p *pane) KeyHelp(key string) string {
	return map[string]string{"up": "point above, below; in a list the next row",
		"left":  "point left, right; in a list: next figure",
		"enter": "open the point as a live session; q returns",
		"S":     "sort: best first, worst first, as the grid",
		"r":     "compare all with this point, paired by seed",
		"w":     "write all points to a CSV file, as ranked"}[key]
}

// mapPane is the map of all points.
type mapPane struct{ pane }

func (p *mapPane) Wheel(_, _, notches int) room.Request { return p.Move(0, -notches) }

func (p *mapPane) Click(x, y int) room.Request {
	m := p.m
	if row, col, ok := m.mapGrid.cellAt(x, y); ok {
		m.moveCursor(m.rows(), row-m.cursorOn(m.rows()))
		m.moveCursor(m.columns(), col-m.cursorOn(m.columns()))
	}
	return room.Request{}
}

// pointPane lists the figures of the selected point. The arrow keys select a figure.
type pointPane struct{ pane }

func (p *pointPane) Move(dx, dy int) room.Request {
	if by := dx + dy; by != 0 {
		p.m.nextFigure(max(-1, min(by, 1)))
	}
	return room.Request{}
}

func (p *pointPane) Click(x, y int) room.Request {
	p.m.figureList.Click(x, y)
	p.m.selectFigure(p.m.shownFigures()[p.m.figureList.Cursor])
	return room.Request{}
}

// rankingPane lists the points by one figure. Up and down move along the ranking, left and right select the figure.
type rankingPane struct{ pointPane }

func (p *rankingPane) Move(dx, dy int) room.Request {
	if dx != 0 {
		return p.pointPane.Move(dx, 0)
	}
	p.m.moveRanked(dy)
	return room.Request{}
}

func (p *rankingPane) Wheel(_, _, notches int) room.Request { return p.Move(0, -notches) }

func (p *rankingPane) Click(x, y int) room.Request {
	p.m.ranking.Click(x, y)
	p.m.selectPoint(p.m.ranked[p.m.ranking.Cursor])
	return room.Request{}
}

// newPage returns the only page of the sweep.
func newPage(m *model) *room.Page {
	of := func(name string, draw func(c *look.Canvas, focused bool), absent bool) pane {
		return pane{m, name, draw, absent}
	}
	vital := of("", func(c *look.Canvas, _ bool) { m.drawVitalLine(c) }, false)
	p := &room.Page{Name: "Sweep", LayOut: m.layOut, Top: room.NewSlot(&vital), Keys: m.pointKeys()}
	onePoint := len(m.axes) == 0 // the list of figures shows more than the only cell of the map
	charts, seeds := of("Charts", m.drawCharts, onePoint), of("Seeds", m.drawSeeds, m.watch.Repeat() == 1)
	p.Add(&mapPane{of("Map", m.drawMap, onePoint)}, &pointPane{of("Point", m.drawPoint, false)},
		&rankingPane{pointPane{of("Ranking", m.drawRanking, onePoint)}}, &charts, &seeds)
	p.FocusOn(p.Slots[m.focused])
	return p
}

// layOut places the panes on a large screen: the map and the ranking at the left, the point with its seeds and the
// charts at the right. Without axes there is one point: its figures are at the left.
func (m *model) layOut(w, h int) []room.Place {
	leftW := w * 11 / 20
	rightW := w - leftW
	const edges = 2                         // rows of a frame
	rankingRows := len(m.means) + edges + 1 // with the headings
	seedRows := 0
	if m.watch.Repeat() > 1 {
		seedRows = 5 + edges
	}
	if len(m.axes) == 0 {
		return []room.Place{m.page.Slots[panePoint].Place(0, 0, leftW, h), m.page.Slots[paneSeeds].Place(leftW, 0, rightW, h)}
	}
	mapRows := max(h-rankingRows, min(m.mapRows(), h*11/20)) // the map gets the rows that the ranking does not need
	places := []room.Place{m.page.Slots[paneMap].Place(0, 0, leftW, mapRows), m.page.Slots[paneRanking].Place(0, mapRows, leftW, h-mapRows)}
	pointRows := min(len(m.shownFigures())+len(m.axes)+edges+1, (h-seedRows)*2/5)
	slots := []struct{ pane, rows int }{{panePoint, pointRows}, {paneCharts, h - pointRows - seedRows}, {paneSeeds, seedRows}}
	y := 0
	for _, x := range slots {
		if x.rows > 0 {
			places = append(places, m.page.Slots[x.pane].Place(leftW, y, rightW, x.rows))
			y += x.rows
		}
	}
	return places
}

// pointKeys returns the keys of the page. Keys that need several axes exist only for such grids.
func (m *model) pointKeys() []room.Binding {
	act := func(do func()) func() room.Request {
		return func() room.Request {
			do()
			m.Refresh(true)
			return room.Request{}
		}
	}
	pair := func(do func(step int)) func(int) room.Request {
		return func(step int) room.Request { return act(func() { do(step) })() }
	}
	list := []room.Binding{
		room.Bind("c", "next figure of map, ranking and charts", act(func() { m.nextFigure(1) })).InFooter("figure"),
		room.Bind("0", "charts: axis from 0, or fitted to the data", act(func() { m.fromZero = !m.fromZero })),
		room.Pair("home", "end", "first column, last column", pair(func(step int) { m.moveCursor(m.columns(), step*room.ListEnd) })),
	}
	if len(m.axisOrder) > 1 {
		list = append(list, room.Bind("a", "rotate the axes: another one as columns", act(m.rotateAxes)).InFooter("rotate"))
	}
	if len(m.axisOrder) > 2 {
		list = append(list, room.Pair("[", "]", "previous, next value of the other axes", pair(m.stepHiddenAxes)).InFooter("axes"))
	}
	return list
}
