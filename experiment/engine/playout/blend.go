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
	a, b   *frame.Frame // the snapshots around the displayed time; equal if there is only one
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
// middle snapshots of w to it.
func newBlend(x *screen, w *snapshots, moment time.Duration) (b blend) {
	if w[1].entry == nil {
		w[1] = w[2]
	}
	if w[2].entry == nil {
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
		// Rounding leaves an error also at the time of a frame. To find the rows that move, that frame is
		// compared with the one before it, which has the weight 0.
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

// shownPose returns the displayed pose of cube i.
func (b *blend) shownPose(i int) (p cubePose) {
	from, to := cubeRowAt(b.a, i), cubeRowAt(b.b, i)
	p.setRow(from, nil)
	if frame.EqualCubes(from, to) {
		return p
	}
	var q cubePose
	q.setRow(to, nil)
	p.interpolate(&p, &q, b.weight)
	if b.curved {
		p.pos = b.spline.position(i, &b.frames)
	}
	return p
}

// truePose returns the source's pose of cube i at the displayed time.
func (b *blend) truePose(i int) (p cubePose) {
	var q cubePose
	before, after := b.residuals(i*frame.CubeFields, (i+1)*frame.CubeFields)
	p.setRow(cubeRowAt(b.truthBefore, i), before)
	q.setRow(cubeRowAt(b.truthAfter, i), after)
	p.interpolate(&p, &q, b.truthWeight)
	return p
}

// cubeError returns the error of the displayed pose of cube i: see poseError. moves is false if the cube is
// at rest in the snapshots and in the source's frames. b must have a truth.
func (b *blend) cubeError(i int) (um, mdeg int64, moves bool) {
	from, to := cubeRowAt(b.a, i), cubeRowAt(b.b, i)
	truthBefore, truthAfter := cubeRowAt(b.truthBefore, i), cubeRowAt(b.truthAfter, i)
	isEqual := frame.EqualCubes(from, truthBefore) && frame.EqualCubes(to, truthAfter)
	if isEqual && frame.EqualCubes(from, to) && b.sameResiduals(i*frame.CubeFields, (i+1)*frame.CubeFields) {
		return 0, 0, false
	}
	if isEqual && b.sameTicks && !b.unrounded {
		return 0, 0, true
	}
	shown, truth := b.shownPose(i), b.truePose(i)
	um, mdeg = poseError(&shown, &truth)
	return um, mdeg, true
}
