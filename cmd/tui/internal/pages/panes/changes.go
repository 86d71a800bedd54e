package panes

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// Changes lists what was changed and when, the newest first, each with what it
// did: the marks of the charts, spelt out.
type Changes struct {
	all     []engine.Mark // as in the snapshot
	changes []entry       // worth showing
	effects []*effect     // of each of them; nil: not known, or nothing to tell
	newest  time.Duration // end of the newest sample seen
	seen    bool
	again   string // what a seam says of the data
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
		p.take(entries(v.Snap.Marks))
	}
	samples := v.Lane().Samples
	if n := len(samples); n > 0 && (moved || samples[n-1].T != p.newest) {
		p.newest = samples[n-1].T
		moved = p.measure(samples) || moved
	}
	return moved
}

// take replaces the changes; what is known of those that stay is kept.
func (p *Changes) take(list []entry) {
	known := make([]*effect, len(list))
	for i := range min(len(list), len(p.changes)) {
		if list[i] == p.changes[i] {
			known[i] = p.effects[i]
		}
	}
	p.changes, p.effects = list, known
}

// measure finds out what changes did whose time has come; it reports whether any
// was added.
func (p *Changes) measure(samples []engine.Sample) bool {
	added := false
	for i, c := range p.changes {
		if p.effects[i] != nil || !hasEffect(c) {
			continue
		}
		if e, ok := effectOf(p.changes, i, samples); ok {
			p.effects[i], added = &e, true
		}
	}
	return added
}

// Draw implements room.Pane.
func (p *Changes) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	const title = "Changes"
	c.Frame(th, focused, title, look.Fit(look.HeadRoom(c.W, title),
		[]look.Span{look.Dim.Span("bits/changed, means of 2 s before → after")},
		[]look.Span{look.Dim.Span("bits/changed before → after")}, nil)...)
	if len(p.changes) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "none yet: move a control, and it is noted here")
		return
	}
	for y := 1; y < c.H-1 && y <= len(p.changes); y++ {
		i := len(p.changes) - y
		ch := p.changes[i]
		p.row(c, th, y, ch, p.effects[i], hasEffect(ch) && disturbed(p.changes, i))
	}
}

// row writes one change: when, what, and what it did as far as the row has room
// for it beside what it was.
func (p *Changes) row(c *look.Canvas, th *look.Theme, y int, ch entry, e *effect, crowded bool) {
	label := string(look.MarkSign(th, ch.Kind)) + " " + ch.Label
	if ch.Kind == engine.MarkSeam {
		label = string(th.Seam) + p.again
	}
	x := c.Text(2, y, look.Dim, look.Clock(ch.T)+"  ")
	const gap = 2
	end := c.W - 2
	said := e.inWords(end - x - gap - look.TextWidth(label))
	if e == nil && crowded {
		said = look.Fit(end-x-gap-look.TextWidth(label), []look.Span{look.Dim.Span("too close to another to tell")},
			[]look.Span{look.Dim.Span("too close to tell")}, nil)
	}
	if n := look.SpansWidth(said); n > 0 {
		c.Spans(end-n, y, n, said...)
		end -= n + gap
	}
	c.Clip(x, y, end-x, look.MarkInk(ch.Kind), label)
}

// inWords is what a change did, in as much detail as there is room for. The
// change of bits per item is kept longest: bandwidth also follows what happens in
// the data.
func (e *effect) inWords(room int) []look.Span {
	if e == nil {
		return nil
	}
	if e.before.perChanged == 0 || e.after.perChanged == 0 { // too few changed to say
		return look.Fit(room, e.bandwidth(), nil)
	}
	return look.Fit(room, slices.Concat(e.bandwidth(), []look.Span{look.Plain.Span("  ")}, e.bits(), e.percent()),
		append(e.bits(), e.percent()...), e.percent())
}

// bits tells the bits per changed item before and after.
func (e *effect) bits() []look.Span {
	return []look.Span{look.Plain.Span(look.Fixed(e.before.perChanged, 1)), look.Dim.Span(" → "),
		look.Ratio.Span(look.Fixed(e.after.perChanged, 1))}
}

// bandwidth tells the payload before and after.
func (e *effect) bandwidth() []look.Span {
	return []look.Span{look.Plain.Span(look.Fixed(e.before.kbps, 0)), look.Dim.Span(" → "),
		look.Payload.Span(look.Fixed(e.after.kbps, 0)), look.Dim.Span(" kbps")}
}

// percent is by how much the bits per changed item grew or shrank.
func (e *effect) percent() []look.Span {
	v := math.Round(100 * (e.after.perChanged/e.before.perChanged - 1))
	k, sign := look.Dim, "±"
	switch {
	case v < 0:
		k, sign = look.Good, "−"
	case v > 0:
		k, sign = look.Warn, "+"
	}
	return []look.Span{k.Span(look.PadLeft("("+sign+look.Fixed(math.Abs(v), 0), 6) + " %)")}
}
