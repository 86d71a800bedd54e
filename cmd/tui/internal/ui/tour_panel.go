package ui

import (
	"fmt"
	"strings"
	"time"

	"wirelab/experiment/engine"
)

// tourPanel draws the panel of the tour: the step, what to look at, and what the
// change did. It stands below the page, which has so many lines less.
func (m *Model) tourPanel() []string {
	t := m.tour
	if t == nil {
		return nil
	}
	step := &t.steps[t.at]
	text := wrap(step.say, min(m.w-4, tourWidth))
	c := newCanvas(m.w, len(text)+3)
	c.frame(m.theme, true, fmt.Sprintf("Tour %d of %d: %s", t.at+1, len(t.steps), step.name), m.tourProgress()...)
	for y, line := range text {
		c.clip(2, 1+y, c.w-4, inkPlain, line)
	}
	c.spans(2, 1+len(text), c.w-4, m.tourTold(step, c.w-4)...)
	return c.lines(m.theme)
}

// tourWidth is the longest line that is read with ease.
const tourWidth = 110

// tourProgress is a sign for every step, up to the present one filled.
func (m *Model) tourProgress() []span {
	t := m.tour
	on, off := string(m.theme.outcome[engine.Decoded]), string(m.theme.outcome[engine.Lost])
	if m.theme.ascii {
		on, off = "#", "."
	}
	return []span{{inkFocus, strings.Repeat(on, t.at+1)}, {inkFaint, strings.Repeat(off, len(t.steps)-t.at-1)}}
}

// tourTold says what is about to change, or what the change did.
func (m *Model) tourTold(step *tourStep, room int) []span {
	t := m.tour
	if !t.acted {
		return m.tourNext(step)
	}
	_, what := scenery(step)
	pieces := [][]span{{{inkMark, string(m.theme.change) + " " + what}}}
	lanes := m.sight(false).snap.Lanes
	at, ok := m.tourMark()
	for _, tell := range step.tells {
		if !ok || len(lanes) == 0 || len(lanes[0].Samples) == 0 {
			break
		}
		before, after, known := tell.told(lanes, t.from, at)
		if !known {
			continue
		}
		pieces = append(pieces, []span{{inkDim, "   " + tell.name + " "}, {inkPlain, fixed(before, tell.digits)}, {inkDim, m.arrow()},
			{tell.ink, fixed(after, tell.digits)}, {inkDim, " " + tell.unit}})
	}
	if len(pieces) == 1 {
		pieces = append(pieces, []span{{inkDim, "   measuring what it does ..."}})
	} else if step.then.Encoder != "" {
		pieces = append(pieces, []span{{inkDim, "   on the same frames"}})
	}
	return uncut(room, pieces)
}

// tourNext says what is set now and what is about to change.
func (m *Model) tourNext(step *tourStep) []span {
	wait := m.tour.acts - m.snap.Now
	when := fmt.Sprintf("in %d s", int((max(wait, 0)+time.Second-1)/time.Second))
	switch {
	case m.snap.State == engine.Paused:
		when = "once time goes on (/resume)"
	case wait <= 0 && m.tooQuiet():
		when = "as soon as more cubes move"
	}
	before, after := scenery(step)
	return []span{{inkDim, "now "}, {inkValue, before}, {inkDim, "; " + when + ": "}, {inkMark, after}}
}

func (m *Model) arrow() string {
	if m.theme.ascii {
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

// tourMark finds when the change of the present step took effect.
func (m *Model) tourMark() (time.Duration, bool) {
	for i := len(m.snap.Marks) - 1; i >= 0; i-- {
		mark := &m.snap.Marks[i]
		if mark.T < m.tour.from {
			break
		}
		if mark.Kind == engine.MarkChange && mark.Label == m.tour.label {
			return mark.T, true
		}
	}
	return 0, false
}
