package panes

import (
	"math"
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
	marks      []engine.Mark            // all marks of the snapshot
	changes    []entry                  // the rows of the list, oldest first: without loop points
	effects    map[time.Duration]effect // effects measured on the same frames, by the time of the change
	around     map[time.Duration]effect // of other changes: figures before and after
	numEffects int                      // number of the snapshot's effects in effects
	newest     *meters.Sample           // newestEffectID of the snapshot's effects
	measuring  time.Duration            // time of the change whose effect is being measured; 0 means none
	per        string                   // the item in "bits per item"
}

func (p *Changes) Name() string { return "Changes" }

// Observe implements room.Observer. It regroups the marks and computes effects only if those of the
// snapshot differ.
func (p *Changes) Observe(v room.View) bool {
	changed := !SameMarks(p.marks, v.Snap.Marks)
	if changed {
		p.marks = v.Snap.Marks
		p.changes = slices.DeleteFunc(groupMarks(v.Snap.Marks), func(e entry) bool { return e.Kind == engine.MarkLoop })
	}
	p.per = PerItemShort(v.Snap.Schema, v.Snap.Item)
	n, newest := len(v.Snap.Effects), newestEffectID(v.Snap.Effects)
	if n != p.numEffects || newest != p.newest || v.Snap.TrialAt != p.measuring {
		p.numEffects, p.newest, p.measuring, changed = n, newest, v.Snap.TrialAt, true
		p.updateEffects(v.Snap.Effects)
	}
	if changed || v.RedrawDue {
		changed = p.updateAround(v.Snap.Now, v.ActiveLane().Samples) || changed
	}
	return changed
}

// updateAround compares the samples before and after each change whose effect was not measured on the same frames,
// and reports whether it did. A comparison is kept when its periods have ended.
func (p *Changes) updateAround(now time.Duration, samples []meters.Sample) (changed bool) {
	cached := p.around
	p.around = make(map[time.Duration]effect, len(cached))
	for i := range p.changes {
		at := p.changes[i].T
		_, isMeasured := p.effects[at]
		if isMeasured || at == p.measuring || !hasEffect(p.changes[i]) {
			continue
		}
		e := cached[at]
		if !e.ended || now < e.until { // new, or the run was rewound
			e = effectAround(p.changes, i, samples)
			e.ended = now >= e.until
			changed = true
		}
		p.around[at] = e
	}
	return changed
}

// newestEffectID returns a pointer that identifies the last of the effects, its first sample; nil if there are
// no effects. See firstSampleAfter.
func newestEffectID(list []engine.Effect) *meters.Sample {
	if len(list) == 0 {
		return nil
	}
	return firstSampleAfter(&list[len(list)-1])
}

// updateEffects makes p.effects the effects of list. Effects that were computed before are reused.
func (p *Changes) updateEffects(list []engine.Effect) {
	cached := p.effects
	p.effects = make(map[time.Duration]effect, len(list))
	for i := range list {
		measured := &list[i]
		computed, ok := cached[measured.T]
		if !ok || computed.firstSample != firstSampleAfter(measured) { // a rewound run may change at the same time again
			computed = newEffect(measured)
		}
		p.effects[measured.T] = computed
	}
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
	e, isMeasured := p.effects[ch.T]
	around := p.around[ch.T]
	text := look.Faint.Span("-")
	switch {
	case isMeasured:
		return e.spans(th, maxWidth, p.per)
	case !hasEffect(ch):
		return nil
	case ch.T == p.measuring && p.measuring > 0:
		return look.Fit(maxWidth, look.Labelled("measuring against the previous setting"), look.Labelled("measuring"), nil)
	case around.known:
		return around.spansAround(maxWidth)
	case !around.ended:
		text = look.Dim.Span("measuring")
	}
	return look.Fit(maxWidth, []look.Span{text}, nil)
}

// spansAround describes the figures before and after a change in at most maxWidth columns; the last ones are omitted
// first.
func (e *effect) spansAround(maxWidth int) []look.Span {
	a, b := &e.before, &e.after
	space := look.Plain.Span("  ")
	list := e.bandwidthSpans()
	options := [][]look.Span{list}
	add := func(name string, before, after float64, decimals int, unit string) {
		if math.IsNaN(before) || math.IsNaN(after) {
			return
		}
		list = append(slices.Clip(list), space, look.Dim.Span(name+" "), look.Plain.Span(units.Fixed(before, decimals)),
			look.Dim.Span(" → "), look.Value.Span(units.Fixed(after, decimals)), look.Dim.Span(unit))
		options = append(options, list)
	}
	add("loss", 100*a.lostRatio, 100*b.lostRatio, 1, " %")
	add("age", a.ageMS, b.ageMS, 0, " ms")
	if a.failed+b.failed > 0 {
		add("failed", a.failed, b.failed, 0, "/min")
	}
	slices.Reverse(options)
	return look.Fit(maxWidth, append(options, nil)...)
}

// spans describes the effect in as much detail as fits into maxWidth columns. The change in
// percent is omitted last. per is the unit of bits per item.
func (e *effect) spans(th *look.Theme, maxWidth int, per string) []look.Span {
	const withInterval = true
	percent, percentWithInterval := e.percentSpans(th, !withInterval), e.percentSpans(th, withInterval)
	space := []look.Span{look.Plain.Span("  ")}
	bandwidth := slices.Concat(e.bandwidthSpans(), space, percentWithInterval)
	if e.before.perChanged == 0 || e.after.perChanged == 0 { // bits per item unknown: too few items changed
		return look.Fit(maxWidth, bandwidth, percentWithInterval, percent, nil)
	}
	return look.Fit(maxWidth, slices.Concat(e.bitsSpans(per), space, bandwidth), bandwidth, percentWithInterval, percent, nil)
}

// bitsSpans returns the bits per changed item before and after the change.
func (e *effect) bitsSpans(per string) []look.Span {
	return []look.Span{look.Plain.Span(units.Fixed(e.before.perChanged, 1)), look.Dim.Span(" → "),
		look.Ratio.Span(units.Fixed(e.after.perChanged, 1)), look.Dim.Span(" bits/" + per)}
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
