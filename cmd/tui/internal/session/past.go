package session

import (
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/live"
)

// past is the time cursor. While it is in the past, panes get the run at that time, which the lab repeats up to there.
// Until the lab has done so, and over a network, they get the samples of the newest snapshot up to that time.
type past struct {
	Active    bool          // the cursor is in the past
	At        time.Duration // the cursor, if Active
	requested time.Duration // the time that was requested from the lab last; 0 if none
	opened    int           // ID of the newest look back at a packet that moved the cursor

	cut       *engine.Snapshot // the snapshot that was made for cutWindow; nil if none was
	cutWindow window           // the window for which cut was made
}

// window is a period of a session's samples.
type window struct {
	snap *engine.Snapshot // contains the samples
	from time.Duration    // 0 means the start
	to   time.Duration    // 0 means the end
}

// The distances by which keys move the time cursor: a small step, one sample, and a large step.
const (
	SmallStep = meters.SamplePeriod
	LargeStep = time.Second
)

// Shown returns the snapshot to show: the newest or, while the time cursor is in the past, the run at the cursor.
// Samples before s.From are left out. The result is cached until one of these changes.
func (s *Session) Shown() *engine.Snapshot {
	w := window{snap: s.Snap, from: s.From}
	if repeated := s.Repeated(); repeated != nil {
		w.snap = repeated
	} else if s.Past.Active {
		w.to = s.Past.At
	}
	if w.from == 0 && w.to == 0 {
		return w.snap
	}
	if s.Past.cut == nil || s.Past.cutWindow != w {
		s.Past.cut, s.Past.cutWindow = w.snapshot(), w
	}
	return s.Past.cut
}

// Repeated returns the run at the time cursor as the lab has repeated it; nil if it has not, or at the present.
func (s *Session) Repeated() *engine.Snapshot {
	p := s.Snap.Past
	if !s.Past.Active || p == nil || p.Snap == nil || p.Snap.Now != s.Past.At {
		return nil
	}
	return p.Snap
}

// syncPast requests the run at the time cursor from the lab if the cursor has moved. If the lab has repeated the run
// for a packet that was opened, the cursor moves to that time.
func (s *Session) syncPast() {
	if p := s.Snap.Past; p != nil && p.Packet && p.Snap != nil && p.ID != s.Past.opened {
		s.Past.Active, s.Past.At, s.Past.requested, s.Past.opened = true, p.Snap.Now, p.Snap.Now, p.ID
		s.redraw()
	}
	overNetwork := s.Snap.To != ""
	if !s.Past.Active || overNetwork || s.Past.requested == s.Past.At {
		return
	}
	if at := s.Past.At; s.lab.Do(live.Command{At: &at}) {
		s.Past.requested = at
	}
}

// MoveCursor moves the time cursor by d.
func (s *Session) MoveCursor(d time.Duration) {
	at := s.Snap.Now.Truncate(SmallStep)
	if s.Past.Active {
		at = s.Past.At
	} else if d > 0 {
		s.sayAtPresent()
		return
	}
	s.MoveCursorTo(at + d)
}

// MoveCursorTo moves the time cursor to t, to the oldest moment that can be shown if t is before it, or to the present
// if t is not in the past.
func (s *Session) MoveCursorTo(t time.Duration) {
	if t >= s.Snap.Now.Truncate(SmallStep) {
		s.ReturnToPresent()
		return
	}
	if s.Past.Active && s.Past.At == s.oldest() && t < s.Past.At {
		s.Show("this is the oldest moment", room.ToneDim)
	}
	s.Past.Active, s.Past.At = true, max(t, s.oldest())
	s.redraw()
}

// sayAtPresent shows a notice that nothing is after the present.
func (s *Session) sayAtPresent() { s.Show("this is the present; < and b go back", room.ToneDim) }

// oldest returns the oldest time that can be shown: that of the first stored sample over a network, and otherwise that
// of the first sample period.
func (s *Session) oldest() time.Duration {
	if s.Snap.To == "" || len(s.Snap.Lanes[0].Samples) == 0 {
		return min(SmallStep, s.Snap.Now)
	}
	return s.Snap.Lanes[0].Samples[0].T
}

// ReturnToPresent moves the time cursor to the present, and cancels what the lab repeats.
func (s *Session) ReturnToPresent() {
	if s.Snap.Past != nil || s.Past.requested != 0 {
		s.lab.Do(live.Command{Return: true})
	}
	s.leavePast()
}

// leavePast moves the time cursor to the present.
func (s *Session) leavePast() {
	if s.Past.Active {
		s.Past = past{opened: s.Past.opened}
		s.redraw()
	}
}

// GoToPresent is ReturnToPresent with a notice if the time cursor is there already.
func (s *Session) GoToPresent() {
	if !s.Past.Active {
		s.sayAtPresent()
	}
	s.ReturnToPresent()
}

// MoveCursorToMark moves the time cursor to the previous mark (direction -1) or the next mark (1). After the last
// mark is the present; before the first stored mark it shows a notice.
func (s *Session) MoveCursorToMark(direction int) {
	cursor := s.Shown().Now
	marks := s.Snap.Marks
	if direction > 0 {
		for _, mark := range marks {
			if at := markTime(mark); at > cursor {
				s.MoveCursorTo(at)
				return
			}
		}
		s.GoToPresent()
		return
	}
	for i := len(marks) - 1; i >= 0; i-- {
		if at := markTime(marks[i]); at < cursor && at > s.oldest() {
			s.MoveCursorTo(at)
			return
		}
	}
	s.Show("there is no earlier mark; m sets one", room.ToneDim)
}

// markTime returns a time shortly after a mark, at which its effect is visible in the figures, which are
// means of two seconds.
func markTime(mark engine.Mark) time.Duration {
	return (mark.T + 2*LargeStep).Truncate(SmallStep)
}

// Forward moves the time cursor by SmallStep or, at the present, runs one more frame.
func (s *Session) Forward() {
	if s.Past.Active {
		s.MoveCursor(SmallStep)
		return
	}
	s.Send(live.Command{Step: 1})
}
