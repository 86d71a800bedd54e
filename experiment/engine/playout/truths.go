package playout

import (
	"wirelab/dataset/frame"
	"wirelab/internal/ring"
)

// maxTruthFrames is the maximum number of frames that Truths stores, and maxTruthCells that of their values together, which
// is 256 MB. Errors of displays with a longer lag are not measured.
const maxTruthFrames, maxTruthCells = 1024, 1 << 26

// Truths stores the newest frames of the source, with which the displays of the receivers are
// compared: the displayed time is older than the sender's newest frame. It grows to the longest lag
// of a display and then allocates nothing.
type Truths struct {
	fields    int                       // of a row
	frames    ring.Queue[*frame.Shared] // by tick
	loopTicks [64]uint64                // newest ticks before which the recording restarted; number n is at n % len
	loops     uint64                    // restarts of the recording so far

	// changed[n%len(changed)] contains the rows that changed between ticks n-1 and n, also by less than a step. They are
	// stored longer than the frames.
	changed [64]frame.Rows
}

// NewTruths returns Truths without frames for a source with schema s.
func NewTruths(s *frame.Schema) Truths { return Truths{fields: len(s.Fields)} }

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
	}
	if restarted {
		t.loopTicks[t.loops%uint64(len(t.loopTicks))] = tick
		t.loops++
	}
	maxFrames := min(maxTruthFrames, maxTruthCells/max(len(f.Table)+len(f.Residual), 1))
	for t.frames.Len() > 0 && (t.frames.First() < needed || t.frames.Len() >= maxFrames) {
		(*t.frames.At(t.frames.First())).Release()
		t.frames.Pop()
	}
	*t.frames.Push() = f.Retain()
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

// loopBetween reports whether the recording restarted between ticks from and to. Cubes do not move
// across such a loop point; they jump. If the answer is no longer stored, it returns true.
func (t *Truths) loopBetween(from, to uint64) bool {
	stored := min(t.loops, uint64(len(t.loopTicks)))
	for i := range stored {
		if loopTick := t.loopTicks[i]; loopTick > from && loopTick <= to {
			return true
		}
	}
	if stored == t.loops {
		return false // all loop points are stored
	}
	oldest := t.loopTicks[t.loops%stored] // the ring is full: the next loop point would replace the oldest one
	return from < oldest
}
