package engine

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// changes are the changes of a session's configuration, and what takes them back.
type changes struct {
	pending   []pendingChange        // not yet applied, by time
	log       []config.StampedChange // applied
	refused   []Refusal              // of the script, that could not be applied
	undo      []undoStep
	touched   string        // the settings that the last change altered; empty if an undo altered them
	touchedAt time.Duration // when
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

// Refusal is a scripted change that could not be applied when it was due, because of another
// change before it. The session continues without it.
type Refusal struct {
	config.StampedChange
	Why string `json:"why"`
}

// errRestarts refuses a change that needs a restart of the run.
var errRestarts = errors.New("the run must begin anew for that: a script cannot change it")

var errEnded = errors.New("the session is over: nothing can be changed any more")

// Change applies ch one nanosecond after the present time, so that a replay can apply it at
// exactly the same point. If ch cannot be applied, Change returns an error and has no effect.
func (s *Session) Change(ch config.Change) error { return s.change(ch, false) }

func (s *Session) change(ch config.Change, undo bool) error {
	if s.ended {
		return errEnded
	}
	if ch.Restarts() {
		return errRestarts
	}
	if mark := ch.Mark; mark != "" {
		ch = ch.WithMark(strings.TrimSpace(mark))
	}
	after, at := s.config, s.now+1
	i := 0
	for ; i < len(s.pending) && s.pending[i].T <= at; i++ {
		if next, _, err := s.tryChange(after, s.pending[i].Change); err == nil {
			after = next // a change that cannot be applied is refused when it is due
		}
	}
	_, ch, err := s.tryChange(after, ch)
	if err != nil {
		return err
	}
	s.pending = slices.DeleteFunc(s.pending, func(p pendingChange) bool { return p.redo && p.T > at })
	sc := pendingChange{StampedChange: config.Stamp(at, ch)}
	sc.Undo = undo
	s.pending = slices.Insert(s.pending, i, sc)
	if err := s.RunUntil(at); err != nil {
		return err
	}
	if s.ended {
		return errEnded
	}
	return nil
}

// tryChange returns the configuration after ch and the normal form of ch, or why ch cannot be
// applied. It modifies neither c nor ch.
func (s *Session) tryChange(c *config.Config, ch config.Change) (after *config.Config, normal config.Change, err error) {
	if ch.Input != nil {
		if err := s.player.check(s.config, ch); err != nil || ch.OnlyInput() {
			return c, ch, err
		}
	}
	if after, err = c.After(ch); err != nil {
		return nil, normal, err
	}
	if after.Down != c.Down || after.Up != c.Up {
		if err := after.Pin(); err != nil {
			return nil, normal, err
		}
	}
	if ch.SetsEncoder() {
		if _, err := newEncoding("encoder", after.Encoder, after, s.schema); err != nil {
			return nil, normal, err
		}
	}
	if err := s.checkShadows(c, after); err != nil {
		return nil, normal, err
	}
	if err := s.checkNetwork(after); err != nil {
		return nil, normal, err
	}
	return after, ch.Normal(after), nil
}

// newEncoding makes e, an encoder of c that stands at key, for data of that schema. It fails if
// the data cannot be sent with e.
func newEncoding(key string, e config.Encoder, c *config.Config, schema *frame.Schema) (endpoint.Encoding, error) {
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

// loadScript queues the scripted changes in order of time, and checks that each can be applied.
func (s *Session) loadScript(c *config.Config) error {
	then := c
	for _, i := range c.ScriptOrder() {
		ch := c.At[i].Change
		if ch.Restarts() {
			return config.Within(config.Indexed("at", i), config.ErrorAt(ch.Keys()[0], errRestarts))
		}
		after, _, err := s.tryChange(then, ch)
		if err == nil {
			then, err = after, s.noteScripted(after)
		}
		if err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
		s.pending = append(s.pending, pendingChange{StampedChange: c.At[i]})
	}
	return nil
}

// Log returns the changes that were made so far, including those of the script. The caller must
// not modify them.
func (s *Session) Log() []config.StampedChange { return slices.Clip(s.log) }

// Refused returns the scripted changes that could not be applied when they were due.
func (s *Session) Refused() []Refusal { return s.refused }

// ReplayChanges queues the changes made in another session, for a session that has not begun.
// Those made after t are discarded as soon as a new change is made.
func (s *Session) ReplayChanges(made []config.StampedChange, t time.Duration) {
	s.pending = upcoming(made, s.pending, t)
}

// upcoming returns the queue of a restarted session: the changes made until t, the rest of the
// script, and the changes made after t. The last are marked redo.
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

// ByHand returns c, the configuration that the session was opened with, after all changes that
// did not come from its script. A change that needs one of the script is left out.
func (s *Session) ByHand(c *config.Config) *config.Config {
	after := c.Clone()
	for _, made := range s.log {
		// Params are typed when they are applied, so scripted changes are recognised by their
		// time: nothing is changed by hand at the very moment of the script.
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
	if n := len(s.undo); sc.Undo && n > 0 { // links may have no name although a profile has the same
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
		if label := strings.Join(normal.Input.Switches(), ", "); label != "" {
			s.mark(at, MarkChange, label)
		}
		return
	}
	kind, label := MarkChange, normal.Label()
	switch {
	case normal.Mark != "":
		kind = MarkNote
	case sc.Undo && len(s.undo) > 0:
		kind, label = MarkUndo, "undo "+s.undo[len(s.undo)-1].label
	}
	s.mark(at, kind, label)
	if normal.SetsEncoder() {
		s.tryBefore(at, before, normal.Touches())
	}
	s.remember(before, &sc)
}

// carryOut makes the source, endpoints and links follow the configuration.
func (s *Session) carryOut(at time.Duration, ch config.Change) error {
	if in := ch.Input; in != nil {
		s.player.apply(at, in)
		if ch.OnlyInput() {
			return nil
		}
	}
	if ch.SetsEncoder() {
		run, err := newEncoding("encoder", s.config.Encoder, s.config, s.schema)
		if err != nil {
			return err
		}
		s.lanes[0].snd.Request(run)
	}
	if err := s.arrangeShadows(); err != nil {
		return err
	}
	for _, l := range s.running {
		if err := l.reconfigure(s.config); err != nil {
			return err
		}
	}
	return nil
}

// maxMarks bounds the marks: a recording that loops adds one each time.
const maxMarks = 2000

// mark adds a mark. If there are too many, the older restarts of the recording are dropped, or
// else the oldest marks. Snapshots keep the slice that they have.
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
