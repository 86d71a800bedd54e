package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// blend is one tick of a display: which snapshots are blended and how, and the
// truth to hold that against.
type blend struct {
	a, b  *frame.Frame // the snapshots around the moment; the same one if there is only one
	share float64      // of the way from a to b

	curved bool // by spline, not on the line
	spline spline
	frames [4]*frame.Frame // a and b, and those outside of them; nil if missing

	hasTruth                bool         // the following are known
	truthBefore, truthAfter *frame.Frame // the source's frames around the moment
	truthShare              float64      // of the way between them
	same                    bool         // the way between snapshots is that between the source's frames
}

// newBlend chooses how to show moment. Without a snapshot to move to it shows the
// newest there is.
func newBlend(x *screen, w *window, moment time.Duration) (b blend) {
	switch {
	case w.entry[1] == nil && w.entry[2] == nil:
		return b
	case w.entry[1] == nil:
		w.entry[1], w.tick[1], w.at[1] = w.entry[2], w.tick[2], w.at[2]
	case w.entry[2] == nil:
		w.entry[2], w.tick[2], w.at[2] = w.entry[1], w.tick[1], w.at[1]
	}
	b.a, b.b = &w.entry[1].Frame, &w.entry[2].Frame
	if w.at[1] == w.at[2] {
		return b
	}
	b.share = float64(moment-w.at[1]) / float64(w.at[2]-w.at[1])
	if x.mode != config.Hermite {
		return b
	}
	b.curved = true
	for i, e := range w.entry {
		if e != nil {
			b.frames[i] = &e.Frame
		}
	}
	b.spline = newSpline(w.at, b.frames[0] != nil, b.frames[3] != nil, moment)
	return b
}

// hold looks the truth up. Where the source began anew between what is blended
// or compared there is none: a display that slides over such a seam is off by
// what no network did.
func (b *blend) setTruth(t *truths, w *window, moment time.Duration, hz int) {
	tick := endpoint.TickAt(moment, hz)
	after := tick
	begin := endpoint.TickTime(tick, hz)
	if moment > begin {
		after++
		b.truthShare = float64(moment-begin) / float64(endpoint.TickTime(after, hz)-begin)
	}
	b.truthBefore, b.truthAfter = t.get(tick), t.get(after)
	from, to := min(w.tick[1], tick), max(w.tick[2], after)
	if b.frames[0] != nil {
		from = min(from, w.tick[0])
	}
	if b.frames[3] != nil {
		to = max(to, w.tick[3])
	}
	b.hasTruth = b.truthBefore != nil && b.truthAfter != nil && !t.seamIn(from, to)
	b.same = !b.curved && w.tick[1] == tick && w.tick[2] == after
}

// blockRows is how many cubes are looked at together: most lie still, and are
// many.
const blockRows = 8

// asleep reports whether the cubes from i on lie still, at both ends and in one
// place.
func (b *blend) atRest(i int) bool {
	block := func(f *frame.Frame) *[blockRows * frame.CubeFields]int32 {
		return (*[blockRows * frame.CubeFields]int32)(f.Table[i*frame.CubeFields:])
	}
	from := block(b.a)
	return *from == *block(b.b) && *from == *block(b.truthBefore) && *from == *block(b.truthAfter)
}

// truthOf returns where the sender had cube i at the moment on display: on the
// line between its frames on either side.
func (b *blend) truthOf(i int) place {
	p, q := placeOf(rowOf(b.truthBefore, i)), placeOf(rowOf(b.truthAfter, i))
	return lerp(&p, &q, b.truthShare)
}
