package ui

import (
	"time"

	"wirelab/experiment"
)

// past is the moment that the screen shows while somebody looks back. Time stands
// still meanwhile; what is shown is cut out of what the lab remembers, so that
// every pane shows the moment without knowing that it is over.
type past struct {
	away bool
	at   time.Duration // shown is what had been measured until then

	cut  *experiment.Snapshot // the picture last cut out, and what of
	from window
}

// window is a stretch of a session's memory; to is 0 if it reaches to the present.
type window struct {
	snap     *experiment.Snapshot
	from, to time.Duration
}

// How far one press goes.
const (
	glance = experiment.SamplePeriod
	stride = time.Second
)

// shown is the snapshot that the panes see: the newest, unless somebody looks back
// or the tour leaves away what was before it.
func (s *session) shown() *experiment.Snapshot {
	w := window{snap: s.snap, from: s.from}
	if s.past.away {
		w.to = s.past.at
	}
	if w.from == 0 && w.to == 0 {
		return s.snap
	}
	if s.past.cut == nil || s.past.from != w {
		s.past.cut, s.past.from = w.cut(), w
	}
	return s.past.cut
}

// look moves the moment that is shown by d; into the past it stops time.
func (s *session) look(d time.Duration) {
	at := s.snap.Now.Truncate(glance)
	if s.past.away {
		at = s.past.at
	} else if d > 0 {
		return // nothing comes after the present
	}
	s.lookAt(at + d)
}

// lookAt shows the moment t, as far as it is remembered.
func (s *session) lookAt(t time.Duration) {
	if s.snap.State == experiment.Running {
		s.pause(true)
	}
	if t >= s.snap.Now.Truncate(glance) {
		s.present()
		return
	}
	s.past.away, s.past.at = true, max(t, s.oldest())
	s.redraw()
}

// oldest is the first moment that can be looked back to.
func (s *session) oldest() time.Duration {
	if len(s.snap.Lanes) == 0 || len(s.snap.Lanes[0].Samples) == 0 {
		return s.snap.Now
	}
	return s.snap.Lanes[0].Samples[0].T
}

// present goes back to the newest.
func (s *session) present() {
	if s.past.away {
		s.past = past{}
		s.redraw()
	}
}

// lookMark shows the moment of the next mark on the way into the past (-1) or out
// of it (1).
func (s *session) lookMark(way int) {
	now := s.shown().Now
	marks := s.snap.Marks
	if way > 0 {
		for _, k := range marks {
			if at := markMoment(k); at > now {
				s.lookAt(at)
				return
			}
		}
		s.present()
		return
	}
	for i := len(marks) - 1; i >= 0; i-- {
		if at := markMoment(marks[i]); at < now && at > s.oldest() {
			s.lookAt(at)
			return
		}
	}
	s.say("no mark before this moment is remembered; m makes one", true)
}

// markMoment is a little after a mark, so that it is in sight with what it did.
func markMoment(k experiment.Mark) time.Duration {
	return (k.T + 2*stride).Truncate(glance)
}

// forward shows a tenth of a second more of the past; in the present it lets the
// lab do one more frame.
func (s *session) forward() {
	if s.past.away {
		s.look(glance)
		return
	}
	s.send(experiment.Command{Step: 1})
}
