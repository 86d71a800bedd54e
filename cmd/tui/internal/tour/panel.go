package tour

import (
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// Panel draws the panel of the tour in w columns: the step, what to look at, and
// what the change did. It stands below the page, which has so many lines less.
func (t *tour) Panel(th *look.Theme, w int) []string {
	step := &t.steps[t.at]
	text := look.Wrap(step.say, min(w-4, textWidth))
	c := look.NewCanvas(w, len(text)+3)
	c.Frame(th, true, fmt.Sprintf("Tour %d of %d: %s", t.at+1, len(t.steps), step.name), t.progress(th)...)
	for y, line := range text {
		c.Clip(2, 1+y, c.W-4, look.Plain, line)
	}
	c.Spans(2, 1+len(text), c.W-4, t.outcome(th, step, c.W-4)...)
	return c.Lines(th)
}

// textWidth is the longest line that is read with ease.
const textWidth = 110

// progress is a sign for every step, up to the present one filled.
func (t *tour) progress(th *look.Theme) []look.Span {
	on, off := string(th.Outcome[packetlog.Decoded]), string(th.Outcome[packetlog.Lost])
	if th.Ascii {
		on, off = "#", "."
	}
	return []look.Span{look.Focus.Span(strings.Repeat(on, t.at+1)), look.Faint.Span(strings.Repeat(off, len(t.steps)-t.at-1))}
}

// outcome says what is about to change, or what the change did.
func (t *tour) outcome(th *look.Theme, step *lesson, room int) []look.Span {
	if !t.acted {
		return t.next(step)
	}
	_, what := scenery(step)
	pieces := [][]look.Span{{look.Mark.Span(string(look.MarkSign(th, engine.MarkChange)) + " " + what)}}
	lanes := t.lab.Shown().Lanes
	at, ok := t.mark()
	for _, tally := range step.tallies {
		if !ok || len(lanes) == 0 || len(lanes[0].Samples) == 0 {
			break
		}
		before, after, known := tally.compare(lanes, t.lab.From, at)
		if !known {
			continue
		}
		pieces = append(pieces, []look.Span{look.Dim.Span("   " + tally.name + " "),
			look.Plain.Span(units.Fixed(before, tally.digits)), look.Dim.Span(arrow(th)),
			tally.ink.Span(units.Fixed(after, tally.digits)), look.Dim.Span(" " + tally.unit)})
	}
	if len(pieces) == 1 {
		pieces = append(pieces, []look.Span{look.Dim.Span("   measuring what it does ...")})
	} else if step.then.SetsEncoder() && len(lanes) > 1 {
		pieces = append(pieces, []look.Span{look.Dim.Span("   on the same frames")})
	}
	return look.FitGroups(room, pieces)
}

// next says what is set now and what is about to change.
func (t *tour) next(step *lesson) []look.Span {
	wait := t.acts - t.lab.Snap.Now
	when := fmt.Sprintf("in %d s", int((max(wait, 0)+time.Second-1)/time.Second))
	switch {
	case t.lab.Snap.State == engine.Paused:
		when = "once time goes on (/resume)"
	case wait <= 0 && t.tooQuiet():
		when = "as soon as more cubes move"
	}
	before, after := scenery(step)
	return []look.Span{look.Dim.Span("now "), look.Value.Span(before), look.Dim.Span("; " + when + ": "), look.Mark.Span(after)}
}

func arrow(th *look.Theme) string {
	if th.Ascii {
		return " -> "
	}
	return " → "
}

// scenery names what the step begins with, and what its change makes of it.
func scenery(step *lesson) (before, after string) {
	switch {
	case step.then.SetsEncoder():
		return "encoder " + step.scene.Encoder, "encoder " + step.then.Encoder
	case step.then.Live["receiver.playout_delay"] != nil:
		return fmt.Sprint("playout ", step.scene.Live["receiver.playout_delay"]), fmt.Sprint("playout ", step.then.Live["receiver.playout_delay"])
	}
	return "no loss", "loss " + step.then.Down["loss"]
}

// mark finds when the change of the present step took effect.
func (t *tour) mark() (time.Duration, bool) {
	for i := len(t.lab.Snap.Marks) - 1; i >= 0; i-- {
		mark := &t.lab.Snap.Marks[i]
		if mark.T < t.lab.From {
			break
		}
		if mark.Kind == engine.MarkChange && mark.Label == t.label {
			return mark.T, true
		}
	}
	return 0, false
}
