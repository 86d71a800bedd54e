package experiment

import (
	"context"
	"errors"

	"wirelab/experiment/config"
)

// applyChange applies ch to the session, or starts a new run if ch needs a restart. Over a network, ch is applied
// without its changes of shadows.
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
	previous, old := r.config, r.session
	r.config = next
	s, err := r.openSession(ctx)
	if err != nil {
		r.config = previous
		return err
	}
	r.session, r.refusalsShown, r.undone = s, 0, nil
	r.config.AdoptFit(s.StartConfig())
	r.inspectedPacket, r.seekTarget, r.isJump = nil, noSeek, false
	r.limitSaved(0)
	r.standing, r.measuredSpeed = pausedPackets{}, speedMeter{}
	r.notify(false, "run restarted: "+ch.Label())
	return old.Close()
}

// undo reverts the last change of this run, and returns its description.
func (r *Runner) undo() (label string, err error) {
	before := r.session.Config().Clone()
	label, err = r.session.Undo()
	if err == nil { // redo repeats the change that leads from the new configuration back to before
		r.undone = append(r.undone, before.Undo(r.session.Config()))
	}
	return label, err
}

// errNothingToRedo is returned if no change was undone, or another change was made since.
var errNothingToRedo = errors.New("nothing to redo")

// redo repeats the change that was undone last, and returns its description.
func (r *Runner) redo() (label string, err error) {
	n := len(r.undone)
	if n == 0 {
		return "", errNothingToRedo
	}
	ch := r.undone[n-1]
	if err := r.session.Change(ch); err != nil {
		return ch.Label(), err
	}
	r.undone = r.undone[:n-1]
	return ch.Label(), nil
}
