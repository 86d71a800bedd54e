package shown

import (
	"math"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// above draws where things are, as the sender has them and as the receiver shows them.
type above struct {
	schema *frame.Schema
	parts  []frame.Part
	places [][]place
	both   *playout.Frames
	back   bool

	sent, shown []point
	// What was ever seen lies between these; they only grow, so that the map stands still.
	left, right, bottom, top float64
	seen                     bool

	nothing string // why there is nothing to see
}

func (p *above) Name() string { return "World" }

func (p *above) Observe(v room.View) bool {
	p.nothing = panes.NothingSentText(v.Lane())
	same := p.both == v.Snap.Both && p.back == v.Back
	p.schema, p.both, p.back = v.Snap.Schema, v.Snap.Both, v.Back
	if same || p.both == nil || p.schema == nil {
		return !same
	}
	if p.parts == nil {
		p.parts, p.places = placesOf(p.schema)
	}
	p.sent, p.shown = pointsOf(p.schema, p.parts, p.places, p.both.Sent.Table), nil
	if p.both.Shown != nil {
		p.shown = pointsOf(p.schema, p.parts, p.places, p.both.Shown.Table)
	}
	for _, pt := range p.sent {
		p.include(pt)
	}
	return true
}

// include makes the map so large that a point is on it.
func (p *above) include(pt point) {
	if !p.seen {
		p.left, p.right, p.bottom, p.top, p.seen = pt.x, pt.x, pt.y, pt.y, true
	}
	p.left, p.right = math.Min(p.left, pt.x), math.Max(p.right, pt.x)
	p.bottom, p.top = math.Min(p.bottom, pt.y), math.Max(p.top, pt.y)
}

func (p *above) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.both == nil || p.back || !p.seen {
		c.Frame(th, focused, p.Name())
		why := p.nothing
		if p.back {
			why = "the world of then is not remembered; the key end goes back to the present"
		}
		c.Clip(2, 1, c.W-4, look.Dim, why)
		return
	}
	c.Split(2, func(i int, side *look.Canvas) {
		if i == 0 {
			p.side(side, th, "Sender", p.sent, p.counts(side.W))
		} else {
			p.side(side, th, "Receiver", p.shown, p.age(side.W))
		}
	})
}

// counts says how many things of each part there are.
func (p *above) counts(w int) []look.Span {
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
	move := []look.Span{look.Value.Span(strconv.Itoa(moves)), look.Dim.Span(" move")}
	return look.Fit(look.HeadRoom(w, "Sender"), append(append(all[:len(all):len(all)], look.Dim.Span("; ")), move...), all, move, nil)
}

// age says how old what is shown is, and how much is elsewhere.
func (p *above) age(w int) []look.Span {
	room := look.HeadRoom(w, "Receiver")
	if p.both.Shown == nil {
		return look.Fit(room, []look.Span{look.Dim.Span("nothing on display yet")}, nil)
	}
	age := []look.Span{look.Value.Span(strconv.FormatInt(p.both.Age.Milliseconds(), 10)), look.Dim.Span(" ms behind")}
	if p.both.Starved {
		age = append(age, look.Warn.Span(", STARVED"))
	}
	n := 0
	now := map[[2]int]point{}
	for _, pt := range p.sent {
		now[[2]int{pt.row, pt.group}] = pt
	}
	for _, pt := range p.shown {
		if is, ok := now[[2]int{pt.row, pt.group}]; !ok || is.x != pt.x || is.y != pt.y {
			n++
		}
	}
	return look.Fit(room, append(age[:len(age):len(age)], look.Dim.Span("; "), look.Value.Span(strconv.Itoa(n)), look.Dim.Span(" elsewhere")), age, nil)
}

// side draws one end.
func (p *above) side(c *look.Canvas, th *look.Theme, title string, points []point, more []look.Span) {
	c.Frame(th, false, title, more...)
	w, h := c.W-2, c.H-2
	if w < 1 || h < 1 {
		return
	}
	// A cell is twice as high as it is wide, and shows as many units in both directions.
	const tall = 2
	unit := math.Max((p.right-p.left)/float64(max(w-1, 1)), (p.top-p.bottom)/float64(tall*max(h-1, 1)))
	if !(unit > 0) {
		unit = 1
	}
	middleX, middleY := (p.left+p.right)/2, (p.bottom+p.top)/2
	best := make([]kind, w*h)
	for _, pt := range points {
		x := int(math.Floor((pt.x-middleX)/unit + float64(w)/2))
		y := int(math.Floor((middleY-pt.y)/(tall*unit) + float64(h)/2))
		if x < 0 || x >= w || y < 0 || y >= h {
			continue
		}
		if at := &best[y*w+x]; *at == 0 || pt.kind+1 > *at {
			*at = pt.kind + 1
			ink, sign := sign(th, pt.kind)
			c.Set(1+x, 1+y, ink, sign)
		}
	}
	if unitName := p.unit(); c.H > 4 {
		c.Right(c.W-2, c.H-1, look.Dim, " "+units.Fixed(unit*float64(w), 0)+" "+unitName+"across ")
	}
}

// unit is what places are measured in.
func (p *above) unit() string {
	for _, list := range p.places {
		for _, at := range list {
			if u := p.schema.Fields[at.x].Unit; u != "" {
				return u + " "
			}
		}
	}
	return "units "
}

// sign is how a kind is drawn.
func sign(th *look.Theme, k kind) (look.Ink, rune) {
	switch k {
	case always:
		return look.Player + look.Levels - 1, '@'
	case moving:
		return look.Touched + look.Levels - 1, 'o'
	}
	if th.Ascii {
		return look.Rest + look.Levels - 1, '.'
	}
	return look.Rest + look.Levels - 1, '·'
}
