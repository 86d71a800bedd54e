package playout

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
)

// screen is what the receiver's display shows. It takes the snapshots around the moment of
// the playout clock from the receiver's history and interpolates between them. The lab
// compares the result with the truth of the same moment, cube by cube.
type screen struct {
	cadence     endpoint.Cadence
	history     *frame.History // the receiver's
	verifier    Verifier
	hermite     bool // interpolate positions by a spline, not linearly
	withPicture bool // compute every place; else only those that may be in error

	poses      []cubePose // on display, by cube; nil if the schema has no cubes
	restRows   []cubeRow  // the row behind each place, for cubes at rest
	errorUM    []int64    // position error of each cube in micrometres
	truthKnown bool       // errorUM is valid

	moving              frame.Rows // the cubes to draw
	exact               bool       // the snapshots on display are the source's
	wasExact            bool       // isRight of the display tick before
	firstTick, lastTick uint64     // the span of ticks on display

	moment     time.Duration
	starved    bool
	capturedAt time.Duration // when the sender captured what is on display
	hasState   bool          // a state is on display
	shownSeq   uint64        // number of the snapshot on display, of data that are not interpolated
}

func newScreen(s *frame.Schema, c endpoint.Cadence, h *frame.History, v Verifier, withPicture bool) screen {
	x := screen{cadence: c, history: h, verifier: v, withPicture: withPicture}
	if frame.IsCubes(s) {
		x.poses, x.restRows, x.errorUM = make([]cubePose, s.Rows), make([]cubeRow, s.Rows), make([]int64, s.Rows)
		x.moving = frame.NewRows(s.Rows)
		for i := range x.restRows {
			x.restRows[i][frame.CubeLargest] = noRow
		}
	}
	return x
}

// noRow in frame.CubeLargest makes a row that equals no cube's.
const noRow = -1

// snapshot is a frame of the receiver's history, if any.
type snapshot struct {
	entry *frame.Entry // nil: no frame
	tick  uint64
	at    time.Duration // of the tick
}

// window holds up to four snapshots around a moment, in order of time. Snapshots 1 and 2
// enclose the moment. Without snapshot 2 the display is starved; without snapshot 1 it has
// not begun.
type window [4]snapshot

// findWindow finds the snapshots around moment.
func (x *screen) findWindow(moment time.Duration) (w window) {
	newest, has := x.history.Newest()
	if !has {
		return w
	}
	at := x.cadence.SeqAt(moment)
	w[1] = x.snapshotOf(x.newestUpTo(min(at, newest))) // of any age
	if w[1].entry != nil && w[1].at == moment {
		w[2] = w[1]
		return w
	}
	w[2] = x.snapshotOf(x.oldestFrom(at+1, newest))
	if x.hermite && w[1].entry != nil && w[2].entry != nil {
		if seq := w[1].entry.Seq; seq > 0 {
			w[0] = x.snapshotOf(x.newestUpTo(seq - 1))
		}
		w[3] = x.snapshotOf(x.oldestFrom(w[2].entry.Seq+1, newest))
	}
	return w
}

func (x *screen) snapshotOf(e *frame.Entry) snapshot {
	if e == nil {
		return snapshot{}
	}
	tick := x.cadence.Tick(e.Seq)
	return snapshot{e, tick, x.cadence.TickTime(tick)}
}

// newestUpTo returns the newest untainted snapshot in the history with a number up to seq.
func (x *screen) newestUpTo(seq uint64) *frame.Entry {
	for n := 0; n <= x.history.Len(); n++ {
		if e := x.history.Get(seq); e != nil && !x.verifier.Tainted(e.Seq) {
			return e
		}
		if seq == 0 {
			return nil
		}
		seq--
	}
	return nil
}

// oldestFrom returns the oldest untainted snapshot in the history with a number from seq on.
func (x *screen) oldestFrom(seq, newest uint64) *frame.Entry {
	if reach := uint64(x.history.Len()); newest > reach {
		seq = max(seq, newest-reach)
	}
	for ; seq <= newest; seq++ {
		if e := x.history.Get(seq); e != nil && !x.verifier.Tainted(e.Seq) {
			return e
		}
	}
	return nil
}

// show displays moment. Where the truth is known, it adds the errors to m.
func (x *screen) show(moment time.Duration, t *Truths, m *meters.DisplayErrors) (starved bool) {
	w := x.findWindow(moment)
	x.moment, x.starved, x.truthKnown = moment, w[2].entry == nil, false
	x.wasExact, x.exact = x.exact, false
	x.capturedAt, x.shownSeq, x.hasState = x.captureTime(&w, moment)
	if x.poses == nil {
		return x.starved
	}
	b := newBlend(x, &w, moment)
	if b.a == nil {
		return x.starved
	}
	b.setTruth(t, &w, moment, x.cadence.TickHz)
	x.truthKnown = b.hasTruth
	if x.findMoving(&w, &b, t) {
		x.drawMoving(&b, m)
		return x.starved
	}
	for i := 0; i < len(x.poses); i++ {
		for !x.withPicture && b.hasTruth && i+blockRows <= len(x.poses) && b.blockAtRest(i) {
			i += blockRows
		}
		if i < len(x.poses) {
			x.drawCube(&b, i, m)
		}
	}
	return x.starved
}

// findMoving sets x.moved to the cubes that may move, and reports whether all others are at rest
// and right: the snapshots on both sides of the moment are known to equal the truth of their
// ticks, and the source did not change the cube between. For a picture, a cube must also be
// where it was drawn before.
func (x *screen) findMoving(w *window, b *blend, t *Truths) bool {
	x.exact = b.hasTruth && x.verifier.Exact(w[1].entry.Seq) && x.verifier.Exact(w[2].entry.Seq)
	since, until := b.firstTick, b.lastTick
	if x.withPicture {
		since, until = min(since, x.firstTick), max(until, x.lastTick) // a packet that is late makes the span shorter
	}
	x.firstTick, x.lastTick = b.firstTick, b.lastTick
	return x.exact && (x.wasExact || !x.withPicture) && t.changedBetween(since, until, x.moving)
}

// drawMoving draws the cubes in x.moved. All others are at rest and right.
func (x *screen) drawMoving(b *blend, m *meters.DisplayErrors) {
	if !b.sameTicks || x.withPicture {
		for i := range x.moving.All() {
			x.drawCube(b, i, m)
		}
		return
	}
	x.moving.Differing(b.truthBefore.Table, b.truthAfter.Table, frame.CubeFields)
	m.AddExact(x.moving.Count())
}

// captureTime returns when the sender captured what the display shows at moment; false if nothing
// is shown. Cubes are interpolated, so that is the moment itself, unless there is no snapshot to
// interpolate to: then the newest one stands still. Other data are shown as they were sent. seq
// is the snapshot that is shown, or the one before.
func (x *screen) captureTime(w *window, moment time.Duration) (at time.Duration, seq uint64, ok bool) {
	switch before, after := w[1].entry, w[2].entry; {
	case before == nil && after == nil:
		return 0, 0, false
	case before == nil:
		return w[2].at, after.Seq, true
	case after == nil || x.poses == nil:
		return w[1].at, before.Seq, true
	default:
		return moment, before.Seq, true
	}
}

// drawCube computes the place of cube i and its error.
func (x *screen) drawCube(b *blend, i int, m *meters.DisplayErrors) {
	from, to := cubeRowAt(b.a, i), cubeRowAt(b.b, i)
	still := frame.SameCube(from, to)
	exact, asleep := false, false
	if b.hasTruth {
		was, is := cubeRowAt(b.truthBefore, i), cubeRowAt(b.truthAfter, i)
		asleep = still && frame.SameCube(was, is) && frame.SameCube(was, from)
		exact = asleep || b.sameTicks && frame.SameCube(from, was) && frame.SameCube(to, is)
	}
	var p, q, truth cubePose
	if !exact || x.withPicture {
		x.placeCube(b, i, still, &p, &q)
	}
	x.errorUM[i] = 0
	switch {
	case !b.hasTruth || asleep:
	case exact:
		m.Add(0, 0)
	default:
		b.setTruePose(&truth, i, &p, &q)
		um, mdeg := poseError(&x.poses[i], &truth)
		x.errorUM[i] = um
		m.Add(um, mdeg)
	}
}

// placeCube computes the place of cube i on display, and p and q, its places in the two
// snapshots. still means that it does not move between them.
func (x *screen) placeCube(b *blend, i int, still bool, p, q *cubePose) {
	from, at := cubeRowAt(b.a, i), &x.poses[i]
	if still {
		if !frame.SameCube(&x.restRows[i], from) {
			at.setRow(from)
			x.restRows[i] = *from
		}
		*p, *q = *at, *at
		return
	}
	x.restRows[i][frame.CubeLargest] = noRow
	p.setRow(from)
	q.setRow(cubeRowAt(b.b, i))
	at.interpolate(p, q, b.weight)
	if b.curved {
		at.pos = b.spline.position(i, &b.frames)
	}
}
