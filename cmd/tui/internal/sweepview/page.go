package sweepview

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// The panes, as indices of page.Slots, in the order of the tab key.
const (
	paneMap = iota
	panePoint
	paneRanking
	paneCharts
	paneSeeds
	numPanes
)

// page is the only page of the sweep. A large screen shows all panes, a small one the focused pane below a
// line about the selected point.
type page struct {
	room.Panes
	m       *model
	scroll  [2]int  // first visible row and column of the map
	mapGrid mapGrid // where the map's cells were last drawn
	ranking int     // first visible row of the ranking
}

// pane is a part of the page.
type pane struct {
	name string
	draw func(c *look.Canvas, focused bool)
}

func (p *pane) Name() string { return p.name }

func (p *pane) Draw(c *look.Canvas, _ *look.Theme, focused bool) { p.draw(c, focused) }

func newPage(m *model) *page {
	p := &page{m: m}
	for i, x := range [numPanes]pane{{"Map", m.drawMap}, {"Point", m.drawPoint}, {"Ranking", m.drawRanking}, {"Charts", m.drawCharts},
		{"Seeds", m.drawSeeds}} {
		p.Slots = append(p.Slots, room.NewSlot(&x))
		isMissing := i == paneSeeds && m.watch.Repeat() == 1 || len(m.axes) == 0 && (i == paneMap || i == paneRanking) // on a large screen
		if !isMissing {
			p.Focusable = append(p.Focusable, i)
		}
	}
	p.Focused = m.focused
	if len(m.axes) == 0 && p.Focused == paneMap { // the only cell of the map shows less than the list of figures
		p.Focused = panePoint
	}
	return p
}

func (p *page) Name() string { return "Sweep" }

// headerFooterRows is the height of header and footer.
const headerFooterRows = 4

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h+headerFooterRows)
	if p.Wide() {
		p.Places = p.layOut(w, h)
		// nil: no pane is highlighted in addition to the focused one.
		return room.RenderPlaces(th, p.Places, h, p.Slots[p.Focused].Pane, nil)
	}
	vital := look.NewCanvas(w, 1)
	p.m.drawVitalLine(vital)
	return p.FocusedBelow(th, append([]string{p.TabRow(th)}, vital.Lines(th)...), w, h)
}

// layOut places the panes on a large screen: the map and the ranking at the left, the point with its seeds and the
// charts at the right. Without axes there is one point, and its seeds take the left side.
func (p *page) layOut(w, h int) []room.Place {
	leftW := w * 11 / 20
	rightW := w - leftW
	const edges = 2                           // rows of a frame
	rankingRows := len(p.m.means) + edges + 1 // with the headings
	seedRows := 0
	if p.m.watch.Repeat() > 1 {
		seedRows = 5 + edges
	}
	if len(p.m.axes) == 0 {
		return []room.Place{p.Slots[paneCharts].Place(0, 0, leftW, h-seedRows), p.Slots[paneSeeds].Place(0, h-seedRows, leftW, seedRows),
			p.Slots[panePoint].Place(leftW, 0, rightW, h)}
	}
	mapRows := max(h-rankingRows, min(p.mapRows(), h*11/20)) // the map gets the rows that the ranking does not need
	places := []room.Place{p.Slots[paneMap].Place(0, 0, leftW, mapRows), p.Slots[paneRanking].Place(0, mapRows, leftW, h-mapRows)}
	pointRows := min(len(p.m.shownFigures())+len(p.m.axes)+edges+1, (h-seedRows)*2/5)
	slots := []struct{ pane, rows int }{{panePoint, pointRows}, {paneCharts, h - pointRows - seedRows}, {paneSeeds, seedRows}}
	y := 0
	for _, x := range slots {
		if x.rows > 0 {
			places = append(places, p.Slots[x.pane].Place(leftW, y, rightW, x.rows))
			y += x.rows
		}
	}
	return places
}

func (p *page) Focus(step int) {
	p.Panes.Focus(step)
	p.m.focused = p.Focused
}

// Move implements room.Mover: it moves the cursor on the map. In the ranking the arrows up and down move along the
// ranking, and in the list of figures they select the figure; there left and right select the figure too.
func (p *page) Move(dx, dy int) room.Request {
	m := p.m
	switch {
	case p.Focused == panePoint || p.Focused == paneRanking && dx != 0:
		if by := dx + dy; by != 0 {
			m.nextFigure(max(-1, min(by, 1)))
		}
	case p.Focused == paneRanking:
		m.moveRanked(dy)
	default:
		m.moveCursor(m.columns(), dx)
		m.moveCursor(m.rows(), dy)
	}
	m.Refresh(true)
	return room.Request{}
}

func (p *page) Enter() room.Request { return p.m.openLive() }

// Click implements room.Clicker: it focuses the pane at (x, y) and selects the point there.
func (p *page) Click(x, y int) room.Request {
	const tabRow = 0
	at := p.FocusAt(x, y, tabRow)
	p.m.focused = p.Focused
	switch at.Slot {
	case p.Slots[paneMap]:
		if row, col, ok := p.mapGrid.cellAt(x-at.X, y-at.Y); ok {
			p.m.moveCursor(p.m.rows(), row-p.m.cursorOn(p.m.rows()))
			p.m.moveCursor(p.m.columns(), col-p.m.cursorOn(p.m.columns()))
		}
	case p.Slots[paneRanking]:
		const headRows = 2 // the edge and the headings
		if i := p.ranking + y - at.Y - headRows; y-at.Y >= headRows && i < len(p.m.ranked) {
			p.m.selectPoint(p.m.ranked[i])
		}
	}
	p.m.Refresh(true)
	return room.Request{}
}

// Wheel implements room.Wheeler: over the map and the ranking it moves the cursor up or down.
func (p *page) Wheel(x, y, notches int) room.Request {
	switch room.PlaceAt(p.Places, x, y).Slot {
	case p.Slots[paneMap]:
		p.m.moveCursor(p.m.rows(), -notches)
	case p.Slots[paneRanking]:
		p.m.moveRanked(-notches)
	}
	p.m.Refresh(true)
	return room.Request{}
}

func (p *page) Arrows() [][2]string { return [][2]string{{"arrows", "point"}} }

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "point above or below; in Ranking the next row, in Point the next figure",
		"left": "point to the left or right; in Ranking and Point the next figure"}[key]
}

// Bindings implements room.Binder. Keys that need several axes exist only for such grids.
func (p *page) Bindings() []room.Binding {
	m := p.m
	bind := func(keys, shown, help string, do func()) room.Binding {
		return room.Bind("Sweep", strings.Fields(keys), shown, help, room.WithoutRequest(func() { do(); m.Refresh(true) }))
	}
	list := []room.Binding{
		room.Bind("Sweep", []string{"enter"}, "enter", "open the point as a live session; q returns to the sweep", m.openLive).InFooter("live"),
		bind("f", "f F", "next figure", func() { m.nextFigure(1) }).InFooter("figure"),
		bind("F", "F", "previous figure", func() { m.nextFigure(-1) }),
		bind("s", "s", "sort the ranking: best first, worst first, in the order of the grid", m.nextOrder).InFooter("sort"),
		room.Bind("Sweep", []string{"c"}, "c", "compare all points with this one, paired by seed; again: with the first point", m.setReference).InFooter("compare"),
		room.Bind("Sweep", []string{"w"}, "w", "write all points with all figures to a CSV file, in the order of the ranking", m.export).InFooter("CSV"),
		bind("0", "0", "charts: axis from 0, or fitted to the data", func() { m.fromZero = !m.fromZero }),
		bind("home", "home", "first column", func() { m.moveCursor(m.columns(), -room.ListEnd) }),
		bind("end", "end", "last column", func() { m.moveCursor(m.columns(), room.ListEnd) }),
	}
	if len(m.axisOrder) > 1 {
		list = append(list, bind("x", "x", "rotate the axes: show another axis as columns", m.rotateAxes).InFooter("rotate"))
	}
	if len(m.axisOrder) > 2 {
		list = append(list,
			bind("[", "[ ]", "axes that are neither rows nor columns: previous value", func() { m.stepHiddenAxes(-1) }).InFooter("axes"),
			bind("]", "]", "axes that are neither rows nor columns: next value", func() { m.stepHiddenAxes(1) }))
	}
	return list
}
