package panes

import (
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// Changes lists the marks of the charts, without loop points, as text, newest first: time, change and effect.
type Changes struct {
	marks     []engine.Mark            // all marks of the snapshot
	changes   []entry                  // the rows of the list, oldest first: without loop points
	effects   map[time.Duration]effect // by the time of the change
	measuring time.Duration            // time of the change whose effect is being measured; 0 means none
}

func (p *Changes) Name() string { return "Changes" }

// Observe implements room.Observer. It regroups the marks only if those of the snapshot differ.
func (p *Changes) Observe(v room.View) bool {
	changed := !SameMarks(p.marks, v.Snap.Marks) || v.Snap.TrialAt != p.measuring
	if changed {
		p.marks, p.measuring = v.Snap.Marks, v.Snap.TrialAt
		p.changes = slices.DeleteFunc(groupMarks(v.Snap.Marks), func(e entry) bool { return e.Kind == engine.MarkLoop })
	}
	if changed || v.RedrawDue {
		changed = p.updateEffects(v.Snap, v.ActiveLane().Samples) || changed
	}
	return changed
}

// updateEffects computes the effects of the changes that are not known, and reports whether it computed any: the effect
// measured on the same frames if there is one, otherwise that of the samples before and after the change, until
// these periods have ended.
func (p *Changes) updateEffects(snap *engine.Snapshot, samples []meters.Sample) (changed bool) {
	known := p.effects
	p.effects = make(map[time.Duration]effect, len(known))
	sameFrames := make(map[time.Duration]*engine.Effect, len(snap.Effects))
	for i := range snap.Effects {
		sameFrames[snap.Effects[i].T] = &snap.Effects[i]
	}
	for i := range p.changes {
		at := p.changes[i].T
		e, measured := known[at], sameFrames[at]
		isMeasuring := measured == nil && at == p.measuring
		if isMeasuring || !hasEffect(p.changes[i]) {
			continue
		}
		switch {
		case measured != nil && e.firstSample != firstSampleAfter(measured): // also after the run was rewound
			e = newEffect(measured)
			changed = true
		case measured == nil && (!e.ended || snap.Now < e.until): // also after the run was rewound
			e = effectAround(p.changes, i, samples)
			e.ended = snap.Now >= e.until
			changed = true
		}
		p.effects[at] = e
	}
	return changed
}

// Absent implements room.Absent: without changes the pane is shown only beside others.
func (p *Changes) Absent() bool { return len(p.changes) == 0 }

// Draw implements room.Pane: one row for each change, newest first. Without changes, it says what would fill the pane.
func (p *Changes) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if len(p.changes) == 0 {
		p.drawEmpty(c, th, focused)
		return
	}
	c.FitFrame(th, focused, p.Name(), look.Labelled("active encoder, before → after; of encoders on the same frames"),
		look.Labelled("active encoder, before → after"), look.Labelled("before → after"))
	for y := 1; y < c.H-1 && y <= len(p.changes); y++ {
		i := len(p.changes) - y
		p.drawRow(c, th, y, p.changes[i])
	}
}

// drawEmpty draws what can be changed, with its keys, and what is listed then.
func (p *Changes) drawEmpty(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.Name())
	key, text := look.Key.Span, look.Dim.Span
	lines := look.WrapSpans([]look.Span{text("Change something: "), key("e"), text(" the encoder, "), key("p"),
		text(" the profile. The effect is listed here; "), key("u"), text(" undoes it.")}, c.W-4)
	if len(lines) > c.H-2 {
		lines = [][]look.Span{{text("Changes are listed here, with their effects.")}}
	}
	for i, line := range lines {
		c.Spans(2, 1+i, c.W-4, line...)
	}
}

// drawRow draws one change at row y: time, label and effect. The effect gets the columns that the
// label leaves.
func (p *Changes) drawRow(c *look.Canvas, th *look.Theme, y int, ch entry) {
	label := string(look.MarkSymbol(ch.Kind)) + " " + ch.Label
	x := c.Text(2, y, look.Dim, look.FormatTime(ch.T)+"  ")
	const gap = 2
	end := c.W - 2
	spans := p.effectSpans(ch, th, end-x-gap-look.TextWidth(label))
	if n := look.SpansWidth(spans); n > 0 {
		c.Spans(end-n, y, n, spans...)
		end -= n + gap
	}
	c.Clip(x, y, end-x, look.MarkStyle(ch.Kind), label)
}

// effectSpans describes the effect of a change in at most maxWidth columns: the effect on the same frames, or the
// figures before and after the change; "measuring" until they are known; "-" if another change came too soon; nil
// for shadows and notes, which have no effect.
func (p *Changes) effectSpans(ch entry, th *look.Theme, maxWidth int) []look.Span {
	e, isKnown := p.effects[ch.T]
	switch {
	case !hasEffect(ch):
		return nil
	case !isKnown:
		return look.Fit(maxWidth, look.Labelled("measuring against the previous setting"), look.Labelled("measuring"), nil)
	case e.firstSample != nil:
		return e.spans(th, maxWidth)
	case e.known:
		return e.spansAround(ch.Label, maxWidth)
	case !e.ended:
		return look.Fit(maxWidth, look.Labelled("measuring"), nil)
	}
	return look.Fit(maxWidth, []look.Span{look.Faint.Span("-")}, nil)
}

// spansAround describes the figures before and after a change with the given label in at most maxWidth columns; the last
// ones are omitted first. A setting of the link or of the display has no effect on the payload, which follows the data.
func (e *effect) spansAround(label string, maxWidth int) []look.Span {
	var list []look.Span
	if !affectsAny(label) {
		list = e.bandwidthSpans()
	}
	options := [][]look.Span{list}
	for i := range quantities {
		q, before, after := &quantities[i], e.before.quantities[i], e.after.quantities[i]
		isKnown := before+after > 0 // neither is NaN, and one is not 0
		if !isKnown || !q.isAffectedBy(label) && affectsAny(label) {
			continue
		}
		if len(list) > 0 {
			list = append(slices.Clip(list), look.Plain.Span("  "))
		}
		list = append(slices.Clip(list), look.Dim.Span(q.name+" "), look.Plain.Span(units.Fixed(before, q.decimals)),
			look.Dim.Span(" → "), look.Value.Span(units.Fixed(after, q.decimals)), look.Dim.Span(q.unit))
		options = append(options, list)
	}
	slices.Reverse(options)
	return look.Fit(maxWidth, append(options, nil)...)
}

// spans describes the effect on the same frames in as much detail as fits into maxWidth columns. The change in percent
// is omitted last.
func (e *effect) spans(th *look.Theme, maxWidth int) []look.Span {
	const withInterval = true
	percent := e.percentSpans(th, withInterval)
	bandwidth := slices.Concat(e.bandwidthSpans(), []look.Span{look.Plain.Span("  ")}, percent)
	return look.Fit(maxWidth, bandwidth, percent, e.percentSpans(th, !withInterval), nil)
}

// bandwidthSpans returns the payload before and after the change.
func (e *effect) bandwidthSpans() []look.Span {
	return []look.Span{look.Plain.Span(units.Fixed(e.before.kbps, 0)), look.Dim.Span(" → "),
		look.Payload.Span(units.Fixed(e.after.kbps, 0)), look.Dim.Span(" kbps")}
}

// percentSpans returns the change of the payload in percent. With withInterval, its confidence interval follows: half its
// width, its bounds if they are far apart, or the length of the measurement if that is too short for an interval.
func (e *effect) percentSpans(th *look.Theme, withInterval bool) []look.Span {
	q := &e.ratio
	digits := 0
	if q.Known && q.Hi-q.Lo < 0.02 { // an interval narrower than 2 % justifies a decimal
		digits = 1
	}
	percent := 100 * (q.Ratio - 1)
	style := look.Dim
	switch {
	case !q.Significant():
	case percent < 0:
		style = look.Good
	default:
		style = look.Warn
	}
	out := []look.Span{style.Span(signed(percent, digits) + " %")}
	const wide = 10 // in percent; the bounds of a wide interval are not at equal distances
	halfWidth := 100 * (q.Hi - q.Lo) / 2
	switch {
	case !withInterval:
	case !q.Known:
		out = append(out, look.Dim.Span(" over "+units.Fixed(e.length.Seconds(), 0)+" s"))
	case halfWidth >= wide:
		out = append(out, look.Dim.Span(" ("+signed(100*(q.Lo-1), 0)+" to "+signed(100*(q.Hi-1), 0)+")"))
	default:
		out = append(out, look.Dim.Span(" "+th.PlusMinus+" "+units.Fixed(halfWidth, digits)))
	}
	return out
}

// signed formats v with its sign; the minus is as wide as the plus.
func signed(v float64, digits int) string {
	return strings.Replace(units.Signed(v, digits), "-", "−", 1)
}
