package engine

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// Change applies ch one nanosecond after the present time, so that a replay can apply
// it at exactly the same point. If ch cannot be applied, Change returns an error and
// has no effect.
func (s *Session) Change(ch config.Change) error { return s.change(ch, false) }

func (s *Session) change(ch config.Change, undo bool) error {
	if s.ended {
		return errOver
	}
	if ch.Restarts() {
		return ErrRestarts
	}
	if mark := ch.Mark(); mark != "" {
		ch = ch.WithMark(strings.TrimSpace(mark))
	}
	after := s.config
	at := s.now + 1
	place := 0
	for ; place < len(s.pending) && s.pending[place].T <= at; place++ {
		if next, _, err := s.tryChange(after, s.pending[place].Change); err == nil {
			after = next // one that cannot be applied is refused when it is due
		}
	}
	_, ch, err := s.tryChange(after, ch)
	if err != nil {
		return err
	}
	sc := pendingChange{StampedChange: config.Stamp(at, ch)}
	s.pending = slices.DeleteFunc(s.pending, func(p pendingChange) bool { return p.redo && p.T > at })
	sc.Undo = undo
	s.pending = append(s.pending[:place:place], append([]pendingChange{sc}, s.pending[place:]...)...)
	if err := s.RunUntil(at); err != nil {
		return err
	}
	if s.ended {
		return errOver
	}
	return nil
}

// ErrRestarts refuses a change that needs a restart of the run.
var ErrRestarts = errors.New("the run must begin anew for that: a script cannot change it")

var errOver = errors.New("the session is over: nothing can be changed any more")

// tryChange returns the configuration after ch and the normal form of ch, or why ch
// cannot be applied. It modifies neither c nor ch.
func (s *Session) tryChange(c *config.Config, ch config.Change) (after *config.Config, normal config.Change, err error) {
	if ch.Input() != nil {
		if err := s.playable(ch); err != nil || ch.OnlyInput() {
			return c, ch, err
		}
	}
	if after, err = c.After(ch); err != nil {
		return nil, nil, err
	}
	if after.Down != c.Down || after.Up != c.Up {
		if err := after.Pin(); err != nil {
			return nil, nil, err
		}
	}
	if ch.Has("encoder") {
		if err := s.suited("encoder", after.Encoder, after); err != nil {
			return nil, nil, err
		}
	}
	if err := s.checkShadows(c, after); err != nil {
		return nil, nil, err
	}
	if err := s.travels(after); err != nil {
		return nil, nil, err
	}
	return after, ch.Normal(after), nil
}

// suited says why the data of the session cannot be sent with e, an encoder of c; nil
// if they can.
func (s *Session) suited(key string, e config.Encoder, c *config.Config) error {
	_, err := encodingOf(key, e, c, s.schema)
	return err
}

// encodingOf makes e, an encoder of c that stands at key, for data of that schema.
func encodingOf(key string, e config.Encoder, c *config.Config, schema *frame.Schema) (endpoint.Encoding, error) {
	codec, params, err := e.Resolve(key, c.Codecs)
	if err == nil {
		err = c.Suits(key, codec, schema)
	}
	if err != nil {
		return endpoint.Encoding{}, err
	}
	run, err := endpoint.NewEncoding(schema, encoders.Located(codec, c.Find), params)
	return run, config.ErrorAt(key, err)
}

// pendingChange is a change that is not due yet.
type pendingChange struct {
	config.StampedChange
	redo bool // was made after the moment of a seek; a new change discards it
}

// same reports whether c is the pending change.
func (p *pendingChange) same(c config.StampedChange) bool {
	return p.T == c.T && reflect.DeepEqual(p.Change, c.Change)
}

// Log returns the changes that were made so far, those of the script included. The
// caller must not modify them.
func (s *Session) Log() []config.StampedChange { return s.log[:len(s.log):len(s.log)] }

// ReplayChanges queues the changes made in another session, for a session that has
// not begun. Those made after t are discarded as soon as a new change is made.
func (s *Session) ReplayChanges(made []config.StampedChange, t time.Duration) {
	s.pending = upcoming(made, s.pending, t)
}

// ByHand returns c, the configuration that the session was opened with, after all
// changes that did not come from its script. One that needs a change of the script is
// left out.
func (s *Session) ByHand(c *config.Config) *config.Config {
	after := c.Clone()
	for _, made := range s.log {
		// Params are typed when they are applied, so only the time tells; by hand, nothing
		// is changed at the very moment of the script.
		scripted := func(x config.StampedChange) bool { return x.T == made.T }
		if slices.ContainsFunc(c.At, scripted) {
			continue
		}
		if next, _, err := s.tryChange(after, made.Change); err == nil {
			after = next
		}
	}
	return after
}

// upcoming returns the queue of a restarted session: the changes made until t, the
// rest of the script, and the changes made after t. The last are marked redo.
func upcoming(made []config.StampedChange, script []pendingChange, t time.Duration) []pendingChange {
	var out []pendingChange
	for _, c := range made {
		redo := c.T > t && !slices.ContainsFunc(script, func(x pendingChange) bool { return x.same(c) })
		out = append(out, pendingChange{c, redo})
	}
	for _, x := range script {
		if !slices.ContainsFunc(out, func(c pendingChange) bool { return c.same(x.StampedChange) }) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b pendingChange) int { return cmp.Compare(a.T, b.T) })
	return out
}

// Refusal is a scripted change that could not be applied when it was due, because of
// another change before it. The session goes on without it.
type Refusal struct {
	config.StampedChange
	Why string `json:"why"`
}

// applyDue applies a change that is due, or records why it cannot.
func (s *Session) applyDue(at time.Duration, sc config.StampedChange) {
	sc.T, sc.TS = at, at.Seconds()
	before := s.config
	after, normal, err := s.tryChange(before, sc.Change)
	if err != nil {
		s.refused = append(s.refused, Refusal{sc, err.Error()})
		s.mark(at, MarkNote, "refused: "+sc.Change.Label())
		return
	}
	if n := len(s.undo); sc.Undo && n > 0 { // links may have no name although they are as some profile has them
		if was := s.undo[n-1].before; was.Down == after.Down && was.Up == after.Up {
			after.Profile = was.Profile
		}
	}
	s.config, sc.Change = after, normal
	if err := s.carryOut(at, normal); err != nil {
		panic("engine: a change that was checked cannot be carried out: " + err.Error())
	}
	s.log = append(s.log, sc)
	if normal.OnlyInput() {
		if label := strings.Join(normal.Switches(), ", "); label != "" {
			s.mark(at, MarkChange, label)
		}
		return
	}
	kind, label := MarkChange, normal.Label()
	switch {
	case normal.Mark() != "":
		kind = MarkNote
	case sc.Undo && len(s.undo) > 0:
		kind, label = MarkUndo, "undo "+s.undo[len(s.undo)-1].label
	}
	s.mark(at, kind, label)
	if normal.Has("encoder") {
		s.tryBefore(at, before, normal.Touches())
	}
	s.remember(before, &sc)
}

// maxMarks bounds the marks: data that loop give one each time.
const maxMarks = 2000

// mark adds a mark. When there are too many the old seams go, or else the oldest marks;
// snapshots keep the slice that they have.
func (s *Session) mark(at time.Duration, kind MarkKind, label string) {
	if n := len(s.marks); n >= maxMarks {
		kept := make([]Mark, 0, maxMarks)
		for i, m := range s.marks {
			if i >= n/2 || m.Kind != MarkSeam {
				kept = append(kept, m)
			}
		}
		s.marks = kept[max(0, len(kept)-maxMarks*3/4):]
	}
	s.marks = append(s.marks, Mark{T: at, Label: label, Kind: kind})
}

// carryOut makes endpoints and links follow the configuration.
func (s *Session) carryOut(at time.Duration, ch config.Change) error {
	if in := ch.Input(); in != nil {
		s.play(at, in)
		if ch.OnlyInput() {
			return nil
		}
	}
	if ch.Has("encoder") {
		run, err := encodingOf("encoder", s.config.Encoder, s.config, s.schema)
		if err != nil {
			return err
		}
		s.lanes[0].snd.Request(run)
	}
	if err := s.arrangeShadows(); err != nil {
		return err
	}
	for _, l := range s.running {
		if err := l.reshape(s.config); err != nil {
			return err
		}
	}
	return nil
}

// dragPeriod is how soon after a change another change of the same settings belongs
// to the same undo step. One undo takes back a whole drag of a slider.
const dragPeriod = 600 * time.Millisecond

// maxUndo is the most undo steps that a session keeps.
const maxUndo = 100

// remember adds an undo step for a change that altered something. An undo removes the
// step that it took back.
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
		s.undo = append(s.undo[:0], s.undo[1:]...)
	}
	s.undo = append(s.undo, undoStep{before, sc.Change.Label()})
}

// undoStep is a change that can be undone.
type undoStep struct {
	before *config.Config // configuration before the change
	label  string         // the change in words
}

// Undo takes back the newest change that is still in effect. It returns that change
// in words.
func (s *Session) Undo() (label string, err error) {
	if len(s.undo) == 0 {
		return "", ErrNothingToUndo
	}
	step := s.undo[len(s.undo)-1]
	back := step.before.Undo(s.config)
	if back.IsZero() { // the slider was dragged back to where it began
		s.undo = s.undo[:len(s.undo)-1]
		return s.Undo()
	}
	return step.label, s.change(back, true)
}

// ErrNothingToUndo says that no change was made, or that all were undone.
var ErrNothingToUndo = errors.New("nothing to undo")

// fallBack swaps an encoder from outside that broke for the one before it, or for the one to
// begin with: a change like any other, an instant later, that a replay finds in its script.
func (s *Session) fallBack(at time.Duration) {
	l := s.lanes[0]
	broke, name := l.broke, s.config.Encoder.Name
	l.broke = ""
	if broke == "" || broke != name || slices.ContainsFunc(s.pending, func(p pendingChange) bool {
		return p.T == at+1 && p.Change.Has("encoder")
	}) {
		return
	}
	to := config.Encoder{Name: table.Default(s.schema)}
	for i := len(s.undo) - 1; i >= 0; i-- {
		if e := s.undo[i].before.Encoder; e.Name != name {
			to = e.Clone()
			break
		}
	}
	pairs := []any{"encoder", to.Name}
	for _, param := range slices.Sorted(maps.Keys(to.Params)) {
		pairs = append(pairs, "encoder.params."+param, to.Params[param])
	}
	ch := config.NewChange(pairs...).WithMark(name + " broke: back to " + to.Name)
	s.pending = append([]pendingChange{{StampedChange: config.Stamp(at+1, ch)}}, s.pending...)
}
