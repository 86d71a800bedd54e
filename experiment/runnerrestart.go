package experiment

import (
	"context"
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// earlierRun is a run that a restart replaced.
type earlierRun struct {
	config *config.Config // as it was set up
	made   []config.StampedChange
	at     time.Duration // how far it had come
	ended  config.Change // the change that ended it
}

// maxEarlier bounds how many runs Undo can return to.
const maxEarlier = 20

// change makes a change, by a new run if the change needs one.
func (r *Runner) change(ctx context.Context, ch config.Change) error {
	if r.opt.Remote != nil {
		ch = withoutShadows(ch)
	}
	if !ch.Restarts() {
		return r.session.Change(ch)
	}
	// The new run is set up as this one, with what was changed by hand since, and ch. The script
	// runs again from its start.
	now := r.session.ManualConfig(r.config).Clone()
	if err := now.Apply(ch); err != nil {
		return err
	}
	was := earlierRun{r.config, r.session.Log(), r.session.Now(), ch}
	old, err := r.begin(ctx, now, nil, 0)
	if err != nil {
		return err
	}
	r.earlier = append(r.earlier, was)
	r.earlier = r.earlier[max(0, len(r.earlier)-maxEarlier):]
	r.notify(false, "the run begins anew: "+ch.Label())
	return old.Close()
}

// begin replaces the session by one of c, which repeats the changes made until it has come to at.
// The caller closes old, the session before, once all is noted that belongs to the new one: an
// error of Close does not undo the replacement.
func (r *Runner) begin(ctx context.Context, c *config.Config, made []config.StampedChange, at time.Duration) (old *engine.Session, err error) {
	if r.opt.Remote != nil && at > 0 {
		return nil, errNoWay
	}
	was := r.config
	r.config = c
	s, err := r.open(ctx)
	if err != nil {
		r.config = was
		return nil, err
	}
	old = r.session
	r.session, r.refused = s, 0
	r.config.Adopt(s.StartConfig())
	r.opened, r.seeking, r.jump = nil, noSeek, false
	r.savedAtMost(0)
	r.standing, r.measured = standing{}, pace{}
	if at > 0 || len(made) > 0 {
		s.ReplayChanges(made, at)
		r.seeking = at
	}
	return old, nil
}

// undo takes back the last change of this run, or else the change that began it.
func (r *Runner) undo(ctx context.Context) (label string, err error) {
	was := r.session.Config().Clone()
	label, err = r.session.Undo()
	if err == nil {
		r.undone = append(r.undone, was.Undo(r.session.Config()))
	}
	n := len(r.earlier)
	if !errors.Is(err, engine.ErrNothingToUndo) || n == 0 {
		return label, err
	}
	last := r.earlier[n-1]
	old, err := r.begin(ctx, last.config, last.made, last.at)
	if err != nil {
		return "", err
	}
	r.earlier, r.undone = r.earlier[:n-1], append(r.undone, last.ended)
	return last.ended.Label(), old.Close()
}

// errNothingToRedo is returned if no change was undone, or another was made since.
var errNothingToRedo = errors.New("nothing to redo")

// redo makes the change again that was undone last.
func (r *Runner) redo(ctx context.Context) (label string, err error) {
	n := len(r.undone)
	if n == 0 {
		return "", errNothingToRedo
	}
	ch, was := r.undone[n-1], r.session
	err = r.change(ctx, ch)
	if err == nil || r.session != was { // a new run began, even if the old one could not be closed
		r.undone = r.undone[:n-1]
	}
	return ch.Label(), err
}
