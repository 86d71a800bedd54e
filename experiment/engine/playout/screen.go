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
	cadence  endpoint.Cadence
	history  *frame.History // the receiver's
	verifier Verifier
	hermite  bool       // interpolate positions by a spline, not linearly
	cubes    bool       // the frames are snapshots of cubes
	columns  *Columns   // interpolated columns of a table; nil if nothing is interpolated
	rows     int        // of a frame
	moving   frame.Rows // rows that may have an error on this tick
	differ   frame.Rows // buffer of findMoving

	moment     time.Duration // displayed source time
	starved    bool          // there is no snapshot to interpolate to
	capturedAt time.Duration // when the sender captured the displayed state
	hasState   bool          // a state is displayed
	shownSeq   uint64        // the displayed snapshot, for data that are not interpolated
}

// newScreen returns a screen; the parameters are those of New.
func newScreen(s *frame.Schema, c endpoint.Cadence, h *frame.History, v Verifier) screen {
	return screen{cadence: c, history: h, verifier: v, cubes: frame.IsCubes(s), columns: FindColumns(s), rows: s.Rows,
		moving: frame.NewRows(s.Rows), differ: frame.NewRows(s.Rows)}
}

// interpolates reports whether anything is interpolated, and has errors.
func (x *screen) interpolates() bool { return x.cubes || x.columns != nil }

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
	x.moment = moment
	x.starved = w[2].entry == nil
	x.capturedAt, x.shownSeq, x.hasState = x.captureTime(&w, moment)
	if !x.hasState || !x.interpolates() {
		return x.starved
	}
	b := newBlend(x, &w, moment)
	b.setTruth(t, &w, moment, x.cadence.TickHz)
	if b.hasTruth {
		isExact := x.findMoving(&w, &b, t)
		if isExact && x.cubes && b.sameTicks && !b.unrounded { // no cube has an error: those that move are only counted
			x.moving.RemoveEqual(b.truthBefore.Table, b.truthAfter.Table, frame.CubeFields)
			m.AddExact(x.moving.Count())
			return x.starved
		}
		x.addErrors(&b, t, m)
	}
	return x.starved
}

// findMoving sets x.moving to the rows that may have an error. If both snapshots are known to equal the
// source's frames of their ticks, these are the rows that the source changed between the ticks of the
// blend.
// It returns true if so.
func (x *screen) findMoving(w *snapshots, b *blend, t *Truths) (isExact bool) {
	isExact = x.verifier.Exact(w[1].entry.Seq) && x.verifier.Exact(w[2].entry.Seq)
	if isExact && t.changedBetween(b.firstTick, b.lastTick, x.moving) {
		return true
	}
	if !x.cubes || b.unrounded {
		for i := range x.rows {
			x.moving.Add(i)
		}
		return false
	}
	x.moving.SetDiffering(b.a.Table, b.b.Table, frame.CubeFields)
	for _, f := range [...]*frame.Frame{b.truthBefore, b.truthAfter} {
		x.differ.SetDiffering(b.a.Table, f.Table, frame.CubeFields)
		x.moving.Union(x.differ)
	}
	return false
}

// addErrors adds the errors of the rows in x.moving to m. b must have a truth.
func (x *screen) addErrors(b *blend, t *Truths, m *meters.DisplayErrors) {
	for row := range x.moving.All() {
		if !x.cubes {
			x.addRowErrors(row, b, t, m)
		} else if um, mdeg, moves := b.cubeError(row); moves {
			m.Add(um, mdeg)
		}
	}
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
	case after == nil || !x.interpolates():
		return w[1].at, before.Seq, true
	default:
		return moment, before.Seq, true
	}
}
