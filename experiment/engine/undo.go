package engine

import (
	"errors"
	"maps"
	"slices"
	"time"

	"wirelab/encoders/table"
	"wirelab/experiment/config"
)

// dragPeriod is the longest time between two changes of the same keys that belong to one undo step,
// so that one undo reverts a complete drag of a slider.
const dragPeriod = 600 * time.Millisecond

// maxUndo is the maximum number of undo steps.
const maxUndo = 100

// undoStep is a change that can be undone.
type undoStep struct {
	before *config.Config // configuration before the change
	label  string         // describes the change
}

// addUndoStep adds an undo step for sc, unless it belongs to the same drag as the change before, which means that
// it sets the same keys within dragPeriod, or altered nothing. before is the configuration before the change. If
// sc is itself an undo, addUndoStep removes the step that it reverted.
func (s *Session) addUndoStep(before *config.Config, sc *config.StampedChange) {
	touched := sc.Change.TouchedKeys()
	dragged := touched == s.lastKeys && sc.T-s.lastChangedAt < dragPeriod && len(s.undo) > 0
	s.lastKeys, s.lastChangedAt = touched, sc.T
	if sc.Undo {
		s.undo, s.lastKeys = s.undo[:max(0, len(s.undo)-1)], ""
		return
	}
	if dragged {
		s.undo[len(s.undo)-1].label = sc.Change.Label()
		return
	}
	if reverse := before.Undo(s.config); reverse.IsZero() {
		return
	}
	if len(s.undo) == maxUndo {
		s.undo = slices.Delete(s.undo, 0, 1)
	}
	s.undo = append(s.undo, undoStep{before, sc.Change.Label()})
}

// Undo schedules a change that reverts the newest change that is still in effect, and returns the
// description of the reverted change. The undo step remains until addUndoStep removes it, when the
// reverting change is applied. Undo returns errNothingToUndo if no change is in effect.
func (s *Session) Undo() (label string, err error) {
	for len(s.undo) > 0 {
		step := s.undo[len(s.undo)-1]
		// reverse is the change that leads from the current configuration to the one before the step.
		if reverse := step.before.Undo(s.config); !reverse.IsZero() {
			const isUndo = true
			return step.label, s.change(reverse, isUndo)
		}
		s.undo = s.undo[:len(s.undo)-1] // without effect: the slider was dragged back to its old value
	}
	return "", errNothingToUndo
}

// errNothingToUndo is returned by Undo if no change was made, or all changes were undone.
var errNothingToUndo = errors.New("nothing to undo")

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
	for _, step := range slices.Backward(s.undo) { // find the newest encoder that is not the broken one
		if e := step.before.Encoder; e.Name != name {
			to = e.Clone()
			break
		}
	}
	pairs := []any{"encoder", to.Name}
	for _, param := range slices.Sorted(maps.Keys(to.Params)) {
		pairs = append(pairs, "encoder.params."+param, to.Params[param])
	}
	ch := config.NewChange(pairs...).WithMark(name + " broke: back to " + to.Name)
	s.pending = slices.Insert(s.pending, 0, pendingChange{StampedChange: config.Stamp(at+1, ch)})
}
