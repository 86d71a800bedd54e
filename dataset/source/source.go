// Package source is what all sources of data have in common: the interface of a
// source, and the description by which users open one.
package source

import (
	"context"
	"errors"
	"time"

	"wirelab/dataset/frame"
)

// ErrSpec: the specification of data makes no sense.
var ErrSpec = errors.New("bad data specification")

// Source makes frames, Schema().TickHz of them a second of virtual time.
type Source interface {
	// Schema describes the frames; it never changes.
	Schema() *frame.Schema
	// Initial fills f with the state that both ends are configured with:
	// frame 0 of a walk-off recording, the grid of the world.
	Initial(f *frame.Frame)
	// Next fills the caller's frame with the next one; io.EOF ends. For a
	// walk-off recording the first is frame 6, since frames 0..5 repeat the
	// initial state.
	Next(f *frame.Frame) error
}

// Seamed is a source that loops. Seam reports whether the frame that Next filled
// last is the first after a jump back to the beginning: a visible reset.
type Seamed interface {
	Seam() bool
}

// Tracked is a source that knows what changes from frame to frame. Changed returns the rows
// in which the frame that Next filled last may differ from the one before it; in front of the
// first comes the initial state. The set is valid until Next is called again.
type Tracked interface {
	Changed() frame.Rows
}

// Sized is a source that knows how many frames Next will fill before io.EOF or
// before it loops; 0 while it does not know yet (a compressed recording, before
// it was read to its end once).
type Sized interface {
	Frames() int
}

// Timed is a source that makes frames at times of their own, instead of TickHz a second.
// Its schema says so.
type Timed interface {
	// TickTime returns when frame n is made, counted from 0: later than the one before.
	TickTime(n uint64) time.Duration
	// TickAt returns the newest frame that is made at or before at, which is not negative.
	TickAt(at time.Duration) uint64
}

// Priced is a source of frames that a game has sent itself. Price tells what that took, for the
// frame that Next filled last.
type Priced interface {
	Price() Price
}

// Price is what a game's own coding spent on the state in a frame.
type Price struct {
	Bits int
	Base int // how many frames before this one the one lies that it is a difference to; 0: to none
	// Key says that Bits are of a whole state that whoever recorded put in place of a difference, to
	// be looked up: what the game sent nobody knows.
	Key bool
}

// Remarked is a source of which a person should know something: what was guessed, or left
// out.
type Remarked interface {
	Remarks() []string
}

// Options refine a specification of data.
type Options struct {
	// Cubes is how many cubes a frame of a recording holds; 0 means 901. The
	// demo and the world have 901 and take nothing else.
	Cubes int
	// Loop makes a recording start again at its end, instead of io.EOF. Seam
	// then reports the first frame of every further round.
	Loop bool
	// Seed drives what is random in generated data. Recordings ignore it.
	Seed uint64
	// Message is how many bytes of a text make a message; 0 means 500.
	Message int
	// Script names who plays the world; "" means "random". See world.Scripts.
	Script string
	// Context ends the wait for whoever writes into a pipe; nil: nothing does.
	Context context.Context
}

// Kind is one kind of data that a specification can name.
type Kind struct {
	Name    string   `json:"name"`    // the word before the colon
	Spec    string   `json:"spec"`    // how users write it
	Summary string   `json:"summary"` // one line: what it holds
	Source  string   `json:"source"`  // whom it follows
	Arg     Argument `json:"-"`
	// Open opens it; arg is what follows the colon.
	Open func(arg string, opt Options) (Source, error) `json:"-"`
}

// Argument says whether a kind takes something after a colon.
type Argument uint8

// The arguments.
const (
	NoArgument Argument = iota
	MayHaveArgument
	NeedsArgument
)

// Of returns src as a Source, or nil if there was an error: a nil pointer in an
// interface would not be nil.
func Of[S Source](src S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return src, nil
}
