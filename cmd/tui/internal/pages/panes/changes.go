package panes

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// Changes lists what was changed and when, the newest first, each with what it
// did: the marks of the charts, spelt out.
type Changes struct {
	all      []engine.Mark            // as in the snapshot
	changes  []entry                  // worth showing
	effects  map[time.Duration]effect // that are known, by the time of the change
	measured int                      // of the snapshot's effects, those that were looked at
	newest   *meters.Sample           // of the last of them
	trying   time.Duration            // the change that is being measured; 0: none
	per      string                   // what bits are divided by
	seen     bool
	again    string // what a seam says of the data
}

// Name implements room.Pane.
func (p *Changes) Name() string { return "Changes" }

// Observe implements room.Pane.
func (p *Changes) Observe(v room.View) bool {
	p.again = " seam: the recording begins anew"
	switch {
	case room.OfFiles(v.Snap.Schema):
		p.again = " seam: the file is sent anew"
	case v.Snap.World != nil && v.Snap.World.Live:
		p.again = " seam: the world begins anew"
	}
	moved := !p.seen || !SameMarks(p.all, v.Snap.Marks)
	if moved {
		p.all, p.seen = v.Snap.Marks, true
		p.changes = entries(v.Snap.Marks)
	}
	p.per = PerShort(v.Snap.Schema, v.Snap.Item)
	if n, newest := len(v.Snap.Effects), newestEffect(v.Snap.Effects); n != p.measured || newest != p.newest || v.Snap.Trying != p.trying {
		p.measured, p.newest, p.trying, moved = n, newest, v.Snap.Trying, true
		p.measure(v.Snap.Effects)
	}
	return moved
}

// newestEffect tells the last of the effects from any other.
func newestEffect(list []engine.Effect) *meters.Sample {
	if len(list) == 0 {
		return nil
	}
	return firstAfter(&list[len(list)-1])
}

// measure sums up the effects, but for those that are known: each takes hundreds of draws.
func (p *Changes) measure(list []engine.Effect) {
	known := p.effects
	p.effects = make(map[time.Duration]effect, len(list))
	for i := range list {
		e := &list[i]
		was, ok := known[e.T]
		if !ok || was.of != firstAfter(e) {
			was = effectOf(e)
		}
		p.effects[e.T] = was
	}
}

// Draw implements room.Pane.
func (p *Changes) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	const title = "Changes"
	c.Frame(th, focused, title, look.Fit(look.HeadRoom(c.W, title),
		[]look.Span{look.Dim.Span("kbps of the encoder before → after, on the same frames")},
		[]look.Span{look.Dim.Span("before → after, on the same frames")}, []look.Span{look.Dim.Span("before → after")}, nil)...)
	if len(p.changes) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "none yet: move a control, and it is noted here")
		return
	}
	for y := 1; y < c.H-1 && y <= len(p.changes); y++ {
		i := len(p.changes) - y
		p.row(c, th, y, p.changes[i])
	}
}

// row writes one change: when, what, and what it did as far as the row has room
// for it beside what it was.
func (p *Changes) row(c *look.Canvas, th *look.Theme, y int, ch entry) {
	label := string(look.MarkSign(th, ch.Kind)) + " " + ch.Label
	if ch.Kind == engine.MarkSeam {
		label = string(look.MarkSign(th, ch.Kind)) + p.again
	}
	x := c.Text(2, y, look.Dim, look.Clock(ch.T)+"  ")
	const gap = 2
	end := c.W - 2
	said := p.effectText(ch, th, end-x-gap-look.TextWidth(label))
	if n := look.SpansWidth(said); n > 0 {
		c.Spans(end-n, y, n, said...)
		end -= n + gap
	}
	c.Clip(x, y, end-x, look.MarkInk(ch.Kind), label)
}

// effectText describes what a change did. The effect is unknown if the setting before did not run
// on as a shadow, as with a change of the link: the frames after the change were other ones.
func (p *Changes) effectText(ch entry, th *look.Theme, room int) []look.Span {
	e, known := p.effects[ch.T]
	switch {
	case known:
		return e.inWords(th, room, p.per)
	case ch.T == p.trying && p.trying > 0:
		return look.Fit(room, []look.Span{look.Dim.Span("measuring against the setting before")}, []look.Span{look.Dim.Span("measuring")}, nil)
	case hasEffect(ch):
		return look.Fit(room, []look.Span{look.Faint.Span("-")}, nil)
	}
	return nil
}

// inWords is what a change did, in as much detail as there is room for: by how many
// percent it is told longest.
func (e *effect) inWords(th *look.Theme, room int, per string) []look.Span {
	short, long := e.percent(th, false), e.percent(th, true)
	space := []look.Span{look.Plain.Span("  ")}
	if e.before.perChanged == 0 || e.after.perChanged == 0 { // too few changed to say
		return look.Fit(room, slices.Concat(e.bandwidth(), space, long), long, short, nil)
	}
	return look.Fit(room, slices.Concat(e.bits(per), space, e.bandwidth(), space, long), slices.Concat(e.bandwidth(), space, long), long, short, nil)
}

// bits tells the bits per changed item before and after.
func (e *effect) bits(per string) []look.Span {
	return []look.Span{look.Plain.Span(units.Fixed(e.before.perChanged, 1)), look.Dim.Span(" → "),
		look.Ratio.Span(units.Fixed(e.after.perChanged, 1)), look.Dim.Span(" bits/" + per)}
}

// bandwidth tells the payload before and after.
func (e *effect) bandwidth() []look.Span {
	return []look.Span{look.Plain.Span(units.Fixed(e.before.kbps, 0)), look.Dim.Span(" → "),
		look.Payload.Span(units.Fixed(e.after.kbps, 0)), look.Dim.Span(" kbps")}
}

// percent is by how much the payload grew or shrank, and how surely that is known.
func (e *effect) percent(th *look.Theme, surely bool) []look.Span {
	q := &e.times
	digits := 0
	if q.Known && q.Hi-q.Lo < 0.02 {
		digits = 1
	}
	v := 100 * (q.Times - 1)
	k, sign := look.Dim, ""
	switch {
	case !q.Significant():
	case v < 0:
		k = look.Good
	default:
		k = look.Warn
	}
	if v < 0 {
		sign = "−"
	} else {
		sign = "+"
	}
	out := []look.Span{k.Span(sign + units.Fixed(math.Abs(v), digits) + " %")}
	switch {
	case !surely:
	case !q.Known:
		out = append(out, look.Dim.Span(" "+th.PlusMinus+" ?"))
	default:
		out = append(out, look.Dim.Span(" "+th.PlusMinus+" "+units.Fixed(50*(q.Hi-q.Lo), digits)))
	}
	return out
}
