package engine

import (
	"errors"
	"maps"
	"slices"
	"time"

	"wirelab/encoders/table"
	"wirelab/experiment/config"
)

// dragPeriod is how soon after a change another change of the same settings belongs to the same
// undo step. One undo takes back a whole drag of a slider.
const dragPeriod = 600 * time.Millisecond

// maxUndo is the most undo steps that a session keeps.
const maxUndo = 100

// undoStep is a change that can be undone.
type undoStep struct {
	before *config.Config // configuration before the change
	label  string         // the change in words
}

// remember adds an undo step for a change that altered something. An undo removes the step that
// it took back.
func (s *Session) remember(before *config.Config, sc *config.StampedChange) {
	touched := sc.Change.Touches()
	dragged := touched == s.touched && sc.T-s.touchedAt < dragPeriod && len(s.undo) > 0
	s.touched, s.touchedAt = touched, sc.T
	if sc.Undo {
		s.undo, s.touched = s.undo[:max(0, len(s.undo)-1)], ""
		return
	}
	if dragged {
		s.undo[len(s.undo)-1].label = sc.Change.Label()
		return
	}
	if back := before.Undo(s.config); back.IsZero() {
		return
	}
	if len(s.undo) == maxUndo {
		s.undo = slices.Delete(s.undo, 0, 1)
	}
	s.undo = append(s.undo, undoStep{before, sc.Change.Label()})
}

// Undo takes back the newest change that is still in effect. It returns that change in words.
func (s *Session) Undo() (label string, err error) {
	for len(s.undo) > 0 {
		step := s.undo[len(s.undo)-1]
		if back := step.before.Undo(s.config); !back.IsZero() {
			return step.label, s.change(back, true)
		}
		s.undo = s.undo[:len(s.undo)-1] // the slider was dragged back to where it began
	}
	return "", ErrNothingToUndo
}

// ErrNothingToUndo is returned if no change was made, or all were undone.
var ErrNothingToUndo = errors.New("nothing to undo")

// fallBack swaps an encoder from outside that broke its contract for the one before it, or for
// the default. This is a change like any other, an instant later, which a replay finds in its
// script.
func (s *Session) fallBack(at time.Duration) {
	l := s.lanes[0]
	broken, name := l.broken, s.config.Encoder.Name
	l.broken = ""
	swapped := func(p pendingChange) bool { return p.T == at+1 && p.Change.SetsEncoder() }
	if broken == "" || broken != name || slices.ContainsFunc(s.pending, swapped) {
		return
	}
	to := config.Encoder{Name: table.Default(s.schema)}
	for _, step := range slices.Backward(s.undo) {
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
