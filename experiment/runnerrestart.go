package experiment

import (
	"context"
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// earlierRun is a run that was replaced because a change needed a restart.
type earlierRun struct {
	config    *config.Config         // with which it was opened
	log       []config.StampedChange // changes made in it
	reachedAt time.Duration          // virtual time at its end
	endedBy   config.Change          // the change that needed the restart
}

// maxEarlierRuns is the maximum number of runs to which Undo can return.
const maxEarlierRuns = 20

// applyChange applies ch to the session, or starts a new run if ch needs a restart. Undo can return to the run
// that ends then. Over a network, ch is applied without its changes of shadows.
func (r *Runner) applyChange(ctx context.Context, ch config.Change) error {
	if r.opt.Remote != nil {
		ch = withoutShadows(ch)
	}
	if !ch.Restarts() {
		return r.session.Change(ch)
	}
	// The new run has the configuration of the current one, the changes that the user made since, and
	// ch. The script runs again from its start.
	next := r.session.ManualConfig(r.config).Clone()
	if err := next.Apply(ch); err != nil {
		return err
	}
	ended := earlierRun{r.config, r.session.Log(), r.session.Now(), ch}
	old, err := r.replaceSession(ctx, next, nil, 0)
	if err != nil {
		return err
	}
	r.earlierRuns = append(r.earlierRuns, ended)
	r.earlierRuns = r.earlierRuns[max(0, len(r.earlierRuns)-maxEarlierRuns):]
	r.notify(false, "run restarted: "+ch.Label())
	return old.Close()
}

// replaceSession replaces the session by a new session of c. The new session repeats the changes in log and
// runs to virtual time resumeAt without pacing; nil and 0 start it from the beginning. It also resets the state
// of the runner that belongs to the old session. It returns the old session, which the caller closes after
// updating its own state: an error of Close does not undo the replacement.
func (r *Runner) replaceSession(ctx context.Context, c *config.Config, log []config.StampedChange,
	resumeAt time.Duration) (old *engine.Session, err error) {
	if r.opt.Remote != nil && resumeAt > 0 { // the network cannot repeat its delays and losses
		return nil, errCannotRewind
	}
	previous := r.config
	r.config = c
	s, err := r.openSession(ctx)
	if err != nil {
		r.config = previous
		return nil, err
	}
	old = r.session
	r.session, r.refusalsShown = s, 0
	r.config.AdoptFit(s.StartConfig())
	r.inspectedPacket, r.seekTarget, r.isJump = nil, noSeek, false
	r.limitSaved(0)
	r.standing, r.measuredSpeed = pausedPackets{}, speedMeter{}
	if resumeAt > 0 || len(log) > 0 {
		s.ReplayChanges(log, resumeAt)
		r.seekTarget = resumeAt
	}
	return old, nil
}

// undo reverts the last change of this run. If no change of this run is left to undo, it reverts the change
// that started this run, by returning to the earlier run. It adds a change to r.undone that redo repeats, and
// returns a description of the reverted change.
func (r *Runner) undo(ctx context.Context) (label string, err error) {
	before := r.session.Config().Clone()
	label, err = r.session.Undo()
	if err == nil { // the change that leads from the new configuration back to before, for redo
		r.undone = append(r.undone, before.Undo(r.session.Config()))
	}
	n := len(r.earlierRuns)
	if !errors.Is(err, engine.ErrNothingToUndo) || n == 0 {
		return label, err
	}
	last := r.earlierRuns[n-1]
	old, err := r.replaceSession(ctx, last.config, last.log, last.reachedAt)
	if err != nil {
		return "", err
	}
	r.earlierRuns, r.undone = r.earlierRuns[:n-1], append(r.undone, last.endedBy)
	return last.endedBy.Label(), old.Close()
}

// errNothingToRedo is returned if no change was undone, or another change was made since.
var errNothingToRedo = errors.New("nothing to redo")

// redo repeats the change that was undone last, and returns its description.
func (r *Runner) redo(ctx context.Context) (label string, err error) {
	n := len(r.undone)
	if n == 0 {
		return "", errNothingToRedo
	}
	ch, session := r.undone[n-1], r.session
	err = r.applyChange(ctx, ch)
	if err == nil || r.session != session { // a new run began, even if the old one could not be closed
		r.undone = r.undone[:n-1]
	}
	return ch.Label(), err
}
