package experiment

import (
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// before is a run that another took the place of.
type before struct {
	config *config.Config // as it was set up
	made   []config.StampedChange
	at     time.Duration // how far it had come
	ended  config.Change // the change that ended it
}

// maxBefore bounds how many runs can be gone back to.
const maxBefore = 20

// change makes a change, by a run that begins anew if it takes one.
func (r *Runner) change(ch config.Change) error {
	if r.opt.Remote != nil {
		ch = alone(ch)
	}
	if !ch.Restarts() {
		return r.session.Change(ch)
	}
	was := before{r.config, r.session.Log(), r.session.Now(), ch}
	old, err := r.restart(ch)
	if err != nil {
		return err
	}
	r.befores = append(r.befores, was)
	r.befores = r.befores[max(0, len(r.befores)-maxBefore):]
	r.say(false, "the run begins anew: "+ch.Label())
	return old.Close()
}

// restart begins a run anew: as it was set up, with what was changed by hand since, and
// ch. The script runs again from its start. The caller closes old.
func (r *Runner) restart(ch config.Change) (old *engine.Session, err error) {
	now := r.session.ByHand(r.config).Clone()
	if err := now.Apply(ch); err != nil {
		return nil, err
	}
	return r.begin(now, nil, 0)
}

// begin replaces the session by one of c, which repeats the changes made until it has come
// to at. The caller closes old, the session before, once all is noted that belongs to the
// new one: an error of Close does not undo the replacement.
func (r *Runner) begin(c *config.Config, made []config.StampedChange, at time.Duration) (old *engine.Session, err error) {
	if r.opt.Remote != nil && at > 0 {
		return nil, errNoWay
	}
	was := r.config
	r.config = c
	s, err := r.open()
	if err != nil {
		r.config = was
		return nil, err
	}
	old = r.session
	r.session, r.refused = s, 0
	r.config.Adopt(s.StartConfig())
	r.opened, r.seeking, r.jump = nil, nowhere, false
	r.savedAtMost(0)
	r.rest, r.pace = rest{}, pace{}
	if at > 0 || len(made) > 0 {
		s.ReplayChanges(made, at)
		r.seeking = at
	}
	return old, nil
}

// undo takes back the last change: of this run, or else the one that it began with.
func (r *Runner) undo() (label string, err error) {
	was := r.session.Config().Clone()
	label, err = r.session.Undo()
	if err == nil {
		r.undone = append(r.undone, was.Undo(r.session.Config()))
	}
	n := len(r.befores)
	if !errors.Is(err, engine.ErrNothingToUndo) || n == 0 {
		return label, err
	}
	last := r.befores[n-1]
	old, err := r.begin(last.config, last.made, last.at)
	if err != nil {
		return "", err
	}
	r.befores, r.undone = r.befores[:n-1], append(r.undone, last.ended)
	return last.ended.Label(), old.Close()
}

// errNothingToRedo says that nothing was taken back, or that something was changed since.
var errNothingToRedo = errors.New("nothing to redo")

// redo makes the change again that was taken back last.
func (r *Runner) redo() (label string, err error) {
	n := len(r.undone)
	if n == 0 {
		return "", errNothingToRedo
	}
	ch, was := r.undone[n-1], r.session
	err = r.change(ch)
	if err == nil || r.session != was { // a new run began, even if the old one could not be closed
		r.undone = r.undone[:n-1]
	}
	return ch.Label(), err
}
