package shown

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

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
	schema  *frame.Schema
	parts   []frame.Part     // kinds of rows, such as players and cubes; see findPlaces
	places  [][]placeFields  // the columns with positions, by part
	kinds   []entityKind     // of things on the map
	ofParts []partKinds      // the kinds of each part
	frames  *playout.Frames  // the newest frame sent and the one displayed; nil before the first
	past    bool             // the time cursor is in the past, of which no positions are stored
	costs   *engine.RowCosts // what each row cost, which is shown in place of the receiver; nil while it is not shown

	sent, shown             []point
	sentTracks, shownTracks tracks
	extent                  extent
	displaced               int           // number of points displayed at another place than the sender's
	worst                   point         // the one of these that is farthest from the sender's place, within the last second
	worstDistance           float64       // of worst
	heldWorst               panes.HeldMax // of worstDistance

	stacked   bool   // the maps are one above the other, as drawn last
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
		p.kinds, p.ofParts = findKinds(p.schema, p.parts, p.places)
	}
	p.sent, p.shown = p.findPoints(&p.frames.Sent), p.findPoints(p.frames.Shown)
	if p.frames.Next != nil {
		blend(p.shown, p.findPoints(p.frames.Next), p.frames.Weight)
	}
	p.sentTracks.add(v.Snap.Now, p.sent)
	p.shownTracks.add(v.Snap.Now, p.shown)
	p.extent.follow(v.Snap.Now, p.sent)
	p.findDisplaced(v.Snap.Now)
	return true
}

// findPoints returns the points of a frame, or nil without one.
func (p *mapView) findPoints(f *frame.Frame) []point {
	if f == nil {
		return nil
	}
	return findPoints(p.schema, p.parts, p.places, p.ofParts, f.Table)
}

// findDisplaced counts the points that are displayed elsewhere than at the sender's places, and finds the one that was
// farthest away within the last second.
func (p *mapView) findDisplaced(now time.Duration) {
	p.displaced = 0
	var worst point
	distance := 0.0
	sent := p.sentByKey()
	for _, pt := range p.shown {
		at, ok := sent[pt.key()]
		if ok && at.x == pt.x && at.y == pt.y {
			continue
		}
		p.displaced++
		if d := math.Hypot(pt.x-at.x, pt.y-at.y); ok && d > distance {
			worst, distance = pt, d
		}
	}
	held, isNew := p.heldWorst.Add(now, distance)
	if p.worstDistance = held; isNew {
		p.worst = worst
	}
}

// sentByKey returns the sender's points by row and group.
func (p *mapView) sentByKey() map[placeKey]point {
	m := make(map[placeKey]point, len(p.sent))
	for _, pt := range p.sent {
		m[pt.key()] = pt
	}
	return m
}

// Draw implements room.Pane: the sender's map on the left or at the top, the receiver's on the right or below.
func (p *mapView) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.frames == nil || p.past || !p.extent.known {
		c.Frame(th, focused, p.Name())
		text := p.emptyText
		if p.past {
			text = "past positions are not stored; the key end returns to the present"
		}
		c.Clip(2, 1, c.W-4, look.Dim, text)
		return
	}
	p.chooseLayout(c.W, c.H)
	scale := p.extent.unitsPerColumn(c.W/2-2, c.H-2) // of both maps
	draw := c.Split
	if p.stacked {
		draw, scale = c.SplitRows, p.extent.unitsPerColumn(c.W-2, c.H/2-2)
	}
	draw(2, func(i int, side *look.Canvas) {
		switch {
		case i == 0:
			side.Frame(th, look.Unfocused, "Sender", p.countSpans(side.W)...)
			p.drawSide(side, th, p.sent, &p.sentTracks, scale, p.marker)
		case p.costs != nil:
			side.Frame(th, look.Unfocused, p.costTitle(), p.costSpans(side.W)...)
			p.drawSide(side, th, p.sent, nil, scale, p.costMarker)
		default:
			side.Frame(th, look.Unfocused, "Receiver", p.ageSpans(side.W)...)
			p.drawSide(side, th, p.shown, &p.shownTracks, scale, p.marker)
		}
	})
}

// chooseLayout decides whether the maps are side by side or one above the other on a canvas of w columns and h rows: the
// layout with the larger scale, unless the difference to that of the present one is small.
func (p *mapView) chooseLayout(w, h int) {
	const (
		minRows   = 8   // of a map that is above another
		advantage = 1.3 // of the scale, from which the layout changes
	)
	beside, above := p.extent.unitsPerColumn(w/2-2, h-2), p.extent.unitsPerColumn(w-2, h/2-2)
	switch {
	case h/2-2 < minRows || above > advantage*beside:
		p.stacked = false
	case beside > advantage*above:
		p.stacked = true
	}
}

// countSpans returns the number of objects of each part, and how many of them move, in a heading of w
// columns.
func (p *mapView) countSpans(w int) []look.Span {
	count := make([]int, len(p.parts))
	moves := 0
	for _, pt := range p.sent {
		if pt.group > 0 {
			continue
		}
		for k, part := range p.parts {
			if pt.row >= part.Row && pt.row < part.Row+part.Rows {
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
	behind := p.frames.Age
	if p.frames.Next != nil {
		behind = p.frames.Behind
	}
	age := []look.Span{look.Value.Span(strconv.FormatInt(behind.Milliseconds(), 10)), look.Dim.Span(" ms behind")}
	if p.frames.Starved {
		age = append(age, look.Warn.Span(", STARVED"))
	}
	count := append(age[:len(age):len(age)], look.Dim.Span("; "), look.Value.Span(strconv.Itoa(p.displaced)), look.Dim.Span(" displaced"))
	if p.worstDistance == 0 {
		return look.Fit(maxWidth, count, age, nil)
	}
	worst := append(count[:len(count):len(count)], look.Dim.Span("; worst "), look.Value.Span(p.pointName(&p.worst)), look.Dim.Span(": "),
		look.Late.Span(units.Fixed(p.worstDistance, 1)), look.Dim.Span(" "+strings.TrimSpace(p.unitName())))
	return look.Fit(maxWidth, worst, count, age, nil)
}

// pointName returns the name of a point: its kind, and the number of its row in its part.
func (p *mapView) pointName(pt *point) string {
	part := p.schema.PartForRow(pt.row)
	name := part.Name
	if pt.entityKind != noKind {
		name = p.kinds[pt.entityKind].name
	}
	if part.Rows == 1 {
		return name
	}
	return name + " " + strconv.Itoa(pt.row-part.Row)
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

// drawSide draws a map of points at a scale, in units per column, with the style and rune that mark returns and, if t is not nil, their trails, their
// names, and what separates them from the sender's places.
func (p *mapView) drawSide(c *look.Canvas, th *look.Theme, points []point, t *tracks, scale float64,
	mark func(*look.Theme, *point) (look.Style, rune)) {
	if c.W < 3 || c.H < 3 {
		return
	}
	plot := newPlot(c, th, &p.extent, scale)
	for i := range points {
		style, r := mark(th, &points[i])
		plot.drawMarker(&points[i], style, r)
	}
	if t != nil {
		sent := p.sentByKey()
		for _, pt := range points {
			if at, ok := sent[pt.key()]; ok {
				plot.drawLine(pt, at)
			}
		}
		plot.drawTrails(t)
		for i := range points {
			if pt := &points[i]; pt.kind == moving && pt.group == 0 {
				plot.drawLabel(pt, p.pointName(pt))
			}
		}
	}
	if c.H > 4 {
		across := " " + units.Fixed(scale*float64(plot.w), 0) + " " + p.unitName() + "across "
		c.TextRight(c.W-2, c.H-1, look.Dim, across)
		c.Spans(2, c.H-1, c.W, look.FitGroups(c.W-6-look.TextWidth(across), p.legend(points))...)
	}
}

// legend returns the kinds of the points with their letters and numbers, if there are several kinds.
func (p *mapView) legend(points []point) (groups [][]look.Span) {
	if len(p.kinds) < 2 {
		return nil
	}
	count := make([]int, len(p.kinds))
	for _, pt := range points {
		if pt.entityKind != noKind && pt.group == 0 {
			count[pt.entityKind]++
		}
	}
	for i, k := range p.kinds {
		if count[i] > 0 {
			groups = append(groups, []look.Span{k.style.Span(" " + string(k.letter)), look.Dim.Span(" " + k.name + " "),
				look.Value.Span(strconv.Itoa(count[i])), look.Dim.Span(" ")})
		}
	}
	return groups
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

// marker returns style and rune of a point: a letter for its kind if there are several kinds, and otherwise a circle if
// it moves and a dot if it does not. The styles of a single kind are those of the highest cubes in the world view, the last
// of look.Levels shades, which contrast most with the background.
func (p *mapView) marker(th *look.Theme, pt *point) (style look.Style, symbol rune) {
	switch {
	case pt.kind == alwaysPresent:
		return look.Player + look.Levels - 1, '@'
	case len(p.kinds) > 1 && pt.entityKind != noKind:
		k := &p.kinds[pt.entityKind]
		if pt.kind == moving {
			return k.style, unicode.ToUpper(k.letter)
		}
		return k.style, k.letter
	case pt.kind == moving:
		return look.Interacting + look.Levels - 1, 'o'
	case th.Ascii:
		return look.AtRest + look.Levels - 1, '.'
	}
	return look.AtRest + look.Levels - 1, '·'
}
