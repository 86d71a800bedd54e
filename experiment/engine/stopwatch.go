package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// stopwatch is a lane's probe at one end: it times the codec, and counts the rows
// that the encoder finds changed.
type stopwatch struct {
	clock   Clock
	schema  *frame.Schema
	start   int64
	ns      int64 // the last work took
	changed int   // rows that differed from the first reference
}

// Begin implements endpoint.Probe.
func (w *stopwatch) Begin(cur *frame.Frame, refs []encoders.Ref) {
	if cur != nil {
		w.changed = cur.ChangedRows(refs[0].Frame, len(w.schema.Fields))
		if w.schema.Rows == 0 {
			w.changed = len(cur.Body) // what is nothing but bytes is all news
		}
	}
	w.start = w.clock.Now()
}

// End implements endpoint.Probe.
func (w *stopwatch) End() { w.ns = w.clock.Now() - w.start }

// Clock measures how long work takes in this process. It is injected: nothing
// that decides anything reads it, and a nil Clock measures nothing.
type Clock func() time.Duration

// Now returns the time in nanoseconds.
func (c Clock) Now() int64 {
	if c == nil {
		return 0
	}
	return int64(c())
}
