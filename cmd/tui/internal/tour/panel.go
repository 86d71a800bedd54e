package tour

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// Panel returns the lines of the tour's panel in w columns: the step, its text, and the effect of the
// change. It is drawn below the page.
func (t *tour) Panel(th *look.Theme, w int) []string {
	step := &t.steps[t.index]
	text := look.Wrap(step.text, min(w-4, textWidth))
	c := look.NewCanvas(w, len(text)+3)
	c.Frame(th, look.Focused, fmt.Sprintf("Tour %d of %d: %s", t.index+1, len(t.steps), step.name), t.progressSpans(th)...)
	for y, line := range text {
		c.Clip(2, 1+y, c.W-4, look.Plain, line)
	}
	c.Spans(2, 1+len(text), c.W-4, t.outcomeSpans(th, step, c.W-4)...)
	return c.Lines(th)
}

// textWidth is the maximum width of a line of text.
const textWidth = 110

// progressSpans returns a marker per step, filled up to the current one.
func (t *tour) progressSpans(th *look.Theme) []look.Span {
	on, off := string(th.GaugeOn), string(th.GaugeOff)
	return []look.Span{look.Focus.Span(strings.Repeat(on, t.index+1)), look.Faint.Span(strings.Repeat(off, len(t.steps)-t.index-1))}
}

// outcomeSpans describes the coming change or, after the change, its effect, in at most maxWidth columns.
func (t *tour) outcomeSpans(th *look.Theme, step *step, maxWidth int) []look.Span {
	if !t.changed {
		return t.upcomingSpans(step)
	}
	_, newSetting := describeChange(step)
	pieces := [][]look.Span{{look.Mark.Span(string(look.MarkSymbol(engine.MarkChange)) + " " + newSetting)}}
	lanes := t.lab.Shown().Lanes
	changed, ok := t.changeTime()
	for _, f := range step.figures {
		if !ok || len(lanes) == 0 || len(lanes[0].Samples) == 0 {
			break
		}
		before, after, known := f.measure(lanes, t.lab.From, changed)
		if !known {
			continue
		}
		pieces = append(pieces, []look.Span{look.Dim.Span("   " + f.name + " "),
			look.Plain.Span(units.Fixed(before, f.digits)), look.Dim.Span(" → "),
			f.style.Span(units.Fixed(after, f.digits)), look.Dim.Span(" " + f.unit)})
	}
	if len(pieces) == 1 { // no figure is known yet
		pieces = append(pieces, []look.Span{look.Dim.Span("   measuring the effect ...")})
	} else if step.change.SetsEncoder() && len(lanes) > 1 {
		pieces = append(pieces, []look.Span{look.Dim.Span("   on the same frames")})
	}
	return look.FitGroups(maxWidth, pieces)
}

// upcomingSpans describes the current setting, the coming change, and when it comes.
func (t *tour) upcomingSpans(step *step) []look.Span {
	wait := t.changeAt - t.lab.Snap.Now
	when := fmt.Sprintf("in %d s", int((max(wait, 0)+time.Second-1)/time.Second))
	switch {
	case t.lab.Snap.State == engine.Paused:
		when = "after /resume"
	case wait <= 0 && t.tooQuiet():
		when = "when more cubes move"
	}
	before, after := describeChange(step)
	coming := []look.Span{look.Dim.Span(when + ": "), look.Mark.Span(after)}
	if before == "" {
		return coming
	}
	return append([]look.Span{look.Dim.Span("now "), look.Value.Span(before), look.Dim.Span("; ")}, coming...)
}

// describeChange returns the settings that a step changes, before and after the change. A scene that sets no loss
// has none; other settings that the scene does not set are left out of before.
func describeChange(step *step) (before, after string) {
	switch {
	case step.change.SetsEncoder():
		return "encoder " + step.scene.Encoder(), "encoder " + step.change.Encoder()
	case step.change.Text("down.loss") != "" && step.scene.Text("down.loss") == "":
		return "no loss", "loss " + step.change.Text("down.loss")
	}
	previous := slices.DeleteFunc(slices.Clone(step.scene), func(s config.Set) bool { return step.change.Value(s.Key) == nil })
	return previous.Label(), step.change.Label()
}

// changeTime returns when the change of the current step took effect, false if it has not yet.
func (t *tour) changeTime() (time.Duration, bool) {
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
