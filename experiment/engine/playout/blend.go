package playout

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// blend describes one tick of a display: the snapshots to interpolate between, the
// weights, and the truth to compare the result with.
type blend struct {
	a, b   *frame.Frame // the snapshots around the moment; equal if there is only one
	weight float64      // 0 at a, 1 at b

	curved bool // interpolate positions by spline, not linearly
	spline spline
	frames [4]*frame.Frame // the snapshot before a, a, b, the snapshot after b; nil if missing

	hasTruth                bool         // the fields below are known
	truthBefore, truthAfter *frame.Frame // the source's frames around the moment
	truthWeight             float64      // 0 at truthBefore, 1 at truthAfter
	sameTicks               bool         // a and b have the ticks of truthBefore and truthAfter
	firstTick, lastTick     uint64       // the first and the last tick of these four
}

// newBlend chooses how to show moment. Without a later snapshot it shows the newest.
func newBlend(x *screen, w *window, moment time.Duration) (b blend) {
	switch {
	case w[1].entry == nil && w[2].entry == nil:
		return b
	case w[1].entry == nil:
		w[1] = w[2]
	case w[2].entry == nil:
		w[2] = w[1]
	}
	b.a, b.b = &w[1].entry.Frame, &w[2].entry.Frame
	if w[1].at == w[2].at {
		return b
	}
	b.weight = float64(moment-w[1].at) / float64(w[2].at-w[1].at)
	if !x.hermite {
		return b
	}
	b.curved = true
	var at [4]time.Duration
	for i := range w {
		at[i] = w[i].at
		if e := w[i].entry; e != nil {
			b.frames[i] = &e.Frame
		}
	}
	b.spline = newSpline(at, b.frames[0] != nil, b.frames[3] != nil, moment)
	return b
}

// setTruth looks up the truth at moment. It is unknown if the recording restarts (a seam)
// among the frames involved: an error across a seam is not the network's fault.
func (b *blend) setTruth(t *Truths, w *window, moment time.Duration, hz int) {
	tick := endpoint.TickAt(moment, hz)
	after := tick
	begin := endpoint.TickTime(tick, hz)
	if moment > begin {
		after++
		b.truthWeight = float64(moment-begin) / float64(endpoint.TickTime(after, hz)-begin)
	}
	b.truthBefore, b.truthAfter = t.get(tick), t.get(after)
	b.firstTick, b.lastTick = min(w[1].tick, tick), max(w[2].tick, after)
	from, to := b.firstTick, b.lastTick
	if b.frames[0] != nil {
		from = min(from, w[0].tick)
	}
	if b.frames[3] != nil {
		to = max(to, w[3].tick)
	}
	b.hasTruth = b.truthBefore != nil && b.truthAfter != nil && !t.loopBetween(from, to)
	b.sameTicks = !b.curved && w[1].tick == tick && w[2].tick == after
}

// blockRows is how many cubes are compared at once: most cubes are at rest.
const blockRows = 8

// blockAtRest reports whether the blockRows cubes from i on are at rest, and in the same
// place on the display and in the truth.
func (b *blend) blockAtRest(i int) bool {
	block := func(f *frame.Frame) *[blockRows * frame.CubeFields]int32 {
		return (*[blockRows * frame.CubeFields]int32)(f.Table[i*frame.CubeFields:])
	}
	from := block(b.a)
	return *from == *block(b.b) && *from == *block(b.truthBefore) && *from == *block(b.truthAfter)
}

// setTruePose sets truth to the true place of cube i at the moment on display: interpolated
// linearly between the source's frames around it. from and to are its places in the snapshots
// a and b; they are reused where the snapshots equal the truth.
func (b *blend) setTruePose(truth *cubePose, i int, from, to *cubePose) {
	var p, q cubePose
	if was := cubeRowAt(b.truthBefore, i); !frame.SameCube(was, cubeRowAt(b.a, i)) {
		p.setRow(was)
		from = &p
	}
	if is := cubeRowAt(b.truthAfter, i); !frame.SameCube(is, cubeRowAt(b.b, i)) {
		q.setRow(is)
		to = &q
	}
	truth.interpolate(from, to, b.truthWeight)
}
