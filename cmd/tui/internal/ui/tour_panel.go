package ui

import (
	"fmt"
	"strings"
	"time"

	"wirelab/experiment"
)

// panel draws the panel of the tour in w columns: the step, what to look at, and
// what the change did. It stands below the page, which has so many lines less.
func (t *tour) panel(th *theme, w int) []string {
	step := &t.steps[t.at]
	text := wrap(step.say, min(w-4, tourWidth))
	c := newCanvas(w, len(text)+3)
	c.frame(th, true, fmt.Sprintf("Tour %d of %d: %s", t.at+1, len(t.steps), step.name), t.progress(th)...)
	for y, line := range text {
		c.clip(2, 1+y, c.w-4, inkPlain, line)
	}
	c.spans(2, 1+len(text), c.w-4, t.outcome(th, step, c.w-4)...)
	return c.lines(th)
}

// tourWidth is the longest line that is read with ease.
const tourWidth = 110

// progress is a sign for every step, up to the present one filled.
func (t *tour) progress(th *theme) []span {
	on, off := string(th.outcome[experiment.Decoded]), string(th.outcome[experiment.Lost])
	if th.ascii {
		on, off = "#", "."
	}
	return []span{{inkFocus, strings.Repeat(on, t.at+1)}, {inkFaint, strings.Repeat(off, len(t.steps)-t.at-1)}}
}

// outcome says what is about to change, or what the change did.
func (t *tour) outcome(th *theme, step *tourStep, room int) []span {
	if !t.acted {
		return t.next(step)
	}
	_, what := scenery(step)
	pieces := [][]span{{{inkMark, string(th.change) + " " + what}}}
	lanes := t.lab.shown().Lanes
	at, ok := t.mark()
	for _, tell := range step.tells {
		if !ok || len(lanes) == 0 || len(lanes[0].Samples) == 0 {
			break
		}
		before, after, known := tell.compare(lanes, t.lab.from, at)
		if !known {
			continue
		}
		pieces = append(pieces, []span{{inkDim, "   " + tell.name + " "}, {inkPlain, fixed(before, tell.digits)}, {inkDim, arrow(th)},
			{tell.ink, fixed(after, tell.digits)}, {inkDim, " " + tell.unit}})
	}
	if len(pieces) == 1 {
		pieces = append(pieces, []span{{inkDim, "   measuring what it does ..."}})
	} else if step.then.Encoder != "" {
		pieces = append(pieces, []span{{inkDim, "   on the same frames"}})
	}
	return uncut(room, pieces)
}

// next says what is set now and what is about to change.
func (t *tour) next(step *tourStep) []span {
	wait := t.acts - t.lab.snap.Now
	when := fmt.Sprintf("in %d s", int((max(wait, 0)+time.Second-1)/time.Second))
	switch {
	case t.lab.snap.State == experiment.Paused:
		when = "once time goes on (/resume)"
	case wait <= 0 && t.tooQuiet():
		when = "as soon as more cubes move"
	}
	before, after := scenery(step)
	return []span{{inkDim, "now "}, {inkValue, before}, {inkDim, "; " + when + ": "}, {inkMark, after}}
}

func arrow(th *theme) string {
	if th.ascii {
		return " -> "
	}
	return " → "
}

// scenery names what the step begins with, and what its change makes of it.
func scenery(step *tourStep) (before, after string) {
	switch {
	case step.then.Encoder != "":
		return "encoder " + step.scene.Encoder, "encoder " + step.then.Encoder
	case step.then.Playout != nil:
		return "playout " + step.scene.Playout.String(), "playout " + step.then.Playout.String()
	}
	return "no loss", "loss " + step.then.Down["loss"]
}

// mark finds when the change of the present step took effect.
func (t *tour) mark() (time.Duration, bool) {
	for i := len(t.lab.snap.Marks) - 1; i >= 0; i-- {
		mark := &t.lab.snap.Marks[i]
		if mark.T < t.lab.from {
			break
		}
		if mark.Kind == experiment.MarkChange && mark.Label == t.label {
			return mark.T, true
		}
	}
	return 0, false
}
