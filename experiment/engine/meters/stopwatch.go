package meters

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// Stopwatch implements drive.Probe. It times the calls of an encoder or a decoder, and counts the
// changed rows of each frame to encode.
type Stopwatch struct {
	NS      int64 // duration of the calls since it was set to 0, in nanoseconds
	Changed int   // rows of the last frame that differed from its first reference; bytes for a body

	clock  wallclock.Clock
	schema *frame.Schema
	start  int64
}

// NewStopwatch returns a stopwatch for frames of schema s. With a nil clock all times are 0.
func NewStopwatch(c wallclock.Clock, s *frame.Schema) Stopwatch {
	return Stopwatch{clock: c, schema: s}
}

// Begin implements drive.Probe: it starts to measure a call of a codec. Before a call of an encoder, cur is
// the frame to encode and refs[0] its baseline, and Begin counts the rows that differ. Before a call of a
// decoder cur is nil.
func (w *Stopwatch) Begin(cur *frame.Frame, refs []encoders.Ref) {
	if cur != nil {
		base := &refs[0]
		switch {
		case w.schema.Rows == 0:
			w.Changed = len(cur.Body) // every byte of a body counts as changed
		case base.Changed != nil:
			w.Changed = base.Changed.Count()
		default:
			w.Changed = cur.ChangedRows(base.Frame, len(w.schema.Fields))
		}
	}
	w.start = w.clock.Now()
}

func (w *Stopwatch) End() { w.NS += w.clock.Now() - w.start }
