package engine

import (
	"errors"
	"slices"
	"time"

	"wirelab/encoders/table"
	"wirelab/experiment/config"
)

// dragPeriod is the longest time between two changes of the same keys that belong to one undo step,
// so that one undo reverts a complete drag of a slider.
const dragPeriod = 600 * time.Millisecond

// maxUndo is the maximum number of steps.
const maxUndo = 100

// UndoSteps are the changes of a session or a crowd that Reverse can revert, oldest first.
type UndoSteps struct {
	list []undoStep
	last string        // keys of the newest change; "" if it was an undo
	at   time.Duration // when the newest change was made
}

// undoStep is a change that can be undone.
type undoStep struct {
	before *config.Config // configuration before the change
	label  string         // describes the change
}

// Add records made, a change from the configuration before to after, and returns its mark. A change that sets
// the same keys as the one before it within dragPeriod belongs to the same step, and one that alters nothing
// makes no step. An undo removes the newest step.
func (u *UndoSteps) Add(before, after *config.Config, made *config.StampedChange) (kind MarkKind, label string) {
	kind, label = MarkChange, made.Change.Label()
	keys, newest := made.Change.TouchedKeys(), len(u.list)-1
	dragged := keys == u.last && made.T-u.at < dragPeriod
	u.last, u.at = keys, made.T
	if made.Undo {
		u.last = ""
	}
	switch {
	case made.Undo && newest < 0: // the steps before were dropped
	case made.Undo:
		kind, label = MarkUndo, "undo "+u.list[newest].label
		u.list = u.list[:newest]
	case dragged && newest >= 0:
		u.list[newest].label = label
	case !after.SameLive(before):
		u.list = append(u.list[max(0, newest+2-maxUndo):], undoStep{before, label})
	}
	return kind, label
}

// ErrNothingToUndo is returned if no change is in effect that could be reverted.
var ErrNothingToUndo = errors.New("nothing to undo")

// Reverse returns the change that reverts the newest step in effect, and the description of that step. The
// change leads from now, the present configuration, to the one before the step; it is zero if no step is in
// effect. The step remains until Add records the change.
func (u *UndoSteps) Reverse(now *config.Config) (label string, reverse config.Change, err error) {
	for n := len(u.list); n > 0; n-- {
		step := u.list[n-1]
		if reverse = step.before.Undo(now); !reverse.IsZero() {
			return step.label, reverse, nil
		}
		u.list = u.list[:n-1] // without effect: the slider was dragged back to its old value
	}
	return "", nil, ErrNothingToUndo
}

// Undo makes a change that reverts the newest change in effect, and returns the description of the reverted
// change.
func (s *Session) Undo() (label string, err error) {
	label, reverse, err := s.undo.Reverse(s.config)
	if err != nil {
		return "", err
	}
	return label, s.change(reverse, true)
}

// replaceBrokenEncoder replaces a plugin encoder that broke its contract by the encoder before it or,
// if there was none, by the default one. It does so by an ordinary change one nanosecond later, so
// that the change is in the log and replays repeat it.
func (s *Session) replaceBrokenEncoder(at time.Duration) {
	l := s.lanes[0]
	broken, name := l.brokenCodec, s.config.Encoder.Name
	l.brokenCodec = ""
	swapsNext := func(p pendingChange) bool { return p.T == at+1 && p.Change.SetsEncoder() }
	if broken == "" || broken != name || slices.ContainsFunc(s.pending, swapsNext) {
		return // nothing broke, or another change already replaces the encoder
	}
	to := config.Encoder{Name: table.Default(s.schema)}
	for _, step := range slices.Backward(s.undo.list) { // find the newest encoder that is not the broken one
		if e := step.before.Encoder; e.Name != name {
			to = e
			break
		}
	}
	target := s.config.Clone()
	target.Encoder = to
	ch := target.Undo(s.config).WithMark(name + " broke: back to " + to.Name)
	s.pending = slices.Insert(s.pending, 0, pendingChange{StampedChange: config.Stamp(at+1, ch)})
}
