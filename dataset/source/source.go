// Package source is what all sources of data have in common: the interfaces of a source, the
// description by which users open one, the opening of files and the errors about them.
package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
)

// ErrSpec: a specification of data that cannot be understood.
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

// Priced is a source of frames that a game has sent itself. Price returns what the game spent on
// the frame that Next filled last.
type Priced interface {
	Price() Price
}

// Price is what a game's own coding spent on the state in a frame.
type Price struct {
	Bits int
	Base int // the age in frames of the frame that it is a difference to; 0: no difference
	// Key: Bits are of a whole state that the recorder put in place of a difference. What the
	// game sent is unknown.
	Key bool
}

// Remarked is a source with remarks for its user: what was guessed, or left out.
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
	// Script names what plays the world; "" means "random". See world.Scripts.
	Script string
}

// Kind is one kind of data that a specification can name.
type Kind struct {
	Name    string   `json:"name"`    // the word before the colon
	Spec    string   `json:"spec"`    // how users write it
	Summary string   `json:"summary"` // one line: what it holds
	Source  string   `json:"source"`  // the publication it follows
	Arg     argument `json:"-"`
	// Open opens the data; arg is what follows the colon. The end of ctx ends the wait for the writer
	// of a pipe.
	Open func(ctx context.Context, arg string, opt Options) (Source, error) `json:"-"`
	// Paths returns the paths in arg, in order. nil: every part of arg between commas may be one.
	Paths func(arg string) []string `json:"-"`
}

// argument reports whether a kind takes an argument after a colon.
type argument uint8

// The arguments.
const (
	NoArgument argument = iota
	MayHaveArgument
	NeedsArgument
)

// WholePath is the Paths of kinds whose argument is one path.
func WholePath(arg string) []string { return []string{arg} }

// FirstPath returns the Paths of kinds whose argument is a path with options after it, as parse
// splits them.
func FirstPath[Options any](parse func(arg string) (string, Options, error)) func(arg string) []string {
	return func(arg string) []string {
		if path, _, err := parse(arg); err == nil {
			return []string{path}
		}
		return nil
	}
}

// BadSpec returns the error of a specification with a bad argument.
func BadSpec(spec string, err error) error { return fmt.Errorf("data %q: %w: %w", spec, ErrSpec, err) }

// UnknownError is an ErrSpec: a name that is not among the known ones.
type UnknownError struct {
	Text  string // of the error
	Name  string
	Known []string
}

// Error returns the text.
func (e *UnknownError) Error() string { return e.Text }

// Unwrap returns ErrSpec.
func (e *UnknownError) Unwrap() error { return ErrSpec }

// Unknown returns the name and the known ones, so that a caller can suggest a near one.
func (e *UnknownError) Unknown() (name string, known []string) { return e.Name, e.Known }

// Of returns src as a Source, or nil if there was an error: a nil pointer in an
// interface would not be nil.
func Of[S Source](src S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return src, nil
}
