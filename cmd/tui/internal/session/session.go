package session

import (
	"errors"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// Session connects the dashboard with the running experiment; see the package documentation.
type Session struct {
	lab     room.Lab
	Snap    *engine.Snapshot // the newest
	Ticks   int              // number of calls of Poll; there are 20 per second
	Pending pending          // requested settings
	Past    past             // the time cursor
	room.Notice
	reported reported
	From     time.Duration // samples before this time are not shown; used by the tour
	theme    *look.Theme   // formats the speed in notices
	redraw   func()        // called when the time cursor moved
}

// New returns a session with lab. redraw is called when the time cursor has moved.
func New(lab room.Lab, th *look.Theme, redraw func()) *Session {
	s := &Session{lab: lab, Snap: lab.Snapshot(), theme: th, redraw: redraw}
	s.reported.noticeID = s.Snap.Notice.ID
	s.showWarnings()
	return s
}

// Config returns the requested configuration.
func (s *Session) Config() *config.Config { return s.Pending.config(s.Snap) }

// Speed returns the requested speed of virtual time.
func (s *Session) Speed() float64 { return s.Pending.speed(s.Snap) }

// Poll reads the newest snapshot and returns the previous one.
func (s *Session) Poll() (before *engine.Snapshot) {
	s.Ticks++
	before = s.Snap
	s.Snap = s.lab.Snapshot()
	return before
}

// Sync sends pending changes, drops requested settings that the newest snapshot confirms, and shows new notices.
func (s *Session) Sync() {
	s.Flush()
	s.syncPast()
	s.Pending.dropConfirmed(s.Snap, s.Ticks)
	s.showReports()
	if s.Snap.Saving && !s.Visible() {
		s.Show("saving a report", room.ToneDim)
	}
}

// Send sends pending changes and then a command to the lab. If the lab's queue is full it shows a notice and
// returns false. Commands that let virtual time advance move the time cursor to the present. After an undo,
// a redo or a seek nothing is pending, because the resulting settings are not known in advance.
func (s *Session) Send(c live.Command) bool {
	if s.Past.Active && c.Toggle {
		c = live.Command{Pause: new(false)} // continue at the present
	}
	if c.Toggle || c.Step > 0 || c.Seek != nil || c.Pause != nil && !*c.Pause {
		s.ReturnToPresent() // these commands start at the present
	}
	if c.Return {
		s.leavePast()
	}
	if !s.Flush() || !s.lab.Do(c) {
		const isError = true
		s.Say(errBusy.Error(), isError)
		return false
	}
	if c.Undo || c.Redo || c.Seek != nil {
		s.Pending.forget()
	}
	return true
}

// errBusy means that the lab's queue of commands is full.
var errBusy = errors.New("the lab is busy; press again")

// Pause pauses virtual time if pause is set, and otherwise resumes it.
func (s *Session) Pause(pause bool) { s.Send(live.Command{Pause: &pause}) }

// SetSpeed requests a speed of virtual time.
func (s *Session) SetSpeed(v float64) {
	s.Pending.setSpeed(v, s.Ticks)
	s.Send(live.Command{Speed: &v})
}

// Flush sends the pending changes in order. It returns false if the lab's queue is full; the changes that
// were not sent stay pending.
func (s *Session) Flush() bool {
	for len(s.Pending.unsent) > 0 {
		ch := s.Pending.unsent[0]
		if !s.lab.Do(live.Command{Change: &ch}) {
			return false
		}
		s.Pending.unsent = s.Pending.unsent[1:]
	}
	return true
}

// RequestChange requests a change, which is sent with the next tick. The error is shown to the user.
func (s *Session) RequestChange(ch config.Change) error {
	return s.Pending.applyChange(s.Snap.Config, ch, s.Ticks)
}

// Do executes a command of the user and shows a notice about it. Changes are checked here against the
// requested configuration, so that errors are returned at once. A change of settings is sent with the next
// tick, combined with others; everything else is sent at once.
func (s *Session) Do(c live.Command) error {
	switch {
	case c == live.Command{}:
		return nil
	case c.Change != nil && len(c.Change.Inputs()) > 0:
		return s.doInput(c)
	case c.Change != nil && c.Change.Restarts():
		return s.doRestart(c)
	case c.Change != nil && len(c.Change.Shadows())+len(c.Change.ShadowsOff()) > 0:
		return s.doShadows(c)
	case c.Change != nil && c.Change.Mark() == "": // a mark is no setting
		if err := s.RequestChange(*c.Change); err != nil {
			return err
		}
		s.accept(c)
		return nil
	case c.Speed != nil:
		s.Pending.setSpeed(*c.Speed, s.Ticks)
	}
	s.accept(c)
	s.Send(c)
	return nil
}

// doInput sends input of the player. Input is not a setting, so it is not combined with other changes.
// Key presses show no notice, because there are many.
func (s *Session) doInput(c live.Command) error {
	if w := s.Snap.World; w == nil || !w.Live {
		return errors.New(strings.TrimPrefix(s.Snap.Config.Data.Source, "file:") +
			" is a recording and cannot be played; for a live world run tui --data world")
	}
	const isError = true
	isPaused, isPress := s.Snap.State == engine.Paused, c.Change.Text("press") != ""
	switch {
	case isPaused && isPress:
		return errors.New("the player does not move while time is paused; space continues")
	case isPaused:
		s.Say(c.Change.Label()+", when time continues", !isError)
	case !isPress:
		s.accept(c)
	}
	s.Send(c)
	return nil
}

// doRestart sends a change that restarts the run. The result is not known in advance, so nothing is
// pending afterwards.
func (s *Session) doRestart(c live.Command) error {
	if err := s.Config().Check(*c.Change); err != nil {
		return err
	}
	s.ReturnToPresent()
	s.accept(c)
	s.Send(c)
	s.Pending.forget()
	return nil
}

// doShadows sends a change of the shadows by itself. Combined with others, the removal and the addition
// of the same shadow would cancel out.
func (s *Session) doShadows(c live.Command) error {
	if !s.Flush() {
		return errBusy
	}
	if err := s.RequestChange(*c.Change); err != nil {
		return err
	}
	s.accept(c)
	s.Flush() // otherwise the next change would be combined with this one
	return nil
}

// accept shows a notice about a command, in place of the previous notice.
func (s *Session) accept(c live.Command) {
	const isError = true
	switch {
	case c.Change != nil && c.Change.Label() != "":
		s.Say(c.Change.Label(), !isError)
	case c.Speed != nil:
		s.Say("speed "+look.FormatSpeed(s.theme, *c.Speed), !isError)
	default: // the lab or the header shows the result
		s.Dismiss()
	}
}
