package playout

import (
	"wirelab/dataset/frame"
	"wirelab/internal/ring"
)

// maxTruthFrames is the maximum number of frames that Truths stores, and maxTruthCells that of their values
// together, which is 256 MB. Errors of displays with a longer lag are not measured.
const maxTruthFrames, maxTruthCells = 1024, 1 << 26

// Truths stores the newest frames of the source, with which the displays of the receivers are
// compared: the displayed time is older than the sender's newest frame. It grows to the longest lag
// of a display and then allocates nothing.
type Truths struct {
	fields  int                       // of a row
	columns *Columns                  // interpolated columns of a table; nil without any
	frames  ring.Queue[*frame.Shared] // by tick
	loops   eventTicks                // restarts of the recording
	breaks  []*eventTicks             // by row: appearances, disappearances and jumps of its object; nil without any

	// changed[n%len(changed)] contains the rows that changed between ticks n-1 and n, also by less than a
	// step. They are stored longer than the frames.
	changed [64]frame.Rows
}

// NewTruths returns Truths without frames for a source with schema s.
func NewTruths(s *frame.Schema) Truths {
	return Truths{fields: len(s.Fields), columns: FindColumns(s), breaks: make([]*eventTicks, s.Rows)}
}

// Add stores the frame of the next tick, and the rows that changed in it. restarted means that the
// recording restarted before it. Frames of ticks before needed are dropped.
func (t *Truths) Add(f *frame.Shared, restarted bool, needed uint64) {
	tick := t.frames.Next()
	rows := &t.changed[tick%uint64(len(t.changed))]
	*rows = append((*rows)[:0], f.Changed...)
	if before := t.frames.At(tick - 1); before != nil {
		for i, v := range f.Residual {
			if v != (*before).Residual[i] {
				rows.Add(i / t.fields)
			}
		}
		if t.columns != nil && !restarted {
			t.addBreaks(tick, f, (*before).Table)
		}
	}
	if restarted {
		t.loops.add(tick)
	}
	maxFrames := min(maxTruthFrames, maxTruthCells/max(len(f.Table)+len(f.Residual), 1))
	for t.frames.Len() > 0 && (t.frames.First() < needed || t.frames.Len() >= maxFrames) {
		(*t.frames.At(t.frames.First())).Release()
		t.frames.Pop()
	}
	*t.frames.Push() = f.Retain()
}

// addBreaks records which objects appear, disappear or jump in frame f of the given tick. before is the
// table before it.
func (t *Truths) addBreaks(tick uint64, f *frame.Shared, before []int32) {
	for row := range f.Changed.All() {
		p := t.columns.partOf(row)
		if p == nil {
			continue
		}
		a, b := t.columns.rowOf(before, row), t.columns.rowOf(f.Table, row)
		if !t.columns.joins(p, a, b) && (p.isPresent(a) || p.isPresent(b)) {
			if t.breaks[row] == nil {
				t.breaks[row] = &eventTicks{}
			}
			t.breaks[row].add(tick)
		}
	}
}

// get returns the frame of a tick; nil if it is not stored.
func (t *Truths) get(tick uint64) *frame.Frame {
	f := t.frames.At(tick)
	if f == nil {
		return nil
	}
	return &(*f).Frame
}

// changedBetween sets rows to the rows that changed in the ticks after first, up to and including last.
// It returns false if those changes are not stored.
func (t *Truths) changedBetween(first, last uint64, rows frame.Rows) bool {
	if last >= t.frames.Next() || t.frames.Next()-first > uint64(len(t.changed)) {
		return false
	}
	rows.Clear()
	for tick := first + 1; tick <= last; tick++ {
		rows.Union(t.changed[tick%uint64(len(t.changed))])
	}
	return true
}

// eventTicks stores the newest ticks of an event. The zero value is empty.
type eventTicks struct {
	ticks [64]uint64 // number n is at n % len
	count uint64     // events so far
}

// add adds an event at a tick that is not before that of the event added last.
func (e *eventTicks) add(tick uint64) {
	e.ticks[e.count%uint64(len(e.ticks))] = tick
	e.count++
}

// between reports whether there was an event after tick from, up to and including tick to. If the answer is
// no longer stored, it returns true. A nil e has no events.
func (e *eventTicks) between(from, to uint64) bool {
	if e == nil {
		return false
	}
	stored := min(e.count, uint64(len(e.ticks)))
	for _, tick := range e.ticks[:stored] {
		if tick > from && tick <= to {
			return true
		}
	}
	if stored == e.count {
		return false // all events are stored
	}
	oldest := e.ticks[e.count%stored] // the ring is full: the next event would replace the oldest one
	return from < oldest
}
