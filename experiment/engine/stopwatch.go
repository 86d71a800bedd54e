package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// stopwatch is a lane's endpoint.Probe. It times the codec, and counts the changed
// rows of each frame to encode.
type stopwatch struct {
	clock   Clock
	schema  *frame.Schema
	start   int64
	ns      int64 // duration of the last call of the codec
	changed int   // rows that differed from the first reference
}

// Begin implements endpoint.Probe.
func (w *stopwatch) Begin(cur *frame.Frame, refs []encoders.Ref) {
	if cur != nil {
		switch base := &refs[0]; {
		case w.schema.Rows == 0:
			w.changed = len(cur.Body) // a body counts as changed as a whole
		case base.Changed != nil:
			w.changed = base.Changed.Count()
		default:
			w.changed = cur.ChangedRows(base.Frame, len(w.schema.Fields))
		}
	}
	w.start = w.clock.Now()
}

// End implements endpoint.Probe.
func (w *stopwatch) End() { w.ns = w.clock.Now() - w.start }

// Clock returns the time of this process since some fixed moment. It only measures
// how long work takes; no decision depends on it. A nil Clock measures nothing.
type Clock func() time.Duration

// Now returns the time in nanoseconds; 0 for a nil Clock.
func (c Clock) Now() int64 {
	if c == nil {
		return 0
	}
	return int64(c())
}
