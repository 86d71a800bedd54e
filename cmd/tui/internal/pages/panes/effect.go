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

// entry is a change as the screen lists it. The steps of a dragged control are one entry, with the
// mark of the last step.
type entry struct {
	engine.Mark
	firstStep time.Duration // time of the first step; the time of a single change
}

// groupMarks combines the marks of a dragged control, which sets a mark at every step, into one
// entry: changes of one setting that follow each other within maxDragGap. Other marks become entries
// of their own.
func groupMarks(marks []engine.Mark) []entry {
	out := make([]entry, 0, len(marks))
	for _, m := range marks {
		if n := len(out); n > 0 && m.Kind == engine.MarkChange && out[n-1].Kind == m.Kind &&
			m.T-out[n-1].T < maxDragGap && settingName(m.Label) == settingName(out[n-1].Label) {
			out[n-1].Mark = m // now the latest step; firstStep does not change
			continue
		}
		out = append(out, entry{Mark: m, firstStep: m.T})
	}
	return out
}

// effect compares the cost of the settings before and after a change, measured on the same frames.
type effect struct {
	before, after cost
	ratio         paired.RatioInterval // payload after / payload before
	firstSample   *meters.Sample       // identifies the effect; see firstSampleAfter
}

// firstSampleAfter returns a pointer that identifies an effect, nil if e has no samples. Snapshots
// share the samples of an effect, so the pointer is stable; the time of the change is not unique,
// because a run can be rewound and changed at the same time again.
func firstSampleAfter(e *engine.Effect) *meters.Sample {
	if len(e.After) == 0 {
		return nil
	}
	return &e.After[0]
}

// cost is the payload of a period.
type cost struct {
	kbps       float64
	perChanged float64 // bits per changed item; 0 if too few items changed
}

// sumCost returns the cost of the period that the samples cover.
func sumCost(list []meters.Sample) cost {
	var sent, bits, changed, items int64
	costsPerChange := true // see meters.Sample.CostsPerChange
	for i := range list {
		sent += int64(list[i].Sent)
		bits += list[i].PayloadBits
		changed, items = changed+list[i].Changed, items+list[i].Items
		costsPerChange = costsPerChange && list[i].CostsPerChange()
	}
	c := cost{kbps: float64(bits) / 1000 / (float64(len(list)) * meters.SamplePeriod.Seconds())}
	if costsPerChange && changed > 0 && (changed >= room.MinChanged*sent || changed == items) { // enough changed; see EnoughChanged
		c.perChanged = float64(bits) / float64(changed)
	}
	return c
}

// newEffect computes the effect of a change from its samples, without those at loop points, where
// the data jump.
func newEffect(e *engine.Effect) effect {
	before, after := lockstep.WithoutLoopPoints(e.Before, e.After)
	return effect{sumCost(before), sumCost(after), lockstep.PayloadRatio(after, before), firstSampleAfter(e)}
}

// hasEffect reports whether a change can affect the packets of the active encoder. Shadows and notes
// cannot.
func hasEffect(c entry) bool {
	return (c.Kind == engine.MarkChange || c.Kind == engine.MarkUndo) &&
		!strings.HasPrefix(strings.TrimPrefix(c.Label, "undo "), "shadow ")
}
