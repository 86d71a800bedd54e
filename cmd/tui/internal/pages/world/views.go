package world

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
)

// views is the world from above: what the sender has, what the receiver
// shows, and how far that is off, side by side.
type views struct {
	item     string
	pic      *playout.Picture
	now      time.Duration
	display  display
	cam      worldview.Camera
	shown    int // index of arrangements
	painters [3]worldview.Painter
	due      bool // the picture changed and is not drawn yet
	back     bool // somebody looks back: pictures of what is over are not kept
}

// sideView is one of the views that stand side by side.
type sideView uint8

const (
	viewSender sideView = iota
	viewReceiver
	viewError
)

// arrangements are what the v key goes through.
func arrangements() [][]sideView {
	return [][]sideView{
		{viewSender, viewReceiver}, {viewSender, viewReceiver, viewError}, {viewReceiver, viewError}, {viewReceiver}, {viewError},
	}
}

// tripleWidth is the width from which all three views are shown at first.
const tripleWidth = 200

// views are those that stand side by side on w columns.
func (p *views) views(w int) []sideView {
	if p.shown < 0 { // nobody chose
		if w >= tripleWidth {
			return arrangements()[1]
		}
		return arrangements()[0]
	}
	return arrangements()[p.shown]
}

// nextViews chooses the next arrangement.
func (p *views) nextViews(w int) {
	if p.shown < 0 && w >= tripleWidth {
		p.shown = 1
	}
	p.shown = (max(p.shown, 0) + 1) % len(arrangements())
}

func (p *views) Name() string { return "World" }

// Observe takes what there is to see. Whether it may be drawn already is for the
// page to say, which knows what the terminal can take.
func (p *views) Observe(v room.View) bool {
	pic := v.Snap.World
	p.due = p.due || v.Back != p.back || v.Back && v.Snap.Now != p.now
	p.back = v.Back
	if p.back {
		p.now = v.Snap.Now
		return false
	}
	if pic == nil {
		p.due = p.due || p.pic != nil || p.item != v.Snap.Item
		p.item = v.Snap.Item
		p.pic = nil
		return false
	}
	if p.pic == nil || v.Snap.Now != p.now || pic.Starved != p.pic.Starved {
		p.due = true
	}
	p.pic, p.now = pic, v.Snap.Now
	p.display.observe(v)
	p.cam.Track(float64(pic.Sent[0].X), float64(pic.Sent[0].Y))
	return false
}

func (p *views) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	p.due = false
	if p.pic == nil || p.back {
		p.drawNothing(c, th)
		return
	}
	views := p.views(c.W)
	c.Split(len(views), func(i int, side *look.Canvas) { p.drawView(side, th, views[i], &p.painters[i]) })
}

// nothing says in words why there is no world.
func (p *views) nothing() string {
	if p.item != "" && p.item != "cube" {
		return "No world to look at: what is sent is made of " + p.item +
			"s, not of cubes. Page 1 shows what they cost, page 2 what on, page 3 each packet."
	}
	return "No world to look at: these frames hold no cubes, or none was sent yet."
}

// drawNothing says why there is no world to look at.
func (p *views) drawNothing(c *look.Canvas, th *look.Theme) {
	c.Frame(th, false, "World")
	why := p.nothing()
	if p.back {
		why = "The world of then is not remembered. /seek " + look.Clock(p.now) +
			" plays it again up to there; the key end goes back to the present."
	}
	c.Centre(1, look.Dim, why)
}

// drawView draws one view with its frame.
func (p *views) drawView(c *look.Canvas, th *look.Theme, v sideView, brush *worldview.Painter) {
	title, more := p.title(th, v, c.W)
	c.Frame(th, false, title, more...)
	poses := p.pic.Shown
	switch v {
	case viewSender:
		poses = p.pic.Sent
	case viewError:
		p.legend(c, th)
	}
	if c.W < 4 || c.H < 3 {
		return
	}
	if poses == nil {
		c.Clip(2, c.H/2, c.W-4, look.Dim, "nothing on display yet")
		return
	}
	looks := worldview.KindLooks(poses)
	if v == viewError {
		if p.pic.Error == nil {
			c.Clip(2, c.H/2, c.W-4, look.Dim, "nothing to hold it against just now")
			return
		}
		looks = worldview.HeatLooks(p.pic.Error)
	}
	brush.Draw(&p.cam, c.W-2, c.H-2, poses)
	p.ground(c, th, brush)
	brush.Paint(c, th, 1, 1, looks)
	if v != viewSender {
		p.display.stamp(c, th)
	}
}

// ground marks every tenth metre of the ground, so that a camera that moves is
// seen to move.
func (p *views) ground(c *look.Canvas, th *look.Theme, brush *worldview.Painter) {
	step := 10.0
	for p.cam.Span() > 12*step {
		step *= 10
	}
	half := p.cam.Span() * float64(max(c.W, 2*c.H)) / float64(max(min(c.W, 2*c.H), 1))
	for gx := floorTo(p.cam.X-half, step); gx <= p.cam.X+half; gx += step {
		for gy := floorTo(p.cam.Y-half, step); gy <= p.cam.Y+half; gy += step {
			col, row := brush.Raster.Place(gx, gy)
			if x, y := col/worldview.DotsAcross, row/worldview.DotsDown; col >= 0 && row >= 0 && x < c.W-2 && y < c.H-2 {
				c.Set(1+x, 1+y, look.Faint, th.Cross)
			}
		}
	}
}

// title names a view and says the one thing to know of it.
func (p *views) title(th *look.Theme, v sideView, w int) (string, []look.Span) {
	switch v {
	case viewSender:
		n := 0
		for i := range p.pic.Sent {
			if i > 0 && p.pic.Sent[i].Interacting {
				n++
			}
		}
		return "Sender", look.Fit(look.HeadRoom(w, "Sender"),
			[]look.Span{look.Value.Span(strconv.Itoa(n)), look.Dim.Span(" cubes interact")},
			[]look.Span{look.Value.Span(strconv.Itoa(n)), look.Dim.Span(" interact")})
	case viewReceiver:
		return "Receiver", p.display.heading(look.HeadRoom(w, "Receiver"))
	}
	mean, most := worldview.Worst(p.pic.Error)
	return "Error", look.Fit(look.HeadRoom(w, "Error"),
		[]look.Span{look.Dim.Span("worst "), look.Value.Span(units.Fixed(most, 1)), look.Dim.Span(" mm, mean of those off "),
			look.Value.Span(units.Fixed(mean, 1))},
		[]look.Span{look.Dim.Span("worst "), look.Value.Span(units.Fixed(most, 1)), look.Dim.Span(" mm")},
		[]look.Span{look.Value.Span(units.Fixed(most, 0)), look.Dim.Span(" mm")})
}

// legend writes the steps of the error map into the lower edge.
func (p *views) legend(c *look.Canvas, th *look.Theme) {
	const all = 0xff
	x := c.Text(2, c.H-1, look.Dim, " mm ")
	for i := range look.NumHeats {
		text := "more "
		if i < len(worldview.Heats()) {
			text = th.AtMost + units.Fixed(float64(worldview.Heats()[i]), 0) + " "
		}
		if x+look.TextWidth(text)+2 > c.W-1 {
			return
		}
		l := worldview.HeatLook(i)
		c.Set(x, c.H-1, l.Ink, worldview.Sign(th, all, l))
		x = c.Text(x+1, c.H-1, look.Dim, text)
	}
}
