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
	schema    *frame.Schema
	parts     []frame.Part     // groups of rows with the same fields, such as players and cubes; see findPlaces
	places    [][]placeFields  // the columns with positions, by part
	kinds     []entityKind     // of things on the map
	partKinds []partKinds      // the kinds of the rows, by part
	frames    *playout.Frames  // the newest frame sent and the one displayed; nil before the first
	costs     *engine.RowCosts // the bits per row, shown in place of the receiver; nil while they are not shown

	sent, shown             []point
	sentTracks, shownTracks tracks
	extent                  extent
	displaced               int           // number of points displayed at another place than the sender's
	worst                   point         // the displaced point that was farthest from the sender's place within the last second
	worstDistance           float64       // of worst from the sender's place, in units of the schema
	heldWorst               panes.HeldMax // holds worstDistance for a second

	values    *values // shown instead of the map with the key v
	stacked   bool    // the maps are one above the other, as drawn last
	emptyText string  // shown while there are no points
}

func (p *mapView) Name() string { return "World" }

// Absent implements room.Absent: the values are shown.
func (p *mapView) Absent() bool { return p.values.chosen }

// Release gives the map a new extent.
func (p *mapView) Release() room.Request {
	p.extent.known = false
	return room.Request{}
}

func (p *mapView) Bindings() []room.Binding {
	return []room.Binding{
		panes.RowCostBinding("what each row cost in the last 2 s, as a heat map: 0 at most 0.1 bits/packet, 1 2, 2 10, 3 40, 4 more",
			func() bool { return p.costs != nil }),
		room.Bind("v", "show the map, or the values of all fields", func() room.Request {
			p.values.chosen = !p.values.chosen
			return room.Request{Redraw: true}
		}).InFooter("values")}
}

// Observe implements room.Observer. It computes the points of both frames and extends the map.
func (p *mapView) Observe(v room.View) bool {
	p.emptyText = panes.NothingSentText(v.ActiveLane())
	same := p.frames == v.Snap.Frames && p.costs == v.Snap.RowCosts
	p.costs = v.Snap.RowCosts
	p.schema, p.frames = v.Snap.Schema, v.Snap.Frames
	if same || p.frames == nil || p.schema == nil {
		return !same
	}
	if p.parts == nil {
		p.parts, p.places = findPlaces(p.schema)
		p.kinds, p.partKinds = findKinds(p.schema, p.parts, p.places)
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
	return findPoints(p.schema, p.parts, p.places, p.partKinds, f.Table)
}

// findDisplaced counts the points that are displayed at another place than the sender's, and finds the point that was
// farthest from the sender's place within the last second.
func (p *mapView) findDisplaced(now time.Duration) {
	p.displaced = 0
	var worst point
	distance := 0.0
	sentByKey := p.sentByKey()
	for _, pt := range p.shown {
		sent, ok := sentByKey[pt.key()]
		if ok && sent.x == pt.x && sent.y == pt.y {
			continue
		}
		p.displaced++
		if d := math.Hypot(pt.x-sent.x, pt.y-sent.y); ok && d > distance {
			worst, distance = pt, d
		}
	}
	held, isNew := p.heldWorst.Add(now, distance)
	p.worstDistance = held
	if isNew {
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
	if p.frames == nil || !p.extent.known {
		c.Frame(th, focused, p.Name())
		c.Clip(2, 1, c.W-4, look.Dim, p.emptyText)
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

// chooseLayout decides whether the maps are side by side or one above the other on a canvas of w columns and h rows. It
// changes the layout only if the other one has a clearly larger scale, so that it does not alternate.
func (p *mapView) chooseLayout(w, h int) {
	const (
		minRows = 8   // of each of two maps one above the other
		minGain = 1.3 // factor between the scales from which the layout changes
	)
	beside, above := p.extent.unitsPerColumn(w/2-2, h-2), p.extent.unitsPerColumn(w-2, h/2-2)
	switch {
	case h/2-2 < minRows || above > minGain*beside:
		p.stacked = false
	case beside > minGain*above:
		p.stacked = true
	}
}

// countSpans returns the number of objects of each part, and how many of them move, in a heading of w
// columns.
func (p *mapView) countSpans(w int) []look.Span {
	count := make([]int, len(p.parts))
	numMoving := 0
	for _, pt := range p.sent {
		if pt.group > 0 {
			continue
		}
		for k, part := range p.parts {
			if pt.row >= part.Row && pt.row < part.Row+part.Rows {
				count[k]++
			}
		}
		if pt.state == moving {
			numMoving++
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
	moving := []look.Span{look.Value.Span(strconv.Itoa(numMoving)), look.Dim.Span(" moving")}
	return look.Fit(look.TitleSpace(w, "Sender"), append(append(all[:len(all):len(all)], look.Dim.Span("; ")), moving...), all, moving, nil)
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
	return name + " " + rowName(p.frames, pt.row, part.Row)
}

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

// costMarker returns the style and the rune of a point by the cost of its row: the step of the cost, a digit from 0 to 4.
func (p *mapView) costMarker(_ *look.Theme, pt *point) (look.Style, rune) {
	step := worldview.CostStep(panes.BitsPerPacket(p.costs, p.costs.Rows[pt.row]))
	return look.Heat + look.Style(step), rune('0' + step)
}

// drawSide draws a map of points at a scale, in units per column. marker returns the style and the rune of a point. Unless
// t is nil, drawSide also draws trails, names of moving points, and lines to the sender's places.
func (p *mapView) drawSide(c *look.Canvas, th *look.Theme, points []point, t *tracks, scale float64,
	marker func(*look.Theme, *point) (look.Style, rune)) {
	if c.W < 3 || c.H < 3 {
		return
	}
	plot := newPlot(c, th, &p.extent, scale)
	for i := range points {
		style, r := marker(th, &points[i])
		plot.drawMarker(&points[i], style, r)
	}
	if t != nil {
		sentByKey := p.sentByKey()
		for _, pt := range points {
			if sent, ok := sentByKey[pt.key()]; ok {
				plot.drawLine(pt, sent)
			}
		}
		plot.drawTrails(t)
		for i := range points {
			if pt := &points[i]; pt.state == moving && pt.group == 0 {
				plot.drawLabel(pt, p.pointName(pt))
			}
		}
	}
	if c.H > 4 {
		width := " " + units.Fixed(scale*float64(plot.w), 0) + " " + p.unitName() + "across "
		c.TextRight(c.W-2, c.H-1, look.Dim, width)
		c.Spans(2, c.H-1, c.W, look.FitGroups(c.W-6-look.TextWidth(width), p.legend(points))...)
	}
}

// legend returns the kinds of the points with their letters and counts; nil if the data have at most one kind.
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
		for _, place := range list {
			if u := p.schema.Fields[place.x].Unit; u != "" {
				return u + " "
			}
		}
	}
	return "units "
}

// marker returns the style and the rune of a point: a letter for its kind if there are several kinds, upper case if it
// moves; with a single kind a circle if it moves, otherwise a dot. A single kind has the last of look.Levels shades, which
// contrasts most with the background.
func (p *mapView) marker(th *look.Theme, pt *point) (style look.Style, symbol rune) {
	switch {
	case pt.state == alwaysPresent:
		return look.Player + look.Levels - 1, '@'
	case len(p.kinds) > 1 && pt.entityKind != noKind:
		k := &p.kinds[pt.entityKind]
		if pt.state == moving {
			return k.style, unicode.ToUpper(k.letter)
		}
		return k.style, k.letter
	case pt.state == moving:
		return look.Interacting + look.Levels - 1, 'o'
	case th.Ascii:
		return look.AtRest + look.Levels - 1, '.'
	}
	return look.AtRest + look.Levels - 1, '·'
}
