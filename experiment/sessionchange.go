package experiment

import (
	"errors"
	"time"
)

// Change applies ch one nanosecond after everything that has happened so far, so
// that a replay can put it at the very same place. It fails, and changes
// nothing, if the session cannot take it.
func (s *Session) Change(ch Change) error { return s.change(ch, false) }

func (s *Session) change(ch Change, undo bool) error {
	if s.ended {
		return errors.New("the session is over: nothing can be changed any more")
	}
	after := s.config.Clone()
	at := s.now + 1
	place := 0
	for ; place < len(s.pending) && s.pending[place].T <= at; place++ {
		if err := after.Apply(s.pending[place].Change); err != nil {
			return err
		}
	}
	if err := s.fits(after, ch); err != nil {
		return err
	}
	sc := stamp(at, ch)
	sc.undo = undo
	s.pending = append(s.pending[:place:place], append([]StampedChange{sc}, s.pending[place:]...)...)
	return s.RunUntil(at)
}

// fits checks ch against a configuration and against the data.
func (s *Session) fits(c *Config, ch Change) error {
	if err := c.Apply(ch); err != nil {
		return err
	}
	codec, _, err := c.Encoder.resolve("encoder")
	if err != nil {
		return err
	}
	if !codec.Suits(s.schema) {
		return &ConfigError{Key: "encoder", Problem: codec.Name + " cannot encode " + s.schema.Name, Expected: "an encoder that suits the data"}
	}
	return nil
}

// take applies a change now.
func (s *Session) take(at time.Duration, sc StampedChange) error {
	ch := sc.Change
	before := s.config.Clone()
	if err := s.fits(s.config, ch); err != nil {
		return err
	}
	if ch.Encoder != "" || len(ch.Params) > 0 {
		codec, params, err := s.config.Encoder.resolve("encoder")
		if err != nil {
			return err
		}
		if err := s.lanes[0].snd.request(at, encoding{codec, params}); err != nil {
			return err
		}
	}
	for _, l := range s.lanes {
		if err := l.down.Reshape(s.config.Down); err != nil {
			return err
		}
		if err := l.up.Reshape(s.config.Up); err != nil {
			return err
		}
		l.play.delay = s.config.Receiver.Playout
	}
	sc.T, sc.TS = at, at.Seconds()
	s.log = append(s.log, sc)
	kind := MarkChange
	if ch.Mark != "" {
		kind = MarkNote
	}
	s.marks = append(s.marks, Mark{T: at, Label: ch.Label(), Kind: kind})
	if !sc.undo {
		s.remember(before)
	}
	return nil
}

// maxUndo bounds how far back a session remembers its configurations.
const maxUndo = 100

func (s *Session) remember(before *Config) {
	if len(s.undo) == maxUndo {
		s.undo = append(s.undo[:0], s.undo[1:]...)
	}
	s.undo = append(s.undo, before)
}

// Undo takes back the last change that altered anything and was not taken back
// before, and returns the change that did so.
func (s *Session) Undo() (Change, error) {
	for len(s.undo) > 0 {
		before := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		if back := before.Undo(s.config); !back.IsZero() {
			return back, s.change(back, true)
		}
	}
	return Change{}, errors.New("nothing to undo")
}
