package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// screen is the receiver's display. It takes the snapshots around the moment of the
// playout clock from the receiver's history and interpolates between them. The lab
// compares the result with the truth of the same moment, cube by cube.
type screen struct {
	cadence     endpoint.Cadence
	history     *frame.History // the receiver's
	taint       *taint         // damaged frames are not shown
	mode        config.Interpolation
	withPicture bool // compute every place; else only those that may be off

	places   []place   // on display, by cube; nil if the schema has no cubes
	restRows []cubeRow // the row behind each place, for cubes at rest
	off      []int64   // position error of each cube in micrometres
	known    bool      // off is valid

	moved        frame.Rows // the cubes that are to be drawn
	isRight      bool       // the snapshots on display are the source's
	wasRight     bool       // and so were those of the display tick before
	since, until uint64     // the span of ticks that are on display

	moment  time.Duration
	starved bool
	state   time.Duration // when the sender captured what is on display
	showing bool          // anything is on display
	shown   uint64        // number of the snapshot on display, of data that are not interpolated
}

func newScreen(s *frame.Schema, c endpoint.Cadence, h *frame.History, t *taint, looked bool) screen {
	x := screen{cadence: c, history: h, taint: t, withPicture: looked}
	if frame.IsCubes(s) {
		x.places, x.restRows, x.off = make([]place, s.Rows), make([]cubeRow, s.Rows), make([]int64, s.Rows)
		x.moved = frame.NewRows(s.Rows)
		for i := range x.restRows {
			x.restRows[i][frame.CubeLargest] = -1 // matches no row
		}
	}
	return x
}

// window holds up to four snapshots around a moment, in order of time. Entries 1 and
// 2 enclose the moment. Without entry 2 the display is starved; without entry 1 it
// has not begun.
type window struct {
	entry [4]*frame.Entry
	tick  [4]uint64
	at    [4]time.Duration
}

// around finds the snapshots around moment.
func (x *screen) around(moment time.Duration) (w window) {
	newest, has := x.history.Newest()
	if !has {
		return w
	}
	at := x.cadence.SeqAt(moment)
	w.set(1, x, x.down(min(at, newest))) // however long ago that is
	if w.entry[1] != nil && w.at[1] == moment {
		w.entry[2], w.tick[2], w.at[2] = w.entry[1], w.tick[1], w.at[1]
		return w
	}
	w.set(2, x, x.up(at+1, newest))
	if x.mode == config.Hermite && w.entry[1] != nil && w.entry[2] != nil {
		if seq := w.entry[1].Seq; seq > 0 {
			w.set(0, x, x.down(seq-1))
		}
		w.set(3, x, x.up(w.entry[2].Seq+1, newest))
	}
	return w
}

func (w *window) set(i int, x *screen, e *frame.Entry) {
	if w.entry[i] = e; e != nil {
		w.tick[i] = x.cadence.Tick(e.Seq)
		w.at[i] = x.cadence.TickTime(w.tick[i])
	}
}

// down returns the newest untainted snapshot in the history with a number up to seq.
func (x *screen) down(seq uint64) *frame.Entry {
	for n := 0; n <= x.history.Len(); n++ {
		if e := x.history.Get(seq); e != nil && !x.taint.has(e.Seq) {
			return e
		}
		if seq == 0 {
			return nil
		}
		seq--
	}
	return nil
}

// up returns the oldest untainted snapshot in the history with a number from seq on.
func (x *screen) up(seq, newest uint64) *frame.Entry {
	if reach := uint64(x.history.Len()); newest > reach {
		seq = max(seq, newest-reach)
	}
	for ; seq <= newest; seq++ {
		if e := x.history.Get(seq); e != nil && !x.taint.has(e.Seq) {
			return e
		}
	}
	return nil
}

// show displays moment. Where the truth is known, it adds the errors to m.
func (x *screen) show(moment time.Duration, t *truths, m *offMeter) (starved bool) {
	w := x.around(moment)
	x.moment, x.starved, x.known = moment, w.entry[2] == nil, false
	x.wasRight, x.isRight = x.isRight, false
	x.state, x.shown, x.showing = x.captured(&w, moment)
	if x.places == nil {
		return x.starved
	}
	b := newBlend(x, &w, moment)
	if b.a == nil {
		return x.starved
	}
	b.setTruth(t, &w, moment, x.cadence.TickHz)
	x.known = b.hasTruth
	if x.atRest(&w, &b, t) {
		x.drawMoved(&b, m)
		return x.starved
	}
	for i := 0; i < len(x.places); i++ {
		for !x.withPicture && b.hasTruth && i+blockRows <= len(x.places) && b.atRest(i) {
			i += blockRows
		}
		if i < len(x.places) {
			x.draw(&b, i, m)
		}
	}
	return x.starved
}

// atRest reports whether all cubes but x.moved, which it sets, are at rest and right. That is
// so if the snapshots on both sides of the moment are known to equal the truth of their ticks,
// and the source did not change the cube between. For a picture, it must be where it was drawn
// before, too.
func (x *screen) atRest(w *window, b *blend, t *truths) bool {
	x.isRight = b.hasTruth && x.taint.exact(w.entry[1].Seq) && x.taint.exact(w.entry[2].Seq)
	since, until := b.since, b.until
	if x.withPicture {
		since, until = min(since, x.since), max(until, x.until) // a packet that is late makes the span shorter
	}
	x.since, x.until = b.since, b.until
	return x.isRight && (x.wasRight || !x.withPicture) && t.changedIn(since, until, x.moved)
}

// drawMoved is draw for all cubes, of which none but x.moved may move.
func (x *screen) drawMoved(b *blend, m *offMeter) {
	if !b.same || x.withPicture {
		for i := range x.moved.All() {
			x.draw(b, i, m)
		}
		return
	}
	x.moved.Differing(b.truthBefore.Table, b.truthAfter.Table, frame.CubeFields)
	m.addRight(x.moved.Count())
}

// captured returns when the sender captured what the display shows at moment. Cubes are
// interpolated, so that is the moment itself, unless there is nothing to interpolate to: then the
// newest snapshot stands still. Other data are shown as they were sent. seq is the snapshot that
// is shown, or the one before.
func (x *screen) captured(w *window, moment time.Duration) (at time.Duration, seq uint64, ok bool) {
	switch before, after := w.entry[1], w.entry[2]; {
	case before == nil && after == nil:
		return 0, 0, false
	case before == nil:
		return w.at[2], after.Seq, true
	case after == nil || x.places == nil:
		return w.at[1], before.Seq, true
	default:
		return moment, before.Seq, true
	}
}

// draw computes the place of cube i and its error.
func (x *screen) draw(b *blend, i int, m *offMeter) {
	from, to := rowOf(b.a, i), rowOf(b.b, i)
	still := frame.SameCube(from, to)
	exact, asleep := false, false
	if b.hasTruth {
		was, is := rowOf(b.truthBefore, i), rowOf(b.truthAfter, i)
		asleep = still && frame.SameCube(was, is) && frame.SameCube(was, from)
		exact = asleep || b.same && frame.SameCube(from, was) && frame.SameCube(to, is)
	}
	var p, q, truth place
	if !exact || x.withPicture {
		x.placeCube(b, i, still, &p, &q)
	}
	x.off[i] = 0
	switch {
	case !b.hasTruth || asleep:
	case exact:
		m.add(0, 0)
	default:
		b.truthOf(&truth, i, &p, &q)
		um, mdeg := apart(&x.places[i], &truth)
		x.off[i] = um
		m.add(um, mdeg)
	}
}

// placeCube computes the place of cube i, and p and q, those in the two snapshots. still says
// that it does not move between them.
func (x *screen) placeCube(b *blend, i int, still bool, p, q *place) {
	from, at := rowOf(b.a, i), &x.places[i]
	if still {
		if !frame.SameCube(&x.restRows[i], from) {
			at.set(from)
			x.restRows[i] = *from
		}
		*p, *q = *at, *at
		return
	}
	x.restRows[i][frame.CubeLargest] = -1
	p.set(from)
	q.set(rowOf(b.b, i))
	at.lerp(p, q, b.share)
	if b.curved {
		at.pos = b.spline.position(i, &b.frames)
	}
}
