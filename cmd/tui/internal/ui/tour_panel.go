package ui

import (
	"fmt"
	"strings"
	"time"

	"wirelab/experiment"
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
	on, off := string(m.theme.outcome[experiment.Decoded]), string(m.theme.outcome[experiment.Lost])
	if m.theme.ascii {
		on, off = "#", "."
	}
	return []span{{inkFocus, strings.Repeat(on, t.at+1)}, {inkFaint, strings.Repeat(off, len(t.steps)-t.at-1)}}
}

// tourTold says what is about to change, or what the change did.
func (m *Model) tourTold(step *tourStep, room int) []span {
	t := m.tour
	label := step.then.Label()
	if !t.acted {
		wait := max(t.acts-m.snap.Now, 0)
		return []span{{inkDim, "now "}, {inkValue, scenery(step)}, {inkDim, fmt.Sprintf("; in %d s: ", int((wait+time.Second-1)/time.Second))}, {inkMark, label}}
	}
	mark := string(m.theme.change) + " " + label
	at, ok := m.tourMark(label)
	pieces := [][]span{{{inkMark, mark}}}
	told := false
	for _, tell := range step.tells {
		if !ok || len(m.sight(false).lane().Samples) == 0 {
			break
		}
		before, after, known := tell.told(m.sight(false).lane().Samples, t.from, at)
		if !known {
			continue
		}
		told = true
		pieces = append(pieces, []span{{inkDim, "   " + tell.name + " "}, {inkPlain, fixed(before, tell.digits)}, {inkDim, m.arrow()},
			{tell.ink, fixed(after, tell.digits)}, {inkDim, " " + tell.unit}})
	}
	if !told {
		pieces = append(pieces, []span{{inkDim, "   measuring what it does ..."}})
	}
	return uncut(room, pieces)
}

func (m *Model) arrow() string {
	if m.theme.ascii {
		return " -> "
	}
	return " → "
}

// scenery names what the step begins with: what its change will alter.
func scenery(step *tourStep) string {
	switch {
	case step.then.Encoder != "":
		return "encoder " + step.scene.Encoder
	case step.then.Playout != nil:
		return "playout " + step.scene.Playout.String()
	}
	return "no loss"
}

// tourMark finds when the change of the present step took effect.
func (m *Model) tourMark(label string) (time.Duration, bool) {
	for i := len(m.snap.Marks) - 1; i >= 0; i-- {
		mark := &m.snap.Marks[i]
		if mark.T < m.tour.from {
			break
		}
		if mark.Kind == experiment.MarkChange && mark.Label == label {
			return mark.T, true
		}
	}
	return 0, false
}
