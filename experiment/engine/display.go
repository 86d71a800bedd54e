package engine

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
)

// Display is what both ends have of data that are neither cubes nor files: the newest frame at
// the sender, and the one that the receiver shows. It holds at most the first maxCells values and
// maxBody bytes of each; all values where the schema says which are a place.
type Display struct {
	Sent    frame.Frame
	Shown   *frame.Frame  // nil before the display begins, and where it shows what is kept no more
	Age     time.Duration // since the sender captured what is shown
	Starved bool          // nothing newer has come
}

const maxCells, maxBody = 4096, 4096

// display returns what both ends have now; nil for cubes and files, and before the first frame.
func (s *Session) display() *Display {
	if s.cubes || s.delivers || s.ticks == 0 {
		return nil
	}
	cells := maxCells
	if slices.ContainsFunc(s.schema.Fields, func(f frame.Field) bool { return f.Hint.Role == frame.Place }) {
		cells = s.schema.Cells()
	}
	d := &Display{Sent: beginningOf(&s.cur.Frame, cells)}
	l := s.lanes[0]
	if x := &l.screen; l.play.running && x.showing {
		d.Age, d.Starved = s.Now()-x.state, x.starved
		if e := x.history.Get(x.shown); e != nil {
			shown := beginningOf(&e.Frame, cells)
			d.Shown = &shown
		}
	}
	return d
}

// beginningOf copies the beginning of a frame.
func beginningOf(f *frame.Frame, cells int) frame.Frame {
	return frame.Frame{Tick: f.Tick, Table: append([]int32(nil), f.Table[:min(len(f.Table), cells)]...),
		Body: append([]byte(nil), f.Body[:min(len(f.Body), maxBody)]...)}
}
