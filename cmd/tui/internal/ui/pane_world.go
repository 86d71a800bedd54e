package ui

import (
	"strconv"
	"time"

	"wirelab/experiment/engine"
)

// worldPane is the world from above: what the sender has, what the receiver
// shows, and how far that is off, side by side.
type worldPane struct {
	item     string
	pic      *engine.Picture
	now      time.Duration
	display  display
	cam      camera
	shown    int // index of arrangements
	painters [3]painter
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
func (p *worldPane) views(w int) []sideView {
	if p.shown < 0 { // nobody chose
		if w >= tripleWidth {
			return arrangements()[1]
		}
		return arrangements()[0]
	}
	return arrangements()[p.shown]
}

// nextViews chooses the next arrangement.
func (p *worldPane) nextViews(w int) {
	if p.shown < 0 && w >= tripleWidth {
		p.shown = 1
	}
	p.shown = (max(p.shown, 0) + 1) % len(arrangements())
}

func (p *worldPane) name() string { return "World" }

// observe takes what there is to see. Whether it may be drawn already is for the
// page to say, which knows what the terminal can take.
func (p *worldPane) observe(v sight) bool {
	pic := v.snap.World
	p.due = p.due || v.back != p.back || v.back && v.snap.Now != p.now
	if p.back = v.back; p.back {
		p.now = v.snap.Now
		return false
	}
	if pic == nil {
		p.due = p.due || p.pic != nil || p.item != v.snap.Item
		p.item = v.snap.Item
		p.pic = nil
		return false
	}
	if p.pic == nil || v.snap.Now != p.now || pic.Starved != p.pic.Starved {
		p.due = true
	}
	p.pic, p.now = pic, v.snap.Now
	p.display.observe(v)
	p.cam.track(float64(pic.Sent[0].X), float64(pic.Sent[0].Y))
	return false
}

func (p *worldPane) draw(c *canvas, th *theme, _ bool) {
	p.due = false
	if p.pic == nil || p.back {
		p.drawNothing(c, th)
		return
	}
	views := p.views(c.w)
	x := 0
	for i, v := range views {
		to := c.w * (i + 1) / len(views)
		side := newCanvas(to-x, c.h)
		p.drawView(side, th, v, &p.painters[i])
		c.paste(x, 0, side)
		x = to
	}
}

// nothing says in words why there is no world.
func (p *worldPane) nothing() string {
	if p.item != "" && p.item != "cube" {
		return "No world to look at: what is sent is made of " + p.item + "s, not of cubes. Page 1 shows what they cost, page 2 what on, page 3 each packet."
	}
	return "No world to look at: these frames hold no cubes, or none was sent yet."
}

// drawNothing says why there is no world to look at.
func (p *worldPane) drawNothing(c *canvas, th *theme) {
	c.frame(th, false, "World")
	why := p.nothing()
	if p.back {
		why = "The world of then is not remembered. /seek " + clock(p.now) + " plays it again up to there; the key end goes back to the present."
	}
	text := wrap(why, max(c.w-6, 1))
	for i, line := range text {
		c.text(max((c.w-textWidth(line))/2, 2), max((c.h-len(text))/2, 1)+i, inkDim, line)
	}
}

// drawView draws one view with its frame.
func (p *worldPane) drawView(c *canvas, th *theme, v sideView, brush *painter) {
	title, more := p.title(th, v, c.w)
	c.frame(th, false, title, more...)
	poses := p.pic.Shown
	switch v {
	case viewSender:
		poses = p.pic.Sent
	case viewError:
		p.legend(c, th)
	}
	if c.w < 4 || c.h < 3 {
		return
	}
	if poses == nil {
		c.clip(2, c.h/2, c.w-4, inkDim, "nothing on display yet")
		return
	}
	looks := kindLooks(poses)
	if v == viewError {
		if p.pic.Error == nil {
			c.clip(2, c.h/2, c.w-4, inkDim, "nothing to hold it against just now")
			return
		}
		looks = heatLooks(p.pic.Error)
	}
	brush.draw(&p.cam, c.w-2, c.h-2, poses)
	p.ground(c, th, brush)
	brush.paint(c, th, 1, 1, looks)
	if v != viewSender {
		p.display.stamp(c, th)
	}
}

// ground marks every tenth metre of the ground, so that a camera that moves is
// seen to move.
func (p *worldPane) ground(c *canvas, th *theme, brush *painter) {
	step := 10.0
	for p.cam.span() > 12*step {
		step *= 10
	}
	half := p.cam.span() * float64(max(c.w, 2*c.h)) / float64(max(min(c.w, 2*c.h), 1))
	for gx := floorTo(p.cam.x-half, step); gx <= p.cam.x+half; gx += step {
		for gy := floorTo(p.cam.y-half, step); gy <= p.cam.y+half; gy += step {
			col, row := brush.raster.Place(gx, gy)
			if x, y := col/dotsAcross, row/dotsDown; col >= 0 && row >= 0 && x < c.w-2 && y < c.h-2 {
				c.set(1+x, 1+y, inkFaint, th.cross)
			}
		}
	}
}

// title names a view and says the one thing to know of it.
func (p *worldPane) title(th *theme, v sideView, w int) (string, []span) {
	switch v {
	case viewSender:
		n := 0
		for i := range p.pic.Sent {
			if i > 0 && p.pic.Sent[i].Interacting {
				n++
			}
		}
		return "Sender", fit(headRoom(w, "Sender"),
			[]span{{inkValue, strconv.Itoa(n)}, {inkDim, " cubes interact"}}, []span{{inkValue, strconv.Itoa(n)}, {inkDim, " interact"}})
	case viewReceiver:
		return "Receiver", p.display.heading(headRoom(w, "Receiver"))
	}
	mean, most := worst(p.pic.Error)
	return "Error", fit(headRoom(w, "Error"),
		[]span{{inkDim, "worst "}, {inkValue, fixed(most, 1)}, {inkDim, " mm, mean of those off "}, {inkValue, fixed(mean, 1)}},
		[]span{{inkDim, "worst "}, {inkValue, fixed(most, 1)}, {inkDim, " mm"}}, []span{{inkValue, fixed(most, 0)}, {inkDim, " mm"}})
}

// legend writes the steps of the error map into the lower edge.
func (p *worldPane) legend(c *canvas, th *theme) {
	const all = 0xff
	x := c.text(2, c.h-1, inkDim, " mm ")
	for i := range numHeats {
		text := "more "
		if i < len(heats()) {
			text = th.atMost + fixed(float64(heats()[i]), 0) + " "
		}
		if x+textWidth(text)+2 > c.w-1 {
			return
		}
		l := heatLook(i)
		c.set(x, c.h-1, l.ink, sign(th, all, l))
		x = c.text(x+1, c.h-1, inkDim, text)
	}
}
