package session

import (
	"errors"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// Session is the running experiment as the dashboard drives it: the newest
// snapshot, the commands that are on their way, the moment that is shown and what
// there is to say of it all.
type Session struct {
	lab     room.Lab
	Snap    *engine.Snapshot // the newest
	Ticks   int
	Pending pending
	Past    past
	room.Notice
	reported reported
	From     time.Duration // what came before is not shown
	theme    *look.Theme
	redraw   func() // another moment is to be shown
}

// New drives a lab. redraw is called when another moment is to be shown.
func New(lab room.Lab, th *look.Theme, redraw func()) *Session {
	s := &Session{lab: lab, Snap: lab.Snapshot(), theme: th, redraw: redraw}
	s.reported.seen = s.Snap.Notice.ID
	s.warn()
	return s
}

// Config is the configuration as asked for.
func (s *Session) Config() *config.Config { return s.Pending.config(s.Snap) }

// Speed is the pace of virtual time as asked for.
func (s *Session) Speed() float64 { return s.Pending.pace(s.Snap) }

// Poll takes the newest snapshot, and returns the one before.
func (s *Session) Poll() (before *engine.Snapshot) {
	s.Ticks++
	before = s.Snap
	s.Snap = s.lab.Snapshot()
	return before
}

// Settle hands over what waits, and takes up what the lab has to say.
func (s *Session) Settle() {
	s.Flush()
	s.Pending.settle(s.Snap, s.Ticks)
	s.showReports()
}

// Send hands a command to the lab, after any change that still waits; false if the lab
// had no room for it.
func (s *Session) Send(c experiment.Command) bool {
	if c.Toggle || c.Step > 0 || c.Seek != nil || c.Pause != nil && !*c.Pause {
		s.Present() // what is asked for begins there
	}
	if !s.Flush() || !s.lab.Do(c) {
		s.Say(errBusy.Error(), true)
		return false
	}
	if c.Undo || c.Redo || c.Seek != nil {
		s.Pending.forget()
	}
	return true
}

// errBusy: the lab's queue of commands is full.
var errBusy = errors.New("the lab has its hands full; press again")

// Pause stops time, or lets it go on.
func (s *Session) Pause(on bool) { s.Send(experiment.Command{Pause: &on}) }

// SetSpeed asks for another pace of virtual time.
func (s *Session) SetSpeed(v float64) {
	s.Pending.askSpeed(v, s.Ticks)
	s.Send(experiment.Command{Speed: &v})
}

// Flush hands over the changes gathered since the last tick; false if the lab
// had no room for them, in which case they stay.
func (s *Session) Flush() bool {
	for len(s.Pending.unsent) > 0 {
		ch := s.Pending.unsent[0]
		if !s.lab.Do(experiment.Command{Change: &ch}) {
			return false
		}
		s.Pending.unsent = s.Pending.unsent[1:]
	}
	return true
}

// Ask asks for a change, which is handed over with the next tick. The error is for
// the person.
func (s *Session) Ask(ch config.Change) error { return s.Pending.ask(s.Snap.Config, ch, s.Ticks) }

// Do carries out a command, however it was given. Changes are checked here,
// against what was asked for before, so that a mistake is answered at once.
func (s *Session) Do(c experiment.Command) error {
	switch {
	case c == experiment.Command{}:
		return nil
	case c.Change != nil && c.Change.Input != nil:
		return s.doInput(c)
	case c.Change != nil && c.Change.Restarts():
		return s.doRestart(c)
	case c.Change != nil && (len(c.Change.Shadows) > 0 || len(c.Change.ShadowsOff) > 0):
		return s.doShadows(c)
	case c.Change != nil && c.Change.Mark == "":
		if err := s.Ask(*c.Change); err != nil {
			return err
		}
		s.accept(c)
		return nil
	case c.Speed != nil:
		s.Pending.askSpeed(*c.Speed, s.Ticks)
	}
	s.accept(c)
	s.Send(c)
	return nil
}

// doInput hands over a player's input. It is no setting, so it is not gathered
// with others. A press is not announced: many come.
func (s *Session) doInput(c experiment.Command) error {
	if w := s.Snap.World; w == nil || !w.Live {
		return errors.New(strings.TrimPrefix(s.Snap.Config.Data.Source, "file:") +
			" is a recording: nobody can play it. The live world is tui --data world")
	}
	if c.Change.Input == nil || c.Change.Input.Press == "" {
		s.accept(c)
	}
	s.Send(c)
	return nil
}

// doRestart hands over a change with which the run begins anew. What comes after it may
// be anything, so nothing is expected of it.
func (s *Session) doRestart(c experiment.Command) error {
	if err := s.Config().Check(*c.Change); err != nil {
		return err
	}
	s.Present()
	s.accept(c)
	s.Send(c)
	s.Pending.forget()
	return nil
}

// doShadows hands over a change of the shadows by itself. Were it gathered with
// others, a shadow that leaves and joins again would seem not to have left.
func (s *Session) doShadows(c experiment.Command) error {
	if !s.Flush() {
		return errBusy
	}
	now := s.Config()
	for _, e := range c.Change.Shadows {
		if !c.Change.SetsEncoder() && e.Same(now.Encoder, now.Codecs) {
			return errors.New(e.Text() + " is what runs: beside itself it would show nothing. Other params make a difference: " +
				"/shadow " + e.Name + " NAME=VALUE")
		}
	}
	if err := s.Ask(*c.Change); err != nil {
		return err
	}
	s.accept(c)
	s.Flush()
	return nil
}

// accept announces a command in place of the notice before.
func (s *Session) accept(c experiment.Command) {
	switch {
	case c.Change != nil && c.Change.Label() != "":
		s.Say(c.Change.Label(), false)
	case c.Speed != nil:
		s.Say("speed "+look.SpeedText(s.theme, *c.Speed), false)
	default: // the lab or the header will say
		s.Dismiss()
	}
}
