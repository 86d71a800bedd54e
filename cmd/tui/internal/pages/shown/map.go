package shown

import (
	"math"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// mapView draws two maps: the positions at the sender, and as the receiver displays them.
type mapView struct {
	schema *frame.Schema
	parts  []frame.Part     // kinds of rows, such as players and cubes; see findPlaces
	places [][]placeFields  // the columns with positions, by part
	frames *playout.Frames  // the newest frame sent and the one displayed; nil before the first
	past   bool             // the time cursor is in the past, of which no positions are stored
	costs  *engine.RowCosts // what each row cost, which is shown in place of the receiver; nil while it is not shown

	sent, shown []point
	// The extent of all points so far. It only grows, so that the map does not move.
	left, right, bottom, top float64
	hasExtent                bool

	emptyText string // shown while there are no points
}

func (p *mapView) Name() string { return "World" }

// Observe implements room.Observer. It computes the points of both frames and extends the map.
func (p *mapView) Observe(v room.View) bool {
	p.emptyText = panes.NothingSentText(v.ActiveLane())
	same := p.frames == v.Snap.Frames && p.past == v.Past && p.costs == v.Snap.RowCosts
	p.costs = v.Snap.RowCosts
	p.schema, p.frames, p.past = v.Snap.Schema, v.Snap.Frames, v.Past
	if same || p.frames == nil || p.schema == nil {
		return !same
	}
	if p.parts == nil {
		p.parts, p.places = findPlaces(p.schema)
	}
	p.sent, p.shown = findPoints(p.schema, p.parts, p.places, p.frames.Sent.Table), nil
	if p.frames.Shown != nil {
		p.shown = findPoints(p.schema, p.parts, p.places, p.frames.Shown.Table)
	}
	for _, pt := range p.sent {
		p.include(pt)
	}
	return true
}

// include extends the map to a point.
func (p *mapView) include(pt point) {
	if !p.hasExtent {
		p.left, p.right, p.bottom, p.top, p.hasExtent = pt.x, pt.x, pt.y, pt.y, true
	}
	p.left, p.right = math.Min(p.left, pt.x), math.Max(p.right, pt.x)
	p.bottom, p.top = math.Min(p.bottom, pt.y), math.Max(p.top, pt.y)
}

// Draw implements room.Pane: the sender's map on the left, the receiver's on the right.
func (p *mapView) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.frames == nil || p.past || !p.hasExtent {
		c.Frame(th, focused, p.Name())
		text := p.emptyText
		if p.past {
			text = "past positions are not stored; the key end returns to the present"
		}
		c.Clip(2, 1, c.W-4, look.Dim, text)
		return
	}
	c.Split(2, func(i int, side *look.Canvas) {
		switch {
		case i == 0:
			p.drawSide(side, th, "Sender", p.sent, p.countSpans(side.W), marker)
		case p.costs != nil:
			p.drawSide(side, th, p.costTitle(), p.sent, p.costSpans(side.W), p.costMarker)
		default:
			p.drawSide(side, th, "Receiver", p.shown, p.ageSpans(side.W), marker)
		}
	})
}

// countSpans returns the number of objects of each part, and how many of them move, in a heading of w
// columns.
func (p *mapView) countSpans(w int) []look.Span {
	count := make([]int, len(p.parts))
	moves := 0
	for _, pt := range p.sent {
		for k, part := range p.parts {
			if pt.group == 0 && pt.row >= part.Row && pt.row < part.Row+part.Rows {
				count[k]++
			}
		}
		if pt.kind == moving {
			moves++
		}
	}
	var all []look.Span
	for k, part := range p.parts {
		if count[k] == 0 {
			continue
		}
		name := words.Plural(part.Name)
		if count[k] == 1 {
			name = part.Name
		}
		if all != nil {
			all = append(all, look.Dim.Span(", "))
		}
		all = append(all, look.Value.Span(strconv.Itoa(count[k])), look.Dim.Span(" "+name))
	}
	move := []look.Span{look.Value.Span(strconv.Itoa(moves)), look.Dim.Span(" moving")}
	return look.Fit(look.TitleSpace(w, "Sender"), append(append(all[:len(all):len(all)], look.Dim.Span("; ")), move...), all, move, nil)
}

// ageSpans returns the age of the displayed data, and how many objects are displayed at another
// position than the sender's, in a heading of w columns.
func (p *mapView) ageSpans(w int) []look.Span {
	maxWidth := look.TitleSpace(w, "Receiver")
	if p.frames.Shown == nil {
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("nothing displayed yet")}, nil)
	}
	age := []look.Span{look.Value.Span(strconv.FormatInt(p.frames.Age.Milliseconds(), 10)), look.Dim.Span(" ms behind")}
	if p.frames.Starved {
		age = append(age, look.Warn.Span(", STARVED"))
	}
	displaced := 0
	sentPoints := map[[2]int]point{} // by row and group
	for _, pt := range p.sent {
		sentPoints[[2]int{pt.row, pt.group}] = pt
	}
	for _, pt := range p.shown {
		if sent, ok := sentPoints[[2]int{pt.row, pt.group}]; !ok || sent.x != pt.x || sent.y != pt.y {
			displaced++
		}
	}
	return look.Fit(maxWidth, append(age[:len(age):len(age)], look.Dim.Span("; "), look.Value.Span(strconv.Itoa(displaced)), look.Dim.Span(" displaced")), age, nil)
}

// costTitle is the title of the map of costs.
func (p *mapView) costTitle() string { return "Bits by " + p.schema.Item }

// costSpans returns the most expensive row of the last two seconds, in a heading of w columns.
func (p *mapView) costSpans(w int) []look.Span {
	ranked, maxWidth := p.costs.Ranked(1), look.TitleSpace(w, p.costTitle())
	if len(ranked) == 0 {
		return look.Fit(maxWidth, []look.Span{look.Warn.Span(p.costs.Limit)}, nil)
	}
	bits := look.Ratio.Span(units.Fixed(panes.BitsPerPacket(p.costs, p.costs.Rows[ranked[0]]), 1))
	return look.Fit(maxWidth, []look.Span{look.Dim.Span("most: "), look.Value.Span(panes.RowName(p.schema, ranked[0])), look.Dim.Span(", "), bits,
		look.Dim.Span(" bits/packet")}, []look.Span{bits, look.Dim.Span(" bits/packet")}, nil)
}

// costMarker returns style and rune of a point by the cost of its row: a digit from 0 to 4, the step of the cost.
func (p *mapView) costMarker(_ *look.Theme, pt *point) (look.Style, rune) {
	step := worldview.CostStep(panes.BitsPerPacket(p.costs, p.costs.Rows[pt.row]))
	return look.Heat + look.Style(step), rune('0' + step)
}

// drawSide draws a map of points with the style and rune that mark returns.
func (p *mapView) drawSide(c *look.Canvas, th *look.Theme, title string, points []point, more []look.Span,
	mark func(*look.Theme, *point) (look.Style, rune)) {
	c.Frame(th, look.Unfocused, title, more...)
	w, h := c.W-2, c.H-2
	if w < 1 || h < 1 {
		return
	}
	// A cell is twice as high as wide; the scale is the same in both directions.
	const cellAspect = 2
	unitsPerColumn := math.Max((p.right-p.left)/float64(max(w-1, 1)), (p.top-p.bottom)/float64(cellAspect*max(h-1, 1)))
	if !(unitsPerColumn > 0) { // all points are at one position
		unitsPerColumn = 1
	}
	middleX, middleY := (p.left+p.right)/2, (p.bottom+p.top)/2
	covering := make([]kind, w*h) // the kind drawn in each cell, plus 1; 0 means none
	for _, pt := range points {
		x := int(math.Floor((pt.x-middleX)/unitsPerColumn + float64(w)/2))
		y := int(math.Floor((middleY-pt.y)/(cellAspect*unitsPerColumn) + float64(h)/2))
		if x < 0 || x >= w || y < 0 || y >= h {
			continue
		}
		if drawn := &covering[y*w+x]; pt.kind+1 > *drawn {
			*drawn = pt.kind + 1
			style, r := mark(th, &pt)
			c.Set(1+x, 1+y, style, r)
		}
	}
	if unitName := p.unitName(); c.H > 4 {
		c.TextRight(c.W-2, c.H-1, look.Dim, " "+units.Fixed(unitsPerColumn*float64(w), 0)+" "+unitName+"across ")
	}
}

// unitName returns the unit of the coordinates, with a space after it.
func (p *mapView) unitName() string {
	for _, list := range p.places {
		for _, at := range list {
			if u := p.schema.Fields[at.x].Unit; u != "" {
				return u + " "
			}
		}
	}
	return "units "
}

// marker returns style and rune of a point by its kind. The styles are those of the highest cubes in the world view, the last of
// look.Levels shades, which contrast most with the background.
func marker(th *look.Theme, pt *point) (style look.Style, symbol rune) {
	switch pt.kind {
	case alwaysPresent:
		return look.Player + look.Levels - 1, '@'
	case moving:
		return look.Interacting + look.Levels - 1, 'o'
	}
	if th.Ascii {
		return look.AtRest + look.Levels - 1, '.'
	}
	return look.AtRest + look.Levels - 1, '·'
}
