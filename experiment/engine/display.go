package engine

import (
	"time"

	"wirelab/dataset/frame"
)

// Display is what both ends have of data that are neither cubes nor files: the newest frame at
// the sender, and the one that the receiver shows. It holds at most the first maxCells values and
// maxBody bytes of each.
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
	d := &Display{Sent: beginningOf(&s.cur.Frame)}
	l := s.lanes[0]
	if x := &l.screen; l.play.running && x.showing {
		d.Age, d.Starved = s.Now()-x.state, x.starved
		if e := x.history.Get(x.shown); e != nil {
			shown := beginningOf(&e.Frame)
			d.Shown = &shown
		}
	}
	return d
}

// beginningOf copies the beginning of a frame.
func beginningOf(f *frame.Frame) frame.Frame {
	return frame.Frame{Tick: f.Tick, Table: append([]int32(nil), f.Table[:min(len(f.Table), maxCells)]...),
		Body: append([]byte(nil), f.Body[:min(len(f.Body), maxBody)]...)}
}
