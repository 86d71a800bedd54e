package panes

import (
	"strings"
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/paired"
)

// entry is a change as the screen shows it: a control that was dragged is one
// entry, from its first step to its last.
type entry struct {
	engine.Mark
	began time.Duration
}

// entries gathers marks into changes: of a control that was dragged, which makes
// a mark with every rung, one that stands where it came to rest.
func entries(marks []engine.Mark) []entry {
	out := make([]entry, 0, len(marks))
	for _, m := range marks {
		if n := len(out); n > 0 && m.Kind == engine.MarkChange && out[n-1].Kind == m.Kind &&
			m.T-out[n-1].T < dragTime && subject(m.Label) == subject(out[n-1].Label) {
			out[n-1].Mark = m
			continue
		}
		out = append(out, entry{m, m.T})
	}
	return out
}

// effect is what a change did: what the settings before and after it cost, for the same
// frames.
type effect struct {
	before, after cost
	times         paired.Quotient // payload after over payload before
	of            *meters.Sample  // see firstAfter
}

// firstAfter tells an effect from any other: snapshots share its samples. A change at the same
// moment of a run that went back has others.
func firstAfter(e *engine.Effect) *meters.Sample {
	if len(e.After) == 0 {
		return nil
	}
	return &e.After[0]
}

// cost is what was sent in a stretch of time.
type cost struct{ kbps, perChanged float64 }

// costOf sums up samples. Bits per changed item is 0 where too little changed.
func costOf(list []meters.Sample) cost {
	var sent, bits, changed, items int64
	for i := range list {
		sent += int64(list[i].Sent)
		bits += list[i].PayloadBits
		changed, items = changed+list[i].Changed, items+list[i].Items
	}
	c := cost{kbps: float64(bits) / 1000 / (float64(len(list)) * meters.SamplePeriod.Seconds())}
	if changed > 0 && (changed >= room.EnoughChanged*sent || changed == items) {
		c.perChanged = float64(bits) / float64(changed)
	}
	return c
}

// effectOf sums up what was measured of a change.
func effectOf(e *engine.Effect) effect {
	before, after := lockstep.WithoutSeams(e.Before, e.After)
	return effect{costOf(before), costOf(after), lockstep.TimesAsMuch(after, before), firstAfter(e)}
}

// hasEffect reports whether a change is one that can have an effect on what the
// encoder under the keys sends: shadows, notes and seams have none.
func hasEffect(c entry) bool {
	return (c.Kind == engine.MarkChange || c.Kind == engine.MarkUndo) &&
		!strings.HasPrefix(strings.TrimPrefix(c.Label, "undo "), "shadow ")
}
