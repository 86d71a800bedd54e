package playout

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// blend describes the interpolation of one display tick: the snapshots to interpolate between, their
// weights, and the source's frames to compare the result with.
type blend struct {
	a, b   *frame.Frame // the snapshots around the displayed time; equal if there is only one, nil if none
	weight float64      // of b: 0 at the time of a, 1 at that of b

	curved bool // interpolate positions by spline, not linearly
	spline spline
	frames [4]*frame.Frame // the snapshot before a, a, b, the snapshot after b; nil if missing

	hasTruth                bool         // the source's frames are stored, and no loop point is between them
	truthBefore, truthAfter *frame.Frame // the source's frames around the displayed time; truthAfter may be older: see setTruth
	truthWeight             float64      // of truthAfter: 0 at the time of truthBefore, 1 at that of truthAfter
	sameTicks               bool         // not curved, and a and b have the ticks of truthBefore and truthAfter
	unrounded               bool         // the source's frames have residuals, so that equal rows may have an error
	firstTick, lastTick     uint64       // the lowest and the highest tick of these four frames
	heldFrom, heldTo        uint64       // the ticks of a and truthBefore, in order: what shows if nothing is interpolated
}

// newBlend returns the blend of the snapshots in w for displayed time moment, without the truth. If
// there is a snapshot on one side of moment only, it is displayed unchanged: newBlend then sets both
// middle snapshots of w to it. Without any snapshot it returns a zero blend.
func newBlend(x *screen, w *snapshots, moment time.Duration) (b blend) {
	switch {
	case w[1].entry == nil && w[2].entry == nil:
		return b
	case w[1].entry == nil:
		w[1] = w[2]
	case w[2].entry == nil:
		w[2] = w[1]
	}
	b.a, b.b = &w[1].entry.Frame, &w[2].entry.Frame
	if w[1].at == w[2].at { // one snapshot: its weight does not matter
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

// setTruth looks up the source's frames around moment. w must be the snapshots that newBlend used: w[1]
// is a and w[2] is b. hasTruth stays false if a frame is no longer stored, or if the recording restarts
// between the frames involved: the network does not cause the error across a loop point. hz is the tick
// rate of the source.
func (b *blend) setTruth(t *Truths, w *snapshots, moment time.Duration, hz int) {
	before := endpoint.TickAt(moment, hz)
	begin := endpoint.TickTime(before, hz)
	after := before
	if moment > begin { // otherwise the frame of before has exactly the displayed time
		after++
		period := endpoint.TickTime(after, hz) - begin
		b.truthWeight = float64(moment-begin) / float64(period)
	}
	b.truthBefore = t.get(before)
	b.unrounded = b.truthBefore != nil && len(b.truthBefore.Residual) > 0
	if b.unrounded && after == before && t.get(before-1) != nil {
		// Rounding leaves an error also at the time of a frame. To find the rows that move, that frame is compared
		// with the one before it, which has the weight 0.
		after--
	}
	b.truthAfter = t.get(after)
	b.sameTicks = !b.curved && w[1].tick == before && w[2].tick == after
	b.firstTick = min(w[1].tick, before, after)
	b.lastTick = max(w[2].tick, before, after)
	b.heldFrom = min(w[1].tick, before)
	b.heldTo = max(w[1].tick, before)
	from := b.firstTick
	if b.frames[0] != nil { // the spline also uses the snapshot before a
		from = min(from, w[0].tick)
	}
	to := b.lastTick
	if b.frames[3] != nil { // and the one after b
		to = max(to, w[3].tick)
	}
	isStored := b.truthBefore != nil && b.truthAfter != nil
	b.hasTruth = isStored && !t.loops.between(from, to)
}

// residuals returns the residuals of the cells from first up to end before and after the displayed time;
// nil without any.
func (b *blend) residuals(first, end int) (before, after []float32) {
	if !b.unrounded {
		return nil, nil
	}
	return b.truthBefore.Residual[first:end], b.truthAfter.Residual[first:end]
}

// sameResiduals reports whether the residuals of the cells from first up to end do not change.
func (b *blend) sameResiduals(first, end int) bool { return slices.Equal(b.residuals(first, end)) }

// blockRows is the number of cubes that blockAtRest compares at once, which is faster than comparing
// each, since most cubes are at rest.
const blockRows = 8

// blockAtRest reports whether the rows of cubes i to i+blockRows-1 are the same in both snapshots and
// in both frames of the source.
func (b *blend) blockAtRest(i int) bool {
	block := func(f *frame.Frame) *[blockRows * frame.CubeFields]int32 {
		return (*[blockRows * frame.CubeFields]int32)(f.Table[i*frame.CubeFields:])
	}
	from := block(b.a)
	return b.sameResiduals(i*frame.CubeFields, (i+blockRows)*frame.CubeFields) && *from == *block(b.b) && *from == *block(b.truthBefore) && *from == *block(b.truthAfter)
}

// setTruePose sets truth to the pose of cube i at the displayed time, interpolated linearly between the
// source's frames around it. from and to are the poses of the cube in snapshots a and b. They are used
// for truthBefore and truthAfter where the rows are equal and were not rounded, to save decoding them
// again.
func (b *blend) setTruePose(truth *cubePose, i int, from, to *cubePose) {
	var p, q cubePose
	before, after := b.residuals(i*frame.CubeFields, (i+1)*frame.CubeFields)
	if row := cubeRowAt(b.truthBefore, i); b.unrounded || !frame.EqualCubes(row, cubeRowAt(b.a, i)) {
		p.setUnrounded(row, before)
		from = &p
	}
	if row := cubeRowAt(b.truthAfter, i); b.unrounded || !frame.EqualCubes(row, cubeRowAt(b.b, i)) {
		q.setUnrounded(row, after)
		to = &q
	}
	truth.interpolate(from, to, b.truthWeight)
}
