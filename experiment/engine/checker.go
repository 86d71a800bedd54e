package engine

import (
	"context"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// Checker finds out whether a session of each of many configurations could begin, without
// beginning them all: data are opened once, and what was checked is remembered.
type Checker struct {
	force bool // as in Options
	known map[config.Data]*checkedData
	links map[lossmodel.Spec]bool // whose files can be read
}

// checkedData is what is remembered of data.
type checkedData struct {
	schema *frame.Schema
	player player
	suits  map[string]bool // encoders with their params
}

// NewChecker returns a checker. force is as in Options.
func NewChecker(force bool) *Checker {
	return &Checker{force: force, known: map[config.Data]*checkedData{}, links: map[lossmodel.Spec]bool{}}
}

// Check returns why a session of c could not begin; nil if it could. c is valid by itself.
func (k *Checker) Check(ctx context.Context, c *config.Config) error {
	data := k.known[c.Data]
	if data == nil {
		s, err := NewSession(ctx, c, Options{Force: k.force})
		if err != nil {
			return err
		}
		k.known[c.Data] = &checkedData{schema: s.schema, player: player{source: s.player.source}, suits: map[string]bool{}}
		return s.Close()
	}
	c = c.Clone()
	if !k.links[c.Down] || !k.links[c.Up] {
		down, up := c.Down, c.Up
		if err := c.Pin(); err != nil {
			return err
		}
		k.links[down], k.links[up] = true, true
	}
	if err := fit(c, data.schema, k.force); err != nil {
		return err
	}
	for i, e := range encodersOf(c) {
		key := "encoder"
		if i > 0 {
			key = config.Indexed("shadow", i-1)
		}
		name := fmt.Sprint(e.Name, e.Params)
		if data.suits[name] {
			continue
		}
		if _, err := newEncoding(key, e, c, data.schema); err != nil {
			return err
		}
		data.suits[name] = true
	}
	s := &Session{config: c, stream: stream{schema: data.schema}, player: data.player}
	return s.loadScript(c)
}

// fit makes c fit data of that schema, or returns why it cannot.
func fit(c *config.Config, s *frame.Schema, force bool) error {
	if err := c.FitTo(s); err != nil {
		return err
	}
	if err := c.Normalise(); err != nil || force {
		return err
	}
	return affordable(c, s)
}

// maxMemory is the most memory in bytes that a session may be expected to take, unless it is
// forced.
const maxMemory = 8 << 30

// affordable returns an error for a session that would take more than MaxMemory: every lane
// keeps the frames of its two histories, four bytes a value.
func affordable(c *config.Config, s *frame.Schema) error {
	frames := int64(c.Sender.History + c.Receiver.History)
	if due := int64(c.Duration.Seconds()*float64(c.Sender.RateHz)) + 1; c.Duration > 0 {
		frames = min(frames, 2*due)
	}
	lanes := int64(1 + len(c.Shadows))
	need := lanes * frames * int64(s.Cells()) * 4
	if need <= maxMemory {
		return nil
	}
	fits := maxMemory / (lanes * int64(s.Cells()) * 4) / 2
	key := "sender.history"
	if n := len(c.Shadows); n > 0 {
		key = config.Indexed("shadow", n-1)
	}
	return &config.Error{Key: key,
		Problem: fmt.Sprintf("needs about %d GB: %d encoders that keep %d frames of %d values each", need>>30, lanes, frames, s.Cells()),
		Expected: fmt.Sprintf("at most %d GB, as with sender.history and receiver.history of %d; or --force for tui run", maxMemory>>30,
			max(1, fits))}
}
