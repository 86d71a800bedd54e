package session

import (
	"time"

	"wirelab/experiment"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// past is the moment that is shown while somebody looks back. Time stands still
// meanwhile. The snapshot of the moment is cut out of what the lab remembers, so
// panes need not know that it is over.
type past struct {
	Away bool
	At   time.Duration // shown is what had been measured until then

	cut *engine.Snapshot // the picture last cut out, and what of
	of  window
}

// window is a stretch of a session's memory; to is 0 if it reaches to the present.
type window struct {
	snap     *engine.Snapshot
	from, to time.Duration
}

// How far one press goes.
const (
	Glance = meters.SamplePeriod
	Stride = time.Second
)

// Shown is the snapshot that the panes see: the newest, unless somebody looks back
// or the tour leaves away what was before it.
func (s *Session) Shown() *engine.Snapshot {
	w := window{snap: s.Snap, from: s.From}
	if s.Past.Away {
		w.to = s.Past.At
	}
	if w.from == 0 && w.to == 0 {
		return s.Snap
	}
	if s.Past.cut == nil || s.Past.of != w {
		s.Past.cut, s.Past.of = w.cut(), w
	}
	return s.Past.cut
}

// Look moves the moment that is shown by d; into the past it stops time.
func (s *Session) Look(d time.Duration) {
	at := s.Snap.Now.Truncate(Glance)
	if s.Past.Away {
		at = s.Past.At
	} else if d > 0 {
		return // nothing comes after the present
	}
	s.LookAt(at + d)
}

// LookAt shows the moment t, as far as it is remembered.
func (s *Session) LookAt(t time.Duration) {
	if s.Snap.State == engine.Running {
		s.Pause(true)
	}
	if t >= s.Snap.Now.Truncate(Glance) {
		s.Present()
		return
	}
	s.Past.Away, s.Past.At = true, max(t, s.oldest())
	s.redraw()
}

// oldest is the first moment that can be looked back to.
func (s *Session) oldest() time.Duration {
	if len(s.Snap.Lanes) == 0 || len(s.Snap.Lanes[0].Samples) == 0 {
		return s.Snap.Now
	}
	return s.Snap.Lanes[0].Samples[0].T
}

// Present goes back to the newest.
func (s *Session) Present() {
	if s.Past.Away {
		s.Past = past{}
		s.redraw()
	}
}

// LookMark shows the moment of the next mark on the way into the past (-1) or out
// of it (1).
func (s *Session) LookMark(way int) {
	now := s.Shown().Now
	marks := s.Snap.Marks
	if way > 0 {
		for _, k := range marks {
			if at := markMoment(k); at > now {
				s.LookAt(at)
				return
			}
		}
		s.Present()
		return
	}
	for i := len(marks) - 1; i >= 0; i-- {
		if at := markMoment(marks[i]); at < now && at > s.oldest() {
			s.LookAt(at)
			return
		}
	}
	s.Say("no mark before this moment is remembered; m makes one", true)
}

// markMoment is a little after a mark, so that it is in sight with what it did.
func markMoment(k engine.Mark) time.Duration {
	return (k.T + 2*Stride).Truncate(Glance)
}

// Forward shows a tenth of a second more of the past; in the present it lets the
// lab do one more frame.
func (s *Session) Forward() {
	if s.Past.Away {
		s.Look(Glance)
		return
	}
	s.Send(experiment.Command{Step: 1})
}
