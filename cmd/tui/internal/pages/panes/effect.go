package panes

import (
	"slices"
	"strings"
	"time"
	"unicode"

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

// effect compares the figures before and after a change: measured on the same frames for a change of the encoder,
// otherwise those of the two periods around the change.
type effect struct {
	before, after measured
	ratio         paired.RatioInterval // payload after / payload before, on the same frames
	firstSample   *meters.Sample       // identifies an effect on the same frames; see firstSampleAfter
	length        time.Duration        // of the measurement on the same frames

	// Of two periods around a change:
	known bool          // both have enough samples
	until time.Duration // end of the later one
	ended bool          // it was over
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

// measured are the figures of a period.
type measured struct {
	kbps       float64
	quantities [len(quantities)]float64
}

// quantity is a figure that settings of the link or of the display affect.
type quantity struct {
	name, unit string
	decimals   int
	settings   string // beginnings of words in the labels of changes that affect it
}

// quantities are the figures that are shown of the periods before and after a change, if it affects them.
var quantities = [...]quantity{
	{"loss", " %", 1, "loss burst mtu" + ofAll},
	{"starved", " %", 2, "loss " + ofTime + ofAll},
	{"age", " ms", 0, ofTime + ofAll},
	{"failed", "/min", 0, "loss burst corrupt reorder" + ofAll},
}

// The settings that affect the times of arrival or display, and those that affect all quantities.
const (
	ofTime = "latency jitter delay distribution spike reorder keep playout interpolation"
	ofAll  = " rate queue netem profile traffic"
)

// isAffectedBy reports whether a change with the given label affects the figure.
func (q *quantity) isAffectedBy(label string) bool {
	settings := strings.Fields(q.settings)
	isSeparator := func(r rune) bool { return !unicode.IsLetter(r) }
	return slices.ContainsFunc(strings.FieldsFunc(label, isSeparator), func(word string) bool {
		return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(word, s) })
	})
}

// affectsAny reports whether a change with the given label affects one of the quantities.
func affectsAny(label string) bool {
	return slices.ContainsFunc(quantities[:], func(q quantity) bool { return q.isAffectedBy(label) })
}

// measure returns the figures of the period that the samples cover.
func measure(list []meters.Sample) measured {
	sum := meters.Sum(list)
	seconds := float64(len(list)) * meters.SamplePeriod.Seconds()
	m := measured{kbps: float64(sum.PayloadBits) / 1000 / seconds}
	m.quantities = [...]float64{
		100 * float64(sum.Lost+sum.Unknown) / float64(sum.Sent),
		100 * float64(sum.Starved) / float64(sum.Displayed),
		1000 * sum.Age.Seconds() / float64(sum.Aged),
		60 * float64(sum.Failed()) / seconds,
	}
	return m
}

// newEffect computes the effect of a change from its samples, without those at loop points, where
// the data jump.
func newEffect(e *engine.Effect) effect {
	before, after := lockstep.WithoutLoopPoints(e.Before, e.After)
	return effect{
		before:      measure(before),
		after:       measure(after),
		ratio:       lockstep.PayloadRatio(after, before),
		firstSample: firstSampleAfter(e),
		length:      time.Duration(len(before)) * meters.SamplePeriod,
	}
}

// hasEffect reports whether a change can affect the packets of the active encoder. Shadows and notes
// cannot.
func hasEffect(c entry) bool {
	return (c.Kind == engine.MarkChange || c.Kind == engine.MarkUndo) &&
		!strings.HasPrefix(strings.TrimPrefix(c.Label, "undo "), "shadow ")
}

// effectPeriod is the length of the periods before and after a change that are compared. They end earlier at
// another change.
const effectPeriod = 10 * time.Second

// effectAround compares the samples of the active encoder before change i with those after it. The second after
// a change is left out. The effect is unknown if one of the periods has less than a second, but changes with less than
// that before change i count as part of it.
func effectAround(changes []entry, i int, samples []meters.Sample) (e effect) {
	const minPeriod = time.Second
	at := &changes[i]
	start, from := at.firstStep, time.Duration(0)
	for k := lastWithEffect(changes[:i]); k >= 0; k = lastWithEffect(changes[:k]) {
		from = changes[k].T + engine.WarmUp
		if start-from >= minPeriod {
			break
		}
		start, from = changes[k].firstStep, 0
	}
	from = max(from, start-effectPeriod)
	e.until = at.T + engine.WarmUp + effectPeriod
	if k := slices.IndexFunc(changes[i+1:], hasEffect); k >= 0 {
		e.until = min(e.until, changes[i+1+k].firstStep)
	}
	before := meters.Between(samples, from, start)
	after := meters.Between(samples, at.T+engine.WarmUp, e.until)
	if min(len(before), len(after)) >= int(minPeriod/meters.SamplePeriod) {
		e.known = true
		e.before, e.after = measure(before), measure(after)
	}
	return e
}

// lastWithEffect returns the index of the last change that can affect the active encoder, -1 if none can.
func lastWithEffect(changes []entry) int {
	for i, ch := range slices.Backward(changes) {
		if hasEffect(ch) {
			return i
		}
	}
	return -1
}
