package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// changes is the state of the changes of a session's configuration.
type changes struct {
	pending []pendingChange        // not yet applied, by time
	log     []config.StampedChange // applied, by time
	refused []refusal              // scripted changes that could not be applied
	undo    UndoSteps
}

// pendingChange is a change that is not due yet.
type pendingChange struct {
	config.StampedChange
	redo bool // was made later than the target of a backward seek; a new change discards it
}

// isSame reports whether a and b are the same scripted change, before and after it was applied: applying it
// converts the values of parameters. The user cannot make a change at exactly the nanosecond of a scripted
// one.
func isSame(a, b config.StampedChange) bool {
	return a.T == b.T && slices.Equal(a.Change.Keys(), b.Change.Keys())
}

// refusal is a scripted change that could not be applied when it was due, because an earlier change
// made it impossible. The session continues without it.
type refusal struct {
	config.StampedChange
	Why string `json:"why"`
}

// errNeedsRestart is returned for a change of a setting that is fixed for a run.
var errNeedsRestart = errors.New("needs a restart of the run: a script cannot change it")

// errEnded is returned for a change after the end of the session.
var errEnded = errors.New("the session has ended: its settings can no longer be changed")

// Change applies ch one nanosecond after the current time. All other events up to the current time
// have been handled then, so a replay can apply ch at exactly the same point. If ch cannot be
// applied, Change returns an error and has no effect.
func (s *Session) Change(ch config.Change) error { return s.change(ch, false) }

// change implements Change: it schedules ch for the next nanosecond and runs the session until then, so
// that ch is applied when change returns. undo means that ch reverts the newest undo step.
func (s *Session) change(ch config.Change, undo bool) error {
	if s.ended {
		return errEnded
	}
	if ch.Restarts() {
		return errNeedsRestart
	}
	if mark := ch.Mark(); mark != "" {
		ch = ch.WithMark(strings.TrimSpace(mark))
	}
	// ch is checked against the configuration after the pending changes that are applied before it.
	after, at := s.config, s.now+1
	i := 0
	for ; i < len(s.pending) && s.pending[i].T <= at; i++ {
		if next, _, err := s.tryChange(after, s.pending[i].Change); err == nil {
			after = next // otherwise the pending change is refused when it is due
		}
	}
	_, ch, err := s.tryChange(after, ch)
	if err != nil {
		return err
	}
	// Like in an editor, a new change discards the changes that a backward seek has left to be redone.
	s.pending = slices.DeleteFunc(s.pending, func(p pendingChange) bool { return p.redo && p.T > at })
	made := pendingChange{StampedChange: config.Stamp(at, ch)}
	made.Undo = undo
	s.pending = slices.Insert(s.pending, i, made)
	if err := s.RunUntil(at); err != nil {
		return err
	}
	if s.ended {
		return errEnded
	}
	return nil
}

// tryChange returns the configuration that results from applying ch to c, and the normal form of ch, in
// which the parameters of the encoder have the types of its codec. If ch contains only input, the results
// are c and ch. tryChange returns an error if ch cannot be applied. It modifies neither c nor ch.
func (s *Session) tryChange(c *config.Config, ch config.Change) (after *config.Config, normal config.Change, err error) {
	if len(ch.Inputs()) > 0 {
		if err := s.player.checkInput(s.config, ch); err != nil || ch.OnlyInput() {
			return c, ch, err
		}
	}
	if after, err = c.WithChange(ch); err != nil {
		return nil, normal, err
	}
	if after.Down != c.Down || after.Up != c.Up {
		if err := after.PinFiles(); err != nil { // reads the trace files of the new links
			return nil, normal, err
		}
	}
	err = s.checkEncoders(c, after)
	if err == nil { // CheckBudgets needs encoders that suit the data
		err = cmp.Or(s.checkNetwork(after), s.checkControl(after), CheckBudgets(c, after, s.schema, s.initial))
	}
	if err != nil {
		return nil, normal, err
	}
	return after, ch.Normalised(after), nil
}

// checkEncoders returns an error if an encoder of after that is not one of c cannot send the data.
func (s *Session) checkEncoders(c, after *config.Config) error {
	for i, e := range encodersOf(after) {
		if e.IsIn(encodersOf(c)) {
			continue // already running
		}
		if _, err := newEncoding(encoderKey(i), e, after, s.schema); err != nil {
			return err
		}
	}
	return nil
}

// newEncoding creates the encoder e of configuration c for frames of the given schema. key is the
// configuration key of e, for errors. It fails if e cannot encode such frames.
func newEncoding(key string, e config.Encoder, c *config.Config, schema *frame.Schema) (endpoint.Encoding, error) {
	codec, params, err := e.Resolve(key, c.Codecs)
	if err == nil {
		err = c.CheckSuits(key, codec, schema)
	}
	if err != nil {
		return endpoint.Encoding{}, err
	}
	encoding, err := endpoint.NewEncoding(schema, encoders.LocateFiles(codec, c.ResolvePath), params)
	return encoding, config.ErrorAt(key, err)
}

// loadScript queues the scripted changes of c in order of time. It returns an error if one of them
// cannot be applied after those before it.
func (s *Session) loadScript(c *config.Config) error {
	before := c
	for _, i := range c.ScriptOrder() {
		if c.At[i].FromFirstDatagram {
			return &config.Error{Key: config.Indexed("at", i) + ".from", Problem: "only a proxy has a first datagram",
				Expected: "no from, so that t counts from the start"}
		}
		ch := c.At[i].Change
		if ch.Restarts() {
			return config.Within(config.Indexed("at", i), config.ErrorAt(ch.Keys()[0], errNeedsRestart))
		}
		after, _, err := s.tryChange(before, ch)
		if err == nil {
			before, err = after, s.addScriptedEncodings(after)
		}
		if err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
		s.pending = append(s.pending, pendingChange{StampedChange: c.At[i]})
	}
	return nil
}

// Log returns the changes that were applied so far, including those of the script. The caller must
// not modify them.
func (s *Session) Log() []config.StampedChange { return slices.Clip(s.log) }

// Refused returns the scripted changes that could not be applied when they were due.
func (s *Session) Refused() []refusal { return s.refused }

// ReplayChanges queues the changes of another session's log, before the session begins. The first new
// change discards those later than t.
func (s *Session) ReplayChanges(made []config.StampedChange, t time.Duration) {
	s.pending = mergePending(made, s.pending, t)
}

// mergePending returns the pending changes of a restarted session by time: the changes made in the
// session before, and the scripted changes that are not among them. Changes made later than t that
// are not scripted are marked redo.
func mergePending(made []config.StampedChange, script []pendingChange, t time.Duration) []pendingChange {
	var out []pendingChange
	for _, c := range made {
		isScripted := slices.ContainsFunc(script, func(p pendingChange) bool { return isSame(p.StampedChange, c) })
		out = append(out, pendingChange{c, c.T > t && !isScripted})
	}
	for _, scripted := range script {
		if !slices.ContainsFunc(out, func(p pendingChange) bool { return isSame(p.StampedChange, scripted.StampedChange) }) {
			out = append(out, scripted)
		}
	}
	slices.SortStableFunc(out, func(a, b pendingChange) int { return cmp.Compare(a.T, b.T) })
	return out
}

// ManualConfig returns c, the configuration that the session was opened with, with all applied
// changes that are not scripted. A change that cannot be applied without a scripted one is left out.
func (s *Session) ManualConfig(c *config.Config) *config.Config {
	after := c.Clone()
	for _, made := range s.log {
		if slices.ContainsFunc(c.At, func(scripted config.StampedChange) bool { return isSame(scripted, made) }) {
			continue
		}
		if next, _, err := s.tryChange(after, made.Change); err == nil {
			after = next
		}
	}
	return after
}

// applyDue applies a change that is due at time at, and adds it to the log, the marks and the undo steps;
// a change of the encoder also begins a trial. If the change cannot be applied, applyDue records a refusal.
func (s *Session) applyDue(at time.Duration, sc config.StampedChange) {
	sc.T, sc.TS = at, at.Seconds()
	before := s.config
	after, normal, err := s.tryChange(before, sc.Change)
	if err != nil {
		s.refused = append(s.refused, refusal{sc, err.Error()})
		s.addMark(at, MarkNote, "refused: "+sc.Change.Label())
		return
	}
	sc.Change = normal
	s.log = append(s.log, sc)
	if len(normal.Inputs()) > 0 {
		s.player.apply(at, normal)
	}
	if normal.OnlyInput() { // input cannot be undone, and held keys get no mark
		if label := normal.SwitchesLabel(); label != "" {
			s.addMark(at, MarkChange, label)
		}
		return
	}
	s.config = after
	if err := s.reconfigure(at, before, normal.SetsEncoder()); err != nil {
		panic("engine: a change that was checked cannot be carried out: " + err.Error())
	}
	kind, label := s.undo.Add(before, after, &sc)
	if normal.Mark() != "" {
		kind = MarkNote
	}
	s.addMark(at, kind, label)
	s.startTrial(at, before, normal.TouchedKeys())
}

// reconfigure applies the difference between before, the configuration until now, and s.config to the lanes
// and their links. swaps means that the encoder was set; this begins an epoch even if it is the same encoder.
func (s *Session) reconfigure(at time.Duration, before *config.Config, swaps bool) error {
	if swaps {
		encoding, err := newEncoding("encoder", s.config.Encoder, s.config, s.schema)
		if err != nil {
			return err
		}
		s.lanes[0].snd.Request(encoding)
	}
	if err := s.updateShadows(); err != nil {
		return err
	}
	s.markEqualLanes(swaps)
	for _, l := range s.running {
		if err := l.reconfigure(at, before, s.config); err != nil {
			return err
		}
	}
	s.lanes[0].comparePlayouts(at)
	return nil
}

// maxMarks is the maximum number of marks. A recording that loops adds one at each restart.
const maxMarks = 2000

// addMark adds a mark. At maxMarks it drops the restarts of the recording among the older half of the
// marks, and then the oldest marks until at most three quarters of maxMarks are left. It makes a new
// slice for this, because snapshots share the old one.
func (s *Session) addMark(at time.Duration, kind MarkKind, label string) {
	if n := len(s.marks); n >= maxMarks {
		marks := make([]Mark, 0, maxMarks)
		for i, m := range s.marks {
			if i >= n/2 || m.Kind != MarkLoop {
				marks = append(marks, m)
			}
		}
		s.marks = marks[max(0, len(marks)-maxMarks*3/4):]
	}
	s.marks = append(s.marks, Mark{T: at, Label: label, Kind: kind})
}
