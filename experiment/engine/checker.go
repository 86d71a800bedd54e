package engine

import (
	"context"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// checker checks whether sessions of many configurations, such as the points of a sweep, could
// begin. Configurations often share sources, encoders and links: the checker opens each source once, and
// does not repeat successful checks of encoders and trace files.
type checker struct {
	force         bool // Options.Force
	data          map[config.Data]*checkedData
	readableLinks map[lossmodel.Spec]bool // links whose trace files were read without error
}

// checkedData caches the results of checks for one source.
type checkedData struct {
	schema         *frame.Schema
	initial        *frame.Frame
	player         player
	usableEncoders map[string]bool // encoders that can send the source's frames, by name and parameters
}

// NewChecker returns a checker of sessions with Options.Force set to force.
func NewChecker(force bool) *checker {
	return &checker{force: force, data: map[config.Data]*checkedData{}, readableLinks: map[lossmodel.Spec]bool{}}
}

// Check returns the error with which NewSession would fail for c, or nil. c.Validate must have
// succeeded. For the first configuration with a data source, Check opens a session and stores the
// schema. Later ones are checked without opening the source; links and encoders that were found usable
// are not checked again.
func (k *checker) Check(ctx context.Context, c *config.Config) error {
	data := k.data[c.Data]
	if data == nil {
		s, err := NewSession(ctx, c, Options{Force: k.force})
		if err != nil {
			return err
		}
		k.data[c.Data] = &checkedData{schema: s.schema, initial: s.initial, player: player{source: s.player.source}, usableEncoders: map[string]bool{}}
		return s.Close()
	}
	c = c.Clone() // the checks fill in settings
	if !k.readableLinks[c.Down] || !k.readableLinks[c.Up] {
		down, up := c.Down, c.Up
		if err := c.PinFiles(); err != nil {
			return err
		}
		k.readableLinks[down], k.readableLinks[up] = true, true
	}
	if err := fitToSchema(c, data.schema, k.force); err != nil {
		return err
	}
	for i, e := range encodersOf(c) {
		name := fmt.Sprint(e.Name, e.Params)
		if data.usableEncoders[name] {
			continue
		}
		if _, err := newEncoding(encoderKey(i), e, c, data.schema); err != nil {
			return err
		}
		data.usableEncoders[name] = true
	}
	if err := CheckBudgets(nil, c, data.schema, data.initial); err != nil {
		return err
	}
	// Checking the script needs no more of a session than these fields.
	s := &Session{config: c, stream: stream{schema: data.schema, initial: data.initial}, player: data.player}
	return s.loadScript(c)
}

// fitToSchema fills in the settings of c that depend on the schema of the data. It returns an error
// if c cannot be used with the schema or, unless force is set, if the session needs too much memory.
func fitToSchema(c *config.Config, s *frame.Schema, force bool) error {
	if err := c.FitTo(s); err != nil {
		return err
	}
	if err := c.Normalise(); err != nil || force {
		return err
	}
	return checkMemory(c, s)
}

// maxMemory is the largest memory, in bytes, that the histories of a session may need unless
// Options.Force is set.
const maxMemory = 8 << 30

// checkMemory returns an error for a session whose histories would need more than maxMemory. Each
// lane has two histories, of the sender and of the receiver. They store frames with four bytes per
// value, and memos, which count if the encoder's parameters tell their size.
func checkMemory(c *config.Config, s *frame.Schema) error {
	lanes := slices.Concat([]config.Encoder{c.Encoder}, c.Shadows)
	stored := int64(len(lanes)) * int64(s.Cells()) * 4 // by all lanes for each frame
	memos := int64(0)                                  // part of stored
	for _, e := range lanes {
		// An error is ignored here: it is reported with its key when the encoder is created.
		if _, params, err := e.Resolve("encoder", c.Codecs); err == nil {
			if p, ok := params.(encoders.MemoSizer); ok {
				memos += int64(p.MemoSize())
			}
		}
	}
	stored += memos
	frames := int64(c.Sender.History + c.Receiver.History)
	if sent := int64(c.Duration.Seconds()*float64(c.Sender.RateHz)) + 1; c.Duration > 0 {
		frames = min(frames, 2*sent) // a short run does not fill the two histories
	}
	needed := frames * stored
	if needed <= maxMemory {
		return nil
	}
	// The error names what to reduce: the history, or the newest shadow if there is one.
	key := "sender.history"
	if n := len(c.Shadows); n > 0 {
		key = config.Indexed("shadow", n-1)
	}
	problem := fmt.Sprintf("needs about %d GB: %d encoders store %d frames of %d values each", needed>>30, len(lanes), frames, s.Cells())
	if memos > 0 {
		problem += fmt.Sprintf(", and for each frame %d KB that they have learnt", memos>>10)
	}
	return &config.Error{Key: key, Problem: problem,
		Expected: fmt.Sprintf("at most %d GB, for example sender.history and receiver.history of %d; or --force with tui run", maxMemory>>30,
			max(1, maxMemory/stored/2))}
}
