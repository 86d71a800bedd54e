package ui

import (
	"errors"
	"strings"
	"time"

	"wirelab/experiment"
)

// session is the running experiment as the dashboard drives it: the newest
// snapshot, the commands that are on their way, the moment that is shown and what
// there is to say of it all.
type session struct {
	lab     Lab
	snap    *experiment.Snapshot // the newest
	ticks   int
	sent    int // commands so far
	pending pending
	past    past
	note    notes
	from    time.Duration // what came before is not shown
	theme   *theme
	redraw  func() // another moment is to be shown
}

// newSession drives a lab. redraw is called when another moment is to be shown.
func newSession(lab Lab, th *theme, redraw func()) *session {
	s := &session{lab: lab, snap: lab.Snapshot(), theme: th, redraw: redraw}
	s.note.seen = s.snap.Notice.ID
	s.warn()
	return s
}

// config is the configuration as asked for.
func (s *session) config() *experiment.Config { return s.pending.config(s.snap) }

// speed is the pace of virtual time as asked for.
func (s *session) speed() float64 { return s.pending.pace(s.snap) }

// idle reports whether nothing was asked for since n commands were sent.
func (s *session) idle(n int) bool { return s.sent == n && s.pending.unsent.IsZero() }

// poll takes the newest snapshot, and returns the one before.
func (s *session) poll() (before *experiment.Snapshot) {
	s.ticks++
	before = s.snap
	s.snap = s.lab.Snapshot()
	return before
}

// settle hands over what waits, and takes up what the lab has to say.
func (s *session) settle() {
	s.flush()
	s.pending.settle(s.snap, s.ticks)
	s.hear()
}

// send hands a command to the lab, after any change that still waits.
func (s *session) send(c experiment.Command) {
	if c.Toggle || c.Step > 0 || c.Seek != nil || c.Pause != nil && !*c.Pause {
		s.present() // what is asked for begins there
	}
	s.sent++
	if !s.flush() || !s.lab.Do(c) {
		s.say(errBusy.Error(), true)
		return
	}
	if c.Undo || c.Seek != nil {
		s.pending.forget()
	}
}

// errBusy: the lab's queue of commands is full.
var errBusy = errors.New("the lab has its hands full; press again")

// pause stops time, or lets it go on.
func (s *session) pause(on bool) { s.send(experiment.Command{Pause: &on}) }

// setSpeed asks for another pace of virtual time.
func (s *session) setSpeed(v float64) {
	s.pending.askSpeed(v, s.ticks)
	s.send(experiment.Command{Speed: &v})
}

// flush hands over the changes gathered since the last tick; false if the lab
// had no room for them, in which case they stay.
func (s *session) flush() bool {
	if s.pending.unsent.IsZero() {
		return true
	}
	ch := s.pending.unsent
	if !s.lab.Do(experiment.Command{Change: &ch}) {
		return false
	}
	s.pending.unsent = experiment.Change{}
	return true
}

// ask asks for a change, which is handed over with the next tick. The error is for
// the person.
func (s *session) ask(ch experiment.Change) error { return s.pending.ask(s.snap.Config, ch, s.ticks) }

// do carries out a command, however it was given. Changes are checked here,
// against what was asked for before, so that a mistake is answered at once.
func (s *session) do(c experiment.Command) error {
	switch {
	case c == experiment.Command{}:
		return nil
	case c.Change != nil && c.Change.Input != nil:
		return s.doInput(c)
	case c.Change != nil && len(c.Change.Shadow)+len(c.Change.ShadowOff) > 0:
		return s.doShadows(c)
	case c.Change != nil && c.Change.Mark == "":
		if err := s.ask(*c.Change); err != nil {
			return err
		}
		s.accept(c)
		return nil
	case c.Speed != nil:
		s.pending.askSpeed(*c.Speed, s.ticks)
	}
	s.accept(c)
	s.send(c)
	return nil
}

// doInput hands over an input of whoever plays. It is no change of settings, so
// nothing waits for it; and a press, of which many come, is not announced.
func (s *session) doInput(c experiment.Command) error {
	if w := s.snap.World; w == nil || !w.Live {
		return errors.New(strings.TrimPrefix(s.snap.Config.Data.Source, "file:") + " is a recording: nobody can play it. The live world is tui --data world")
	}
	if c.Change.Input.Press == "" {
		s.accept(c)
	}
	s.send(c)
	return nil
}

// doShadows hands a change of the shadows over by itself, never gathered with
// others: one that joins, leaves and joins again is not what it was.
func (s *session) doShadows(c experiment.Command) error {
	if !s.flush() {
		return errBusy
	}
	if err := s.ask(*c.Change); err != nil {
		return err
	}
	s.accept(c)
	s.flush()
	return nil
}

// accept says in a few words what is being done, in place of what was said
// before it.
func (s *session) accept(c experiment.Command) {
	switch {
	case c.Change != nil && c.Change.Label() != "":
		s.say(c.Change.Label(), false)
	case c.Speed != nil:
		s.say("speed "+speedText(s.theme, *c.Speed), false)
	default: // the lab or the header will say
		s.dismiss()
	}
}
