package experiment

import (
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
