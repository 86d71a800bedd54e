package playout

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
)

// screen displays the state at the source time of the playout clock. It interpolates cubes, and the
// positions and angles of tables, between the snapshots around that time in the receiver's history, and
// measures their errors against the source's frames of the same time.
type screen struct {
	cadence     endpoint.Cadence
	history     *frame.History // the receiver's
	verifier    Verifier
	hermite     bool // interpolate positions by a spline, not linearly
	withPicture bool // compute the pose of every cube; otherwise only of those that may have an error

	poses      []cubePose // displayed pose of each cube; nil if the schema has no cubes
	restRows   []cubeRow  // the row from which each pose was decoded; noRow if the cube was interpolated
	errorUM    []int64    // position error of each cube in micrometres
	truthKnown bool       // errorUM is valid

	columns *Columns // interpolated columns of a table; nil if nothing is interpolated

	moving              frame.Rows // cubes to compute on this tick, if findMoving returned true; rows of a table likewise
	exact               bool       // both snapshots of this tick are known to equal the source's frames
	wasExact            bool       // exact on the display tick before
	firstTick, lastTick uint64     // blend.firstTick and lastTick of the newest tick

	moment     time.Duration // displayed source time
	starved    bool          // there is no snapshot to interpolate to
	capturedAt time.Duration // when the sender captured the displayed state
	hasState   bool          // a state is displayed
	shownSeq   uint64        // the displayed snapshot, for data that are not interpolated
}

// newScreen returns a screen; the parameters are those of New.
func newScreen(s *frame.Schema, c endpoint.Cadence, h *frame.History, v Verifier) screen {
	x := screen{cadence: c, history: h, verifier: v}
	if frame.IsCubes(s) {
		x.poses, x.restRows, x.errorUM = make([]cubePose, s.Rows), make([]cubeRow, s.Rows), make([]int64, s.Rows)
		x.moving = frame.NewRows(s.Rows)
		for i := range x.restRows {
			x.restRows[i][frame.CubeLargest] = noRow
		}
		return x
	}
	x.columns = FindColumns(s)
	if x.columns != nil {
		x.moving = frame.NewRows(s.Rows)
	}
	return x
}

// noRow is a value of frame.CubeLargest that no cube has, so that the row differs from every cube's.
const noRow = -1

// snapshot is a frame of the receiver's history with its tick.
type snapshot struct {
	entry *frame.Entry // nil if there is no frame
	tick  uint64
	at    time.Duration // time of the tick
}

// snapshots are up to four snapshots around the displayed time, oldest first. That time is between
// snapshots 1 and 2. Without snapshot 2 the display is starved; without snapshot 1 it has not begun.
// Snapshots 0 and 3 are set only for the spline.
type snapshots [4]snapshot

// findWindow returns the snapshots around the displayed time moment, without hidden ones: snapshot 1 is
// the newest up to moment, 2 the oldest after it, and 0 and 3, which only the spline needs, the ones
// next to these. If a snapshot has exactly that time, it is both snapshot 1 and 2. Snapshots that do not
// exist stay zero.
func (x *screen) findWindow(moment time.Duration) (w snapshots) {
	newest, has := x.history.Newest()
	if !has {
		return w
	}
	seq := x.cadence.SeqAt(moment)
	w[1] = x.snapshotOf(x.newestUpTo(min(seq, newest))) // of any age: the display stands still at the newest one
	if w[1].entry != nil && w[1].at == moment {
		w[2] = w[1]
		return w
	}
	w[2] = x.snapshotOf(x.oldestFrom(seq+1, newest))
	if x.hermite && w[1].entry != nil && w[2].entry != nil {
		if seq := w[1].entry.Seq; seq > 0 {
			w[0] = x.snapshotOf(x.newestUpTo(seq - 1))
		}
		w[3] = x.snapshotOf(x.oldestFrom(w[2].entry.Seq+1, newest))
	}
	return w
}

// snapshotOf returns the snapshot of a history entry, which may be nil.
func (x *screen) snapshotOf(e *frame.Entry) snapshot {
	if e == nil {
		return snapshot{}
	}
	tick := x.cadence.Tick(e.Seq)
	return snapshot{e, tick, x.cadence.TickTime(tick)}
}

// newestUpTo returns the newest frame that is not hidden in the history with a sequence number of at
// most seq; nil if none exists. It tries as many sequence numbers as the history can hold.
func (x *screen) newestUpTo(seq uint64) *frame.Entry {
	for n := 0; n <= x.history.Len(); n++ {
		if e := x.history.Get(seq); e != nil {
			return e
		}
		if seq == 0 {
			return nil
		}
		seq--
	}
	return nil
}

// oldestFrom returns the oldest frame that is not hidden in the history with a sequence number from seq to
// newest; nil if none exists.
func (x *screen) oldestFrom(seq, newest uint64) *frame.Entry {
	if reach := uint64(x.history.Len()); newest > reach {
		seq = max(seq, newest-reach)
	}
	for ; seq <= newest; seq++ {
		if e := x.history.Get(seq); e != nil {
			return e
		}
	}
	return nil
}

// show displays the state at source time moment, and adds the errors of cubes, positions and angles to m
// if t has the source's frames of that time. It reports whether there is no snapshot to interpolate to.
func (x *screen) show(moment time.Duration, t *Truths, m *meters.DisplayErrors) (starved bool) {
	w := x.findWindow(moment)
	x.moment, x.starved, x.truthKnown = moment, w[2].entry == nil, false
	x.wasExact, x.exact = x.exact, false
	x.capturedAt, x.shownSeq, x.hasState = x.captureTime(&w, moment)
	if x.poses == nil && x.columns == nil {
		return x.starved
	}
	b := newBlend(x, &w, moment)
	if b.a == nil {
		return x.starved
	}
	b.setTruth(t, &w, moment, x.cadence.TickHz)
	if x.columns != nil {
		if b.hasTruth {
			x.addErrors(&w, &b, t, m)
		}
		return x.starved
	}
	x.truthKnown = b.hasTruth
	if x.findMoving(&w, &b, t) { // all cubes that are not in x.moving are at rest and without error
		x.updateMoving(&b, m)
		return x.starved
	}
	// Blocks of cubes at rest have no error, and without a picture no pose is needed.
	skipsBlocks := !x.withPicture && b.hasTruth
	for i := 0; i < len(x.poses); {
		if skipsBlocks && i+blockRows <= len(x.poses) && b.blockAtRest(i) {
			i += blockRows
			continue
		}
		x.updateCube(&b, i, m)
		i++
	}
	return x.starved
}

// findMoving sets x.moving to the cubes that may move, and reports whether all other cubes are known
// to be at rest and without error, so that they need no work: both snapshots of the tick equal the
// source's frames of their ticks, and the source did not change those cubes between the ticks of the
// blend. With a picture, they must also not have changed since the display tick before, because their
// displayed pose is not computed again.
func (x *screen) findMoving(w *snapshots, b *blend, t *Truths) bool {
	x.exact = b.hasTruth && x.verifier.Exact(w[1].entry.Seq) && x.verifier.Exact(w[2].entry.Seq)
	since, until := b.firstTick, b.lastTick
	if x.withPicture {
		since, until = min(since, x.firstTick), max(until, x.lastTick)
	}
	x.firstTick, x.lastTick = b.firstTick, b.lastTick
	return x.exact && (x.wasExact || !x.withPicture) && t.changedBetween(since, until, x.moving)
}

// updateMoving updates the cubes in x.moving; all others are at rest and without error. If the ticks
// of the snapshots are those of the source's frames, the moving cubes have no error either, and they
// are only counted.
func (x *screen) updateMoving(b *blend, m *meters.DisplayErrors) {
	if !b.sameTicks || b.unrounded || x.withPicture {
		for i := range x.moving.All() {
			x.updateCube(b, i, m)
		}
		return
	}
	// Keep only the cubes whose rows differ between the frames.
	x.moving.RemoveEqual(b.truthBefore.Table, b.truthAfter.Table, frame.CubeFields)
	m.AddExact(x.moving.Count())
}

// captureTime returns when the sender captured the state that is displayed at moment; ok is false if
// nothing is displayed. For cubes and tables interpolated between two snapshots the result is moment
// itself. For other data, and without a second snapshot, it is the time of the displayed snapshot. seq
// is the displayed snapshot or, for interpolated data, the one before moment.
func (x *screen) captureTime(w *snapshots, moment time.Duration) (at time.Duration, seq uint64, ok bool) {
	switch before, after := w[1].entry, w[2].entry; {
	case before == nil && after == nil:
		return 0, 0, false
	case before == nil:
		return w[2].at, after.Seq, true
	case after == nil || x.poses == nil && x.columns == nil:
		return w[1].at, before.Seq, true
	default:
		return moment, before.Seq, true
	}
}

// updateCube computes the displayed pose of cube i, if the error or the picture needs it, and adds its
// error to m, unless the cube is at rest in the snapshots and in the source's frames; see
// meters.DisplayErrors.
func (x *screen) updateCube(b *blend, i int, m *meters.DisplayErrors) {
	from, to := cubeRowAt(b.a, i), cubeRowAt(b.b, i)
	still := frame.EqualCubes(from, to) // in the snapshots
	exact, atRest := false, false       // the displayed pose has no error; the cube is at rest in all four frames
	if b.hasTruth {
		truthBefore, truthAfter := cubeRowAt(b.truthBefore, i), cubeRowAt(b.truthAfter, i)
		atRest = still && frame.EqualCubes(truthBefore, truthAfter) && frame.EqualCubes(truthBefore, from) &&
			b.sameResiduals(i*frame.CubeFields, (i+1)*frame.CubeFields)
		exact = atRest || b.sameTicks && !b.unrounded && frame.EqualCubes(from, truthBefore) && frame.EqualCubes(to, truthAfter)
	}
	var p, q, truth cubePose // poses in snapshots a and b, and in the source at the displayed time
	if !exact || x.withPicture {
		x.setPoses(b, i, still, &p, &q)
	}
	x.errorUM[i] = 0
	switch {
	case !b.hasTruth || atRest: // nothing to compare with, or not counted
	case exact:
		m.Add(0, 0) // no error, but the cube moves
	default:
		b.setTruePose(&truth, i, &p, &q)
		um, mdeg := poseError(&x.poses[i], &truth)
		x.errorUM[i] = um
		m.Add(um, mdeg)
	}
}

// setPoses sets the displayed pose of cube i, and sets p and q to its poses in the two snapshots. still
// means that the snapshots have the same row for the cube, which is then decoded only when it changes.
func (x *screen) setPoses(b *blend, i int, still bool, p, q *cubePose) {
	from, displayed := cubeRowAt(b.a, i), &x.poses[i]
	if still {
		if !frame.EqualCubes(&x.restRows[i], from) {
			displayed.setRow(from)
			x.restRows[i] = *from
		}
		*p, *q = *displayed, *displayed
		return
	}
	x.restRows[i][frame.CubeLargest] = noRow
	p.setRow(from)
	q.setRow(cubeRowAt(b.b, i))
	displayed.interpolate(p, q, b.weight)
	if b.curved {
		displayed.pos = b.spline.position(i, &b.frames)
	}
}
