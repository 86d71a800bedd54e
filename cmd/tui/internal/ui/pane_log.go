package ui

import (
	"math"
	"slices"
	"time"

	"wirelab/experiment"
)

// logPane lists what was changed and when, the newest first, each with what it
// did: the marks of the charts, spelt out.
type logPane struct {
	all     []experiment.Mark // as in the snapshot
	changes []entry           // worth showing
	effects []*effect         // of each of them; nil: not known, or nothing to tell
	newest  time.Duration     // end of the newest sample seen
	seen    bool
	again   string // what a seam says of the data
}

func (p *logPane) name() string { return "Changes" }

func (p *logPane) observe(v sight) bool {
	p.again = " seam: the recording begins anew"
	switch {
	case ofFiles(v.snap.Schema):
		p.again = " seam: the file is sent anew"
	case v.snap.World != nil && v.snap.World.Live:
		p.again = " seam: the world begins anew"
	}
	moved := !p.seen || !sameMarks(p.all, v.snap.Marks)
	if moved {
		p.all, p.seen = v.snap.Marks, true
		p.take(entries(v.snap.Marks))
	}
	samples := v.lane().Samples
	if n := len(samples); n > 0 && (moved || samples[n-1].T != p.newest) {
		p.newest = samples[n-1].T
		moved = p.measure(samples) || moved
	}
	return moved
}

// take replaces the changes; what is known of those that stay is kept.
func (p *logPane) take(list []entry) {
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
func (p *logPane) measure(samples []experiment.Sample) bool {
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

func (p *logPane) draw(c *canvas, th *theme, focused bool) {
	const title = "Changes"
	c.frame(th, focused, title, fit(headRoom(c.w, title), []span{{inkDim, "bits/changed, means of 2 s before → after"}}, []span{{inkDim, "bits/changed before → after"}}, nil)...)
	if len(p.changes) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "none yet: move a control, and it is noted here")
		return
	}
	for y := 1; y < c.h-1 && y <= len(p.changes); y++ {
		i := len(p.changes) - y
		ch := p.changes[i]
		p.row(c, th, y, ch, p.effects[i], hasEffect(ch) && disturbed(p.changes, i))
	}
}

// row writes one change: when, what, and what it did as far as the row has room
// for it beside what it was.
func (p *logPane) row(c *canvas, th *theme, y int, ch entry, e *effect, crowded bool) {
	label := string(markSign(th, ch.Kind)) + " " + ch.Label
	if ch.Kind == experiment.MarkSeam {
		label = string(th.seam) + p.again
	}
	x := c.text(2, y, inkDim, clock(ch.T)+"  ")
	const gap = 2
	end := c.w - 2
	told := e.told(end - x - gap - textWidth(label))
	if e == nil && crowded {
		told = fit(end-x-gap-textWidth(label), []span{{inkDim, "too close to another to tell"}}, []span{{inkDim, "too close to tell"}}, nil)
	}
	if n := spansWidth(told); n > 0 {
		c.spans(end-n, y, n, told...)
		end -= n + gap
	}
	c.clip(x, y, end-x, markInk(ch.Kind), label)
}

// told is what a change did, in as much detail as there is room for. By how much
// the bits per changed item grew or shrank goes before the bandwidth, which
// follows whatever happens in the data.
func (e *effect) told(room int) []span {
	if e == nil {
		return nil
	}
	if e.before.perChanged == 0 || e.after.perChanged == 0 { // too few changed to say
		return fit(room, e.bandwidth(), nil)
	}
	return fit(room, slices.Concat(e.bandwidth(), []span{{inkPlain, "  "}}, e.bits(), e.percent()), append(e.bits(), e.percent()...), e.percent())
}

// bits tells the bits per changed item before and after.
func (e *effect) bits() []span {
	return []span{{inkPlain, fixed(e.before.perChanged, 1)}, {inkDim, " → "}, {inkRatio, fixed(e.after.perChanged, 1)}}
}

// bandwidth tells the payload before and after.
func (e *effect) bandwidth() []span {
	return []span{{inkPlain, fixed(e.before.kbps, 0)}, {inkDim, " → "}, {inkPayload, fixed(e.after.kbps, 0)}, {inkDim, " kbps"}}
}

// percent is by how much the bits per changed item grew or shrank.
func (e *effect) percent() []span {
	v := math.Round(100 * (e.after.perChanged/e.before.perChanged - 1))
	k, sign := inkDim, "±"
	switch {
	case v < 0:
		k, sign = inkGood, "−"
	case v > 0:
		k, sign = inkWarn, "+"
	}
	return []span{{k, padLeft("("+sign+fixed(math.Abs(v), 0), 6) + " %)"}}
}
