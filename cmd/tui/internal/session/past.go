package session

import (
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/live"
)

// past is the time cursor. While it is in the past, virtual time is paused and panes get a snapshot of
// the past, which is made from the history of the newest one.
type past struct {
	Active bool          // the cursor is in the past
	At     time.Duration // the cursor, if Active

	cut       *engine.Snapshot // the snapshot that was made for cutWindow; nil if none was
	cutWindow window           // the window for which cut was made
}

// window is a period of a session's history.
type window struct {
	snap *engine.Snapshot // the newest snapshot, which contains the history
	from time.Duration    // 0 means the start
	to   time.Duration    // 0 means the present
}

// The distances by which keys move the time cursor: a small step, one sample, and a large step.
const (
	SmallStep = meters.SamplePeriod
	LargeStep = time.Second
)

// Shown returns the snapshot to show: the newest or, while the time cursor is in the past, one with the state at
// the cursor. Samples before s.From are left out. The result is cached until one of these changes.
func (s *Session) Shown() *engine.Snapshot {
	w := window{snap: s.Snap, from: s.From}
	if s.Past.Active {
		w.to = s.Past.At
	}
	if w.from == 0 && w.to == 0 {
		return s.Snap
	}
	if s.Past.cut == nil || s.Past.cutWindow != w {
		s.Past.cut, s.Past.cutWindow = w.snapshot(), w
	}
	return s.Past.cut
}

// MoveCursor moves the time cursor by d. Moving into the past pauses virtual time.
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

// MoveCursorTo moves the time cursor to t, to the oldest stored time if t is before it, or to the present if t is
// not in the past. It pauses virtual time.
func (s *Session) MoveCursorTo(t time.Duration) {
	if s.Snap.Crowd != nil {
		const isError = true
		s.Say("a crowd keeps no history to look back at; /seek 00:05 runs it again from the start to a time", isError)
		return
	}
	if s.Snap.State == engine.Running {
		const pause = true
		s.Pause(pause)
	}
	if t >= s.Snap.Now.Truncate(SmallStep) {
		s.ReturnToPresent()
		return
	}
	if s.Past.Active && s.Past.At == s.oldest() && t < s.Past.At {
		const isError = true
		s.Say("this is the oldest stored moment", isError)
	}
	s.Past.Active, s.Past.At = true, max(t, s.oldest())
	s.redraw()
}

// sayAtPresent shows a notice that nothing is after the present.
func (s *Session) sayAtPresent() {
	const isError = true
	s.Say("this is the present; < and b go back", isError)
}

// oldest returns the oldest time with stored samples.
func (s *Session) oldest() time.Duration {
	if len(s.Snap.Lanes) == 0 || len(s.Snap.Lanes[0].Samples) == 0 {
		return s.Snap.Now
	}
	return s.Snap.Lanes[0].Samples[0].T
}

// ReturnToPresent moves the time cursor to the present.
func (s *Session) ReturnToPresent() {
	if s.Past.Active {
		s.Past = past{}
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
	const isError = true
	s.Say("no earlier mark is stored; m sets one", isError)
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
