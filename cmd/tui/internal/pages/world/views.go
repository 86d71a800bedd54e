package world

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
)

// views shows the world from above: at the sender, as the receiver displays it, and the position
// errors, side by side.
type views struct {
	item        string
	pic         *playout.Picture
	now         time.Duration
	display     display
	cam         worldview.Camera
	arrangement int // index of arrangements; -1 until the user chooses
	painters    [3]worldview.Painter
	width       int                // of the pane, as last drawn
	dirty       bool               // the world changed and is not drawn yet
	costs       *engine.RowCosts   // what each cube cost; nil while the map of costs is not shown
	priorities  *engine.Priorities // of the rows under a budget; nil while they are not shown
	hasBudget   bool               // the active encoder has a budget
	heldError   panes.HeldMax      // of the largest position error

	play         *play // the line below the world
	anyBudget    bool  // a lane has a budget
	showsBudgets bool  // the lanes with a budget are shown in place of the world
	chartsChoice *bool // whether to show the charts; nil if the user has not chosen
	rows         int   // for the world and the charts, as last drawn
}

// sideView is one of the views side by side.
type sideView uint8

const (
	viewSender sideView = iota
	viewReceiver
	viewError
	viewCost
	viewRowError
	viewRowAge
	viewReasons
)

// arrangements returns the sets of views that the v key cycles through.
func arrangements() [][]sideView {
	return [][]sideView{
		{viewSender, viewReceiver}, {viewSender, viewReceiver, viewError}, {viewReceiver, viewError}, {viewReceiver}, {viewError},
	}
}

// tripleWidth is the width from which all three views are shown by default.
const tripleWidth = 200

// visibleViews returns the views to show side by side on w columns, from left to right.
func (p *views) visibleViews(w int) []sideView {
	if p.priorities != nil {
		if w >= minTripleReasons {
			return []sideView{viewRowError, viewRowAge, viewReasons}
		}
		return []sideView{viewRowError, viewReasons}
	}
	if p.costs != nil {
		return []sideView{viewReceiver, viewCost}
	}
	if p.arrangement < 0 { // the user has not chosen: all three views if there is room, otherwise both endpoints
		if w >= tripleWidth {
			return arrangements()[1]
		}
		return arrangements()[0]
	}
	return arrangements()[p.arrangement]
}

// nextArrangement selects the arrangement after the visible one, which may be a default; see visibleViews.
func (p *views) nextArrangement() {
	p.showsBudgets, p.dirty = false, true
	if p.arrangement < 0 && p.width >= tripleWidth {
		p.arrangement = 1
	}
	p.arrangement = (max(p.arrangement, 0) + 1) % len(arrangements())
}

func (p *views) Name() string { return "World" }

// Observe implements room.Observer. While the session runs, the world is redrawn only if the budget of output to the
// terminal allows a redraw of the whole page.
func (p *views) Observe(v room.View) bool {
	p.store(v)
	return p.dirty && (v.CanRedrawAll || !v.Running())
}

// store stores the newest picture, and sets dirty if it differs.
func (p *views) store(v room.View) {
	p.anyBudget = panes.HasBudget(v.Snap)
	p.showsBudgets = p.showsBudgets && p.anyBudget && v.Snap.RowCosts == nil
	pic := v.Snap.World
	if p.costs != v.Snap.RowCosts {
		p.costs, p.dirty = v.Snap.RowCosts, true
	}
	p.hasBudget = v.Snap.Config.Sender.Budget > 0
	if p.priorities != v.Snap.Priorities {
		p.priorities, p.dirty = v.Snap.Priorities, true
	}
	if pic == nil {
		p.dirty = p.dirty || p.pic != nil || p.item != v.Snap.Item
		p.item = v.Snap.Item
		p.pic = nil
		return
	}
	if p.pic == nil || v.Snap.Now != p.now || pic.Starved != p.pic.Starved {
		p.dirty = true
	}
	p.pic, p.now = pic, v.Snap.Now
	p.display.observe(v)
	p.cam.Track(float64(pic.Sent[0].X), float64(pic.Sent[0].Y))
}

// Draw implements room.Pane: the visible views side by side.
func (p *views) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	p.dirty, p.width = false, c.W
	if p.pic == nil {
		p.drawEmpty(c, th)
		return
	}
	views := p.visibleViews(c.W)
	c.Split(len(views), func(i int, side *look.Canvas) { p.drawView(side, th, views[i], &p.painters[i]) })
}

// emptyText explains why there is no world.
func (p *views) emptyText() string {
	if p.item != "" && p.item != "cube" {
		return "No world to show: the data consist of " + p.item +
			"s, not of cubes. Page 1 shows their cost, page 2 the bit budget, page 3 each packet."
	}
	return "No world to show: the frames contain no cubes, none was sent yet, or the run is being repeated up to this moment."
}

// drawEmpty explains why there is no world.
func (p *views) drawEmpty(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Unfocused, "World")
	c.Centre(1, look.Dim, p.emptyText())
}

// drawView draws one view with its frame.
func (p *views) drawView(c *look.Canvas, th *look.Theme, v sideView, brush *worldview.Painter) {
	title, more := p.title(th, v, c.W)
	c.Frame(th, look.Unfocused, title, more...)
	if v == viewReasons {
		p.drawReasons(c)
		return
	}
	poses := p.pic.Shown
	switch v {
	case viewSender:
		poses = p.pic.Sent
	case viewError:
		p.legend(c, th, " mm ", worldview.ErrorSteps())
	case viewCost:
		poses = p.pic.Sent
		p.legend(c, th, " bits/packet ", worldview.CostSteps())
	case viewRowError:
		poses = p.pic.Sent
		p.legend(c, th, " "+p.priorities.Unit+" ", worldview.ErrorSteps())
	case viewRowAge:
		poses = p.pic.Sent
		p.legend(c, th, " ms ", ageSteps())
	}
	if c.W < 4 || c.H < 3 {
		return
	}
	if poses == nil {
		c.Clip(2, c.H/2, c.W-4, look.Dim, "nothing displayed yet")
		return
	}
	if v == viewRowAge && p.priorities.Ages == nil {
		c.Clip(2, c.H/2, c.W-4, look.Dim, "unknown: the receiver is on another machine, or shows no view frames yet")
		return
	}
	styles := worldview.StylesByKind(poses)
	if v == viewError {
		if p.pic.Error == nil {
			c.Clip(2, c.H/2, c.W-4, look.Dim, "no error known at this time")
			return
		}
		styles = worldview.StylesByError(p.pic.Error)
	}
	if v == viewCost {
		costs := p.costs
		styles = worldview.StylesByCost(func(i int) float64 { return panes.BitsPerPacket(costs, costs.Rows[i]) })
	}
	switch rows := p.priorities; v {
	case viewRowError:
		styles = worldview.StylesByStep(func(i int) float64 { return rows.Rows[i].Error }, worldview.ErrorSteps())
	case viewRowAge:
		styles = worldview.StylesByStep(func(i int) float64 { return float64(rows.Ages[i].Milliseconds()) }, ageSteps())
	}
	brush.Draw(&p.cam, c.W-2, c.H-2, poses)
	p.drawGroundMarks(c, th, brush)
	p.drawEdge(c, th, brush)
	brush.Paint(c, th, 1, 1, styles) // from (1, 1) on: inside the frame
	p.drawArrowHome(c, th, brush)
	if v != viewSender && v < viewCost {
		p.display.drawStarved(c, th)
	}
}

// worldEdge is the largest coordinate of a cube in metres, in all directions; see frame.Cubes.
const worldEdge = 256

// drawEdge draws the edge of the world, where it is in view.
func (p *views) drawEdge(c *look.Canvas, th *look.Theme, brush *worldview.Painter) {
	w, h := c.W-2, c.H-2
	left, top := cellAt(brush, -worldEdge, worldEdge)
	right, bottom := cellAt(brush, worldEdge, -worldEdge)
	for _, y := range []int{top, bottom} {
		for x := max(left, 0); y >= 0 && y < h && x <= min(right, w-1); x++ {
			c.Text(1+x, 1+y, look.Faint, th.Border.Top)
		}
	}
	for _, x := range []int{left, right} {
		for y := max(top, 0); x >= 0 && x < w && y <= min(bottom, h-1); y++ {
			c.Text(1+x, 1+y, look.Faint, th.Border.Left)
		}
	}
}

// cellAt returns the cell of a place on the ground, which may be outside of the view.
func cellAt(brush *worldview.Painter, x, y float64) (col, row int) {
	dotX, dotY := brush.Raster.DotAt(x, y)
	return floorDiv(dotX, worldview.DotsAcross), floorDiv(dotY, worldview.DotsDown)
}

// floorDiv returns a/b rounded down.
func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// drawArrowHome draws an arrow at the border to the middle of the world, where the grid of cubes is, and how far that
// is, if it is out of view.
func (p *views) drawArrowHome(c *look.Canvas, th *look.Theme, brush *worldview.Painter) {
	w, h := c.W-2, c.H-2
	col, row := cellAt(brush, 0, 0)
	if col >= 0 && col < w && row >= 0 && row < h {
		return
	}
	arrows := [3]string{"↖↑↗", "← →", "↙↓↘"}
	if th.Ascii {
		arrows = [3]string{"\\^/", "< >", "/v\\"}
	}
	side := func(v, size int) int { return 1 + cmp.Compare(v, min(max(v, 0), size-1)) } // 0 before the view, 1 inside, 2 after it
	arrow := string([]rune(arrows[side(row, h)])[side(col, w)])
	text := arrow + " home " + units.Fixed(math.Hypot(p.cam.X, p.cam.Y), 0) + " m"
	x := min(max(col, 0), max(w-look.TextWidth(text), 0))
	c.Clip(1+x, 1+min(max(row, 0), h-1), w-x, look.Key, text)
}

// drawGroundMarks draws a mark every 10 m, or 100 m and so on for large views, so that motion of the camera
// is visible.
func (p *views) drawGroundMarks(c *look.Canvas, th *look.Theme, brush *worldview.Painter) {
	step := 10.0
	for p.cam.Span() > 12*step { // at most about a dozen marks on the narrower side
		step *= 10
	}
	// half is half the length of the longer side in metres; Span is that of the shorter side, so half is more than
	// enough. Heights count twice, because a cell is twice as high as wide.
	half := p.cam.Span() * float64(max(c.W, 2*c.H)) / float64(max(min(c.W, 2*c.H), 1))
	for gx := floorTo(p.cam.X-half, step); gx <= p.cam.X+half; gx += step {
		for gy := floorTo(p.cam.Y-half, step); gy <= p.cam.Y+half; gy += step {
			col, row := brush.Raster.DotAt(gx, gy)
			if x, y := col/worldview.DotsAcross, row/worldview.DotsDown; col >= 0 && row >= 0 && x < c.W-2 && y < c.H-2 {
				c.Set(1+x, 1+y, look.Faint, th.Cross)
			}
		}
	}
}

// title returns the name of a view of w columns, and its most important figure for the heading.
func (p *views) title(th *look.Theme, v sideView, w int) (name string, figure []look.Span) {
	switch v {
	case viewSender:
		interacting := 0
		for i := range p.pic.Sent {
			if i > 0 && p.pic.Sent[i].Interacting { // cube 0 is the player
				interacting++
			}
		}
		return "Sender", look.Fit(look.TitleSpace(w, "Sender"),
			[]look.Span{look.Value.Span(strconv.Itoa(interacting)), look.Dim.Span(" cubes interact")},
			[]look.Span{look.Value.Span(strconv.Itoa(interacting)), look.Dim.Span(" interact")}, nil)
	case viewRowError:
		return "Error by cube", look.Fit(look.TitleSpace(w, "Error by cube"),
			[]look.Span{look.Dim.Span("expected by the sender")}, []look.Span{look.Dim.Span("expected")}, nil)
	case viewRowAge:
		return "Age by cube", nil
	case viewReasons:
		return "Priorities", []look.Span{look.Dim.Span(p.priorities.Policy)}
	case viewCost:
		return "Bits by cube", p.costHeading(look.TitleSpace(w, "Bits by cube"))
	case viewReceiver:
		return "Receiver", p.display.heading(look.TitleSpace(w, "Receiver"))
	}
	mean, maximum := worldview.ErrorStats(p.pic.Error)
	maximum, _ = p.heldError.Add(p.now, maximum)
	const title = "Position error"
	return title, look.Fit(look.TitleSpace(w, title),
		[]look.Span{look.Dim.Span("max "), look.Value.Span(units.Fixed(maximum, 1)), look.Dim.Span(" mm, mean of errors > 0: "),
			look.Value.Span(units.Fixed(mean, 1))},
		[]look.Span{look.Dim.Span("max "), look.Value.Span(units.Fixed(maximum, 1)), look.Dim.Span(" mm")},
		[]look.Span{look.Value.Span(units.Fixed(maximum, 0)), look.Dim.Span(" mm")}, nil)
}

// costHeading returns the most expensive cube of the last two seconds, or why costs are unknown.
func (p *views) costHeading(maxWidth int) []look.Span {
	ranked := p.costs.Ranked(1)
	if len(ranked) == 0 {
		return look.Fit(maxWidth, []look.Span{look.Warn.Span(p.costs.Limit)}, nil)
	}
	figure := []look.Span{look.Dim.Span("most: cube "), look.Value.Span(strconv.Itoa(ranked[0])), look.Dim.Span(", "),
		look.Ratio.Span(units.Fixed(panes.BitsPerPacket(p.costs, p.costs.Rows[ranked[0]]), 1)), look.Dim.Span(" bits/packet")}
	return look.Fit(maxWidth, append(figure[:len(figure):len(figure)], look.Dim.Span(", last 2 s")), figure, nil)
}

// legend draws the steps of a map of errors or costs into the lower edge: its unit and the upper bounds.
func (p *views) legend(c *look.Canvas, th *look.Theme, unit string, bounds []float64) {
	const allDots = 0xff // a bit for each of the eight dots of a cell
	x := c.Text(2, c.H-1, look.Dim, unit)
	for i := range look.NumHeats {
		text := "more "
		if i < len(bounds) {
			text = th.AtMost + strconv.FormatFloat(bounds[i], 'g', 3, 64) + " "
		}
		if x+look.TextWidth(text)+2 > c.W-1 {
			return
		}
		step := worldview.ErrorStepStyle(i)
		c.Set(x, c.H-1, step.Style, worldview.Marker(th, allDots, step))
		x = c.Text(x+1, c.H-1, look.Dim, text)
	}
}
