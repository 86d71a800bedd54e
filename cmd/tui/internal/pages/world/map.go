package world

import (
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/live"
	"wirelab/internal/units"
)

// worldMap shows views of the world side by side: at the sender, as the receiver displays it, and values of the rows.
type worldMap struct {
	*switcher
	world      *worldview.Map
	schema     *frame.Schema
	pic        *playout.Picture // of cubes; nil if there is none
	frames     *playout.Frames  // of tables; nil before the first
	now        time.Duration
	display    display
	costs      *engine.RowCosts   // what each row cost; nil while the map of costs is not shown
	priorities *engine.Priorities // of the rows under a budget; nil while they are not shown
	hasBudget  bool               // the active encoder has a budget
	heldError  panes.HeldMax      // of the largest position error
	heldWorst  panes.HeldMax      // of the largest distance from the sender's place
	worst      worldview.Thing    // the thing with heldWorst
	dirty      bool               // the world changed and is not drawn yet
	emptyText  string             // shown while there is no world
	play       *play              // the player of a live world
	page       *room.Page         // to which the map belongs
}

func (p *worldMap) Name() string { return "World" }

// Absent implements room.Absent: another figure is shown.
func (p *worldMap) Absent() bool { return p.shown > errorFigure }

// Observe implements room.Observer. While the session runs, the world is drawn only if the budget of output to the
// terminal allows a redraw of the whole page.
func (p *worldMap) Observe(v room.View) bool {
	p.anyBudget = panes.HasBudget(v.Snap)
	p.hasBudget = v.Snap.Config.Sender.Budget > 0
	if p.shown == budgetFigure && (!p.anyBudget || v.Snap.RowCosts != nil || v.Snap.Priorities != nil) {
		p.shown = worldFigure
	}
	before := *p
	p.schema, p.costs, p.priorities = v.Snap.Schema, v.Snap.RowCosts, v.Snap.Priorities
	p.pic, p.frames = v.Snap.World, v.Snap.Frames
	p.emptyText = emptyText(v)
	p.dirty = p.dirty || p.costs != before.costs || p.priorities != before.priorities || p.emptyText != before.emptyText
	if p.pic != before.pic || p.frames != before.frames {
		p.dirty = true
		p.store(v)
	}
	return p.dirty && (v.CanRedrawAll || !v.Running())
}

// store stores the newest places of things.
func (p *worldMap) store(v room.View) {
	p.now = v.Snap.Now
	switch {
	case p.world.ShowsCubes() && p.pic != nil:
		p.world.SetCubes(p.now, p.pic)
	case !p.world.ShowsCubes() && p.frames != nil:
		p.world.SetFrames(p.now, p.frames)
	default:
		return
	}
	p.display.observe(v)
	held, isNew := p.heldWorst.Add(p.now, p.world.WorstDistance)
	if isNew {
		p.worst = p.world.Worst
	}
	p.display.worstDistance = held
}

// emptyText explains why there is no world.
func emptyText(v room.View) string {
	switch {
	case v.Snap.Frames != nil || v.Snap.World != nil:
		return "No positions are known yet."
	case v.Now != nil && (v.Past || v.Now.Past != nil):
		return panes.RepeatingText(v.Now.Past)
	}
	return "No world to show: " + panes.NothingSentText(v.Snap, v.ActiveLane()) + "."
}

// hasThings reports whether there is a world to draw.
func (p *worldMap) hasThings() bool {
	return (p.pic != nil || p.frames != nil) && len(p.world.Sent) > 0
}

// side is one of the views side by side.
type side struct {
	title    string
	figure   func(maxWidth int) []look.Span // of the title
	receiver bool                           // it shows what the receiver displays
	heat     *worldview.Heat                // nil for the kinds of things
	missing  string                         // shown instead of the world; "" if that is known
	draw     func(*look.Canvas)             // draws something else than the world; nil for the world
}

// sides returns the views to show on w columns, from left to right.
func (p *worldMap) sides(w int) []side {
	sender := side{title: "Sender", figure: p.counts}
	receiver := side{title: "Receiver", figure: p.receiverFigures, receiver: true}
	if len(p.world.Shown) == 0 {
		receiver.missing = "nothing displayed yet"
	}
	const minTriple = 200 // the width from which the errors stand beside both endpoints
	switch {
	case p.priorities != nil:
		return p.prioritySides(w)
	case p.costs != nil:
		return []side{receiver, p.costSide()}
	case p.shown == errorFigure:
		return []side{receiver, p.errorSide()}
	case p.world.ShowsCubes() && w >= minTriple:
		return []side{sender, receiver, p.errorSide()}
	}
	return []side{sender, receiver}
}

// Draw implements room.Pane: the sides from left to right.
func (p *worldMap) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.dirty = false
	if !p.hasThings() {
		c.Frame(th, focused, p.Name())
		c.Wrap(2, 1, c.W-4, look.Dim, p.emptyText)
		return
	}
	sides := p.sides(c.W)
	p.world.Camera.Cols = max(c.W/len(sides)-2, 1)
	c.Split(len(sides), func(i int, part *look.Canvas) { p.drawSide(part, th, i, &sides[i]) })
}

// drawSide draws side number i with its frame.
func (p *worldMap) drawSide(c *look.Canvas, th *look.Theme, i int, s *side) {
	c.Frame(th, look.Unfocused, s.title, s.figure(look.TitleSpace(c.W, s.title))...)
	switch {
	case s.draw != nil:
		s.draw(c)
	case s.missing != "":
		c.Clip(2, c.H/2, c.W-4, look.Dim, s.missing)
	case c.W >= 4 && c.H >= 3:
		p.world.Draw(c, th, i, s.receiver, s.heat)
		if s.receiver {
			p.display.drawStarved(c)
		}
	}
}

// counts returns the number of things of each part of the schema, and how many of them move.
func (p *worldMap) counts(maxWidth int) []look.Span {
	parts, numMoving := p.world.Counts()
	all := strings.Join(parts, ", ")
	verb := " moving"
	if p.world.ShowsCubes() { // the flag of a cube
		verb = " interact"
	}
	moving := strconv.Itoa(numMoving)
	return look.Fit(maxWidth, look.Labelled(all+"; ", moving, verb), look.Labelled("", moving, verb), nil)
}

// receiverFigures returns the delay of the display, how many things it shows at another place than the sender's, and
// the one that is farthest from it.
func (p *worldMap) receiverFigures(maxWidth int) []look.Span {
	if len(p.world.Shown) == 0 {
		return nil
	}
	figures := []string{p.display.bound(), strconv.FormatInt(p.display.titleDelay.Milliseconds(), 10), " ms behind",
		"", "; ", strconv.Itoa(p.world.Displaced), " displaced"}
	behind, displaced := look.Labelled(figures[:3]...), look.Labelled(figures...)
	if p.display.overNetwork { // what is displayed is known only after the report's way
		return look.Fit(maxWidth, append(behind[:len(behind):len(behind)], look.Dim.Span(", as reported")), behind, nil)
	}
	if p.display.worstDistance == 0 {
		return look.Fit(maxWidth, displaced, behind, nil)
	}
	distance, unit := p.display.worstDistance, p.world.Unit()
	if p.world.ShowsCubes() { // as their position errors
		distance, unit = 1000*distance, "mm"
	}
	farthest := func(word string) []look.Span {
		return look.Labelled(append(figures[:len(figures):len(figures)], "", word, p.world.ThingName(&p.worst), ", ", units.Fixed(distance, 1), " "+unit)...)
	}
	return look.Fit(maxWidth, farthest("; farthest from the sender's: "), farthest("; farthest: "), displaced, behind, nil)
}

// errorBounds are the upper bounds of the steps of maps of errors.
var errorBounds = [look.NumHeats - 1]float64{1, 5, 20, 100}

// errorSide returns the map of the position errors of cubes.
func (p *worldMap) errorSide() side {
	s := side{title: "Position error", receiver: true, figure: p.errorFigures}
	s.heat = &worldview.Heat{Unit: "mm", Bounds: errorBounds, Value: func(row int) float64 { return float64(p.pic.Error[row]) }}
	if p.pic.Error == nil {
		s.missing = "no error known at this time"
	}
	return s
}

// errorFigures returns the maximum of the position errors within a second, and the mean of those above 0.
func (p *worldMap) errorFigures(maxWidth int) []look.Span {
	sum, largest, n := 0.0, 0.0, 0
	for _, mm := range p.pic.Error {
		if mm > 0 {
			n++
			sum += float64(mm)
			largest = max(largest, float64(mm))
		}
	}
	largest, _ = p.heldError.Add(p.now, largest)
	largestText, mean := units.Fixed(largest, 1), units.Fixed(sum/float64(max(n, 1)), 1)
	figures := look.Labelled("max ", largestText, " mm, mean of errors > 0: ", mean)
	return look.Fit(maxWidth, append(figures[:len(figures):len(figures)], look.Dim.Span("; at the displayed time")), figures,
		look.Labelled("max ", largestText, " mm"), nil)
}

// costSide returns the map of what each row cost in the last two seconds.
func (p *worldMap) costSide() side {
	return side{title: "Bits by " + p.schema.Item, figure: p.costFigures, heat: &worldview.Heat{Unit: "bits/packet", Bounds: [...]float64{0.1, 2, 10, 40},
		Value: func(row int) float64 { return panes.BitsPerPacket(p.costs, p.costs.Rows[row]) }}}
}

// costFigures returns the most expensive row of the last two seconds, or why costs are unknown.
func (p *worldMap) costFigures(maxWidth int) []look.Span {
	ranked := p.costs.Ranked(1)
	if len(ranked) == 0 {
		return look.Fit(maxWidth, []look.Span{look.Warn.Span(p.costs.Limit)}, nil)
	}
	bits := units.Fixed(panes.BitsPerPacket(p.costs, p.costs.Rows[ranked[0]]), 1)
	return look.Fit(maxWidth, look.Labelled("most: ", panes.RowName(p.schema, ranked[0]), ", ", bits, " bits/packet"),
		look.Labelled("most: ", bits, " bits/packet"), nil)
}

// NextFigure implements room.Switcher: a map of costs or of priorities gives way to the figure.
func (p *worldMap) NextFigure() room.Request {
	p.dirty = true
	off := false
	switch {
	case p.costs != nil:
		return room.Request{Command: &live.Command{RowCosts: &off}, Redraw: true}
	case p.priorities != nil:
		return room.Request{Command: &live.Command{Priorities: &off}, Redraw: true}
	}
	return p.switcher.NextFigure()
}

// Move pushes the player of a live world, or pans the view: in a recording, and by large steps.
func (p *worldMap) Move(dx, dy int) room.Request {
	if isLarge := dx*dx+dy*dy > 1; isLarge || !p.play.live {
		const maxPan = 4 // steps of an eighth of the view
		p.pan(min(max(dx, -maxPan), maxPan), min(max(-dy, -maxPan), maxPan))
		return room.Request{}
	}
	d := config.Directions() // left, right, up, down
	direction := d[0]
	switch {
	case dx > 0:
		direction = d[1]
	case dy < 0:
		direction = d[2]
	case dy > 0:
		direction = d[3]
	}
	return room.Change(config.NewChange("press", direction))
}

// pan moves the view by steps; see worldview.Camera.Pan.
func (p *worldMap) pan(dx, dy int) {
	p.world.Camera.Pan(dx, dy)
	p.dirty = true
}

// Wheel implements room.Wheeler: it zooms.
func (p *worldMap) Wheel(_, _, notches int) room.Request {
	p.world.Camera.Zoom(notches)
	p.world.Camera.Track(p.now, p.world.Sent)
	p.dirty = true
	return room.Request{}
}

// Release shows the first figure and the initial part of the world.
func (p *worldMap) Release() room.Request {
	p.shown = p.figures[0]
	p.world.Reset()
	p.dirty = true
	return room.Request{Redraw: true}
}

func (p *worldMap) Arrows() [][2]string {
	if p.play.live {
		return [][2]string{{"←↑↓→", "push"}}
	}
	return [][2]string{{"←↑↓→", "pan"}}
}

func (p *worldMap) KeyHelp(key string) string {
	if key == "x" && !p.hasBudget { // as on other pages
		return ""
	}
	const arrows = "push the player; in a recording: pan"
	return map[string]string{
		"up": arrows, "left": arrows,
		"esc": "the whole world again",
		"c":   "next view: endpoints, errors, the display",
		"x":   "why: error, age and priority of each row",
	}[key]
}

// Bindings implements room.Binder.
func (p *worldMap) Bindings() []room.Binding {
	zoom := func(step int) room.Request {
		if p.Absent() { // pages of the list of values
			return p.page.Move(0, -step*room.PageStep)
		}
		return p.Wheel(0, 0, step)
	}
	pan := func(dx, dy int) func(int) room.Request {
		return func(step int) room.Request {
			p.pan(step*dx, step*dy)
			return room.Request{}
		}
	}
	return []room.Binding{
		room.Pair("pgdown", "pgup", "zoom out, zoom in", zoom).InFooter("zoom").Unless(func() bool { return !p.hasThings() }),
		room.Pair("shift+left", "shift+right", "pan", pan(1, 0)),
		room.Pair("shift+down", "shift+up", "pan", pan(0, 1)),
		panes.RowCostBinding("heat map of the bits that each row cost", func() bool { return p.costs != nil }),
	}
}
