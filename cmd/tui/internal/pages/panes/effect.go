package panes

import (
	"strings"
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
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

// effect is what a change did: the means over the two seconds before and after.
type effect struct{ before, after cost }

// cost is what was sent in a stretch of time.
type cost struct{ kbps, perChanged float64 }

// costOf sums up samples. Bits per changed item is 0 where too little changed.
func costOf(list []engine.Sample) cost {
	var sent, bits, changed, items int64
	for i := range list {
		sent += int64(list[i].Sent)
		bits += list[i].PayloadBits
		changed, items = changed+list[i].Changed, items+list[i].Items
	}
	c := cost{kbps: float64(bits) / 1000 / (float64(len(list)) * engine.SamplePeriod.Seconds())}
	if changed > 0 && (changed >= room.EnoughChanged*sent || changed == items) {
		c.perChanged = float64(bits) / float64(changed)
	}
	return c
}

// effectOf measures the i-th of all changes. It is false while the seconds after
// the change are not over, once those before it are forgotten, and where another
// change is so close that it would be measured too.
func effectOf(all []entry, i int, samples []engine.Sample) (effect, bool) {
	const period, span = engine.SamplePeriod, int64(room.RecentSpan / engine.SamplePeriod)
	if c := all[i]; len(samples) > 0 && !disturbed(all, i) {
		origin := int64(samples[0].T/period) - 1 // when the first sample began, in periods
		until := int64(c.began/period) - origin
		again := int64(c.T/period) - origin
		if c.T%period > 0 {
			again++ // the sample in which it falls is of either side
		}
		if first, end := until-span, again+span; 0 <= first && until <= again && again <= end && end <= int64(len(samples)) {
			return effect{costOf(samples[first:until]), costOf(samples[again:end])}, true
		}
	}
	return effect{}, false
}

// hasEffect reports whether a change is one that can have an effect on what the
// encoder under the keys sends: shadows, notes and seams have none.
func hasEffect(c entry) bool {
	return (c.Kind == engine.MarkChange || c.Kind == engine.MarkUndo) &&
		!strings.HasPrefix(strings.TrimPrefix(c.Label, "undo "), "shadow ")
}

// disturbed reports whether a neighbour of the i-th change lies within the time
// over which that one is measured. A note disturbs nothing, nor does a shadow; a
// seam does.
func disturbed(all []entry, i int) bool {
	c := all[i]
	disturbs := func(other entry) bool { return hasEffect(other) || other.Kind == engine.MarkSeam }
	for j := i - 1; j >= 0 && c.began-all[j].T < room.RecentSpan; j-- {
		if disturbs(all[j]) {
			return true
		}
	}
	for j := i + 1; j < len(all) && all[j].began-c.T < room.RecentSpan; j++ {
		if disturbs(all[j]) {
			return true
		}
	}
	return false
}
