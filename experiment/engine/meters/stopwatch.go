package meters

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// Stopwatch is a lane's drive.Probe. It times the codec, and counts the changed rows of
// each frame to encode.
type Stopwatch struct {
	NS      int64 // duration of the last call of the codec
	Changed int   // rows that differed from the first reference

	clock  wallclock.Clock
	schema *frame.Schema
	start  int64
}

// NewStopwatch returns a stopwatch for frames of a schema.
func NewStopwatch(c wallclock.Clock, s *frame.Schema) Stopwatch {
	return Stopwatch{clock: c, schema: s}
}

// Begin implements drive.Probe.
func (w *Stopwatch) Begin(cur *frame.Frame, refs []encoders.Ref) {
	if cur != nil {
		base := &refs[0]
		switch {
		case w.schema.Rows == 0:
			w.Changed = len(cur.Body) // a body counts as changed as a whole
		case base.Changed != nil:
			w.Changed = base.Changed.Count()
		default:
			w.Changed = cur.ChangedRows(base.Frame, len(w.schema.Fields))
		}
	}
	w.start = w.clock.Now()
}

// End implements drive.Probe.
func (w *Stopwatch) End() { w.NS = w.clock.Now() - w.start }
