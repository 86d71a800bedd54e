package world

import (
	"slices"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
)

// figure is what the page shows above the charts of the receiver's display, or instead of everything else.
type figure uint8

const (
	worldFigure   figure = iota // the map at both endpoints
	errorFigure                 // the map at the receiver and the position errors: only of cubes
	valuesFigure                // the values at both endpoints: not of cubes
	displayFigure               // only the charts of the receiver's display
	budgetFigure                // error against kbps of the lanes with a budget, if any has one
)

// switcher selects the figure of the page. The key c selects the next one.
type switcher struct {
	shown     figure
	figures   []figure // that the key selects
	anyBudget bool     // a lane has a budget
}

// NextFigure implements room.Switcher.
func (s *switcher) NextFigure() room.Request {
	next := slices.Index(s.figures, s.shown) + 1
	if next < len(s.figures) && s.figures[next] == budgetFigure && !s.anyBudget {
		next++
	}
	s.shown = s.figures[next%len(s.figures)]
	return room.Request{Redraw: true}
}

// New returns the page for data with a schema; nil means cubes.
func New(schema *frame.Schema) *room.Page {
	p := &room.Page{Name: "World", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	s := &switcher{figures: []figure{worldFigure, budgetFigure, valuesFigure, displayFigure}}
	isCubes := schema == nil || frame.IsCubes(schema)
	hasMap := isCubes || worldview.HasPositions(schema)
	upper := map[figure]*room.Slot{}
	if hasMap {
		play := &play{}
		slots := p.Add(&worldMap{switcher: s, world: worldview.NewMap(schema), play: play, page: p}, &budgets{switcher: s})
		upper[worldFigure], upper[errorFigure] = slots[0], slots[0]
		upper[budgetFigure] = slots[1]
		if isCubes {
			schema = frame.Cubes(1)
			s.figures[2] = errorFigure
			p.Bottom, p.BottomIfWide = room.NewSlot(play), true
		}
	} else {
		p.Name = "Values"
		s.figures = s.figures[2:]
	}
	if !isCubes {
		upper[valuesFigure] = p.Add(newValues(s))[0]
	}
	s.shown = s.figures[0]
	charts := p.Add(panes.NewPlayout(schema))[0]
	p.LayOut = func(w, h int) []room.Place {
		rows := chartRows(h, hasMap)
		switch {
		case s.shown == displayFigure:
			return []room.Place{charts.Place(0, 0, w, h)}
		case rows == 0:
			return []room.Place{upper[s.shown].Place(0, 0, w, h)}
		}
		return []room.Place{upper[s.shown].Place(0, 0, w, h-rows), charts.Place(0, h-rows, w, rows)}
	}
	p.Small = p.LayOut
	return p
}

// chartRows returns the height of the charts of the display on a page of h rows.
func chartRows(h int, hasMap bool) int {
	const minHeightForCharts = 35 // below a map
	switch {
	case !hasMap:
		return min(max(h*2/5, 8), 12)
	case h < minHeightForCharts:
		return 0
	}
	return 8
}

// budgets shows the lanes with a budget in place of the world.
type budgets struct {
	panes.Budgets
	*switcher
}

func (p *budgets) Absent() bool { return p.shown != budgetFigure }
