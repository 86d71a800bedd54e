package playout

import (
	"wirelab/dataset/frame"
	"wirelab/internal/ring"
)

// maxTruthFrames bounds the frames that Truths keeps. Errors of displays that lag further are not
// measured.
const maxTruthFrames = 1024

// Truths keeps the source's newest frames, so that a display can be compared with the truth
// of the moment it shows. It grows to the longest lag of a display and then allocates
// nothing. The zero value is ready.
type Truths struct {
	frames    ring.Queue[*frame.Shared] // by tick
	loopTicks [64]uint64                // newest ticks that followed a seam
	loops     uint64                    // seams so far

	// The rows that changed from the tick before, of tick n at n % len. They are kept longer
	// than the frames.
	changed [64]frame.Rows
}

// Add stores the next tick's frame; seam: the recording restarted before it. Ticks before
// needed may be dropped.
func (t *Truths) Add(f *frame.Shared, restarted bool, needed uint64) {
	tick := t.frames.Next()
	if restarted {
		t.loopTicks[t.loops%uint64(len(t.loopTicks))] = tick
		t.loops++
	}
	for t.frames.Len() > 0 && (t.frames.First() < needed || t.frames.Len() == maxTruthFrames) {
		(*t.frames.At(t.frames.First())).Release()
		t.frames.Pop()
	}
	*t.frames.Push() = f.Keep()
	rows := &t.changed[tick%uint64(len(t.changed))]
	*rows = append((*rows)[:0], f.Changed...)
}

// get returns the frame of a tick; nil if it is not kept.
func (t *Truths) get(tick uint64) *frame.Frame {
	f := t.frames.At(tick)
	if f == nil {
		return nil
	}
	return &(*f).Frame
}

// changedBetween sets rows to the rows that may have changed with a tick after from, up to and
// including to. It returns false if that is not known.
func (t *Truths) changedBetween(from, to uint64, rows frame.Rows) bool {
	if to >= t.frames.Next() || t.frames.Next()-from > uint64(len(t.changed)) {
		return false
	}
	rows.Clear()
	for tick := from + 1; tick <= to; tick++ {
		rows.Union(t.changed[tick%uint64(len(t.changed))])
	}
	return true
}

// loopBetween reports whether a tick after from, up to and including to, followed a seam.
// Cubes do not move across a seam: they are reset.
func (t *Truths) loopBetween(from, to uint64) bool {
	kept := min(t.loops, uint64(len(t.loopTicks)))
	for i := range kept {
		if s := t.loopTicks[i]; s > from && s <= to {
			return true
		}
	}
	return kept < t.loops && from < t.loopTicks[t.loops%kept] // before the oldest seam kept, assume a seam
}
