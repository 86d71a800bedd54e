// Package source defines the interfaces of sources of frames, the description of a kind of source
// (Kind) by which users open one, and helpers for reading files and for errors in them.
package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
)

// ErrSpec means that a specification of data is not valid.
var ErrSpec = errors.New("bad data specification")

// Source produces frames, Schema().TickHz of them per second of virtual time. A Source is used by one
// goroutine. It may also implement Looping, Tracked, Sized, Timed, Priced, Remarked and io.Closer.
type Source interface {
	// Schema returns the schema of all frames. It never changes, and must not be modified.
	Schema() *frame.Schema
	// Initial fills f with the initial state, with which sender and receiver are configured: frame 0 of
	// a walk-off recording, the grid of the cube world.
	Initial(f *frame.Frame)
	// Next fills f with the next frame. At the end it returns io.EOF. The first frame of a walk-off
	// recording is frame 6, since frames 0 to 5 repeat the initial state.
	Next(f *frame.Frame) error
}

// Looping is a source that may loop.
type Looping interface {
	// AtLoopPoint reports whether the frame that Next filled last is at the loop point: the first frame after
	// the source started again. It has no relation to the frame before.
	AtLoopPoint() bool
}

// Tracked is a source that tracks the changes between frames.
type Tracked interface {
	// Changed returns the rows in which the frame that Next filled last may differ from the frame
	// before it, or from the initial state for the first frame. The set is valid until Next is
	// called again.
	Changed() frame.Rows
}

// Sized is a source with a limited number of frames.
type Sized interface {
	// Frames returns the number of frames before io.EOF or before the loop point. It returns 0
	// while the number is unknown, as for a compressed recording that has not been read to its end.
	Frames() int
}

// Timed is a source that determines the time of each frame. Its schema has Timed set.
type Timed interface {
	// TickTime returns the time of frame n, counted from 0. Times are strictly increasing.
	TickTime(n uint64) time.Duration
	// TickAt returns the number of the newest frame at or before the time at, which must not be
	// negative.
	TickAt(at time.Duration) uint64
}

// Priced is a source of frames that were recorded with the size of their original coding.
type Priced interface {
	// Price returns the size in the game's own coding of the frame that Next filled last.
	Price() Price
}

// Price is the size of a frame in a game's own coding.
type Price struct {
	// Bits is the size of the state, without packet headers.
	Bits int
	// Base is the age in frames of the baseline of the delta. 0 means that it is not a delta.
	Base int
}

// Remarked is a source with remarks for the user, such as what was guessed or left out.
type Remarked interface {
	// Remarks returns the remarks, each a sentence.
	Remarks() []string
}

// Options are the options of opening a source. Kinds ignore options that do not concern them.
type Options struct {
	// Cubes is the number of cubes in a frame of a recording. 0 means 901. The demo and the world
	// accept only 901.
	Cubes int
	// Loop makes a source start again at its end instead of returning io.EOF.
	Loop bool
	// Seed is the seed of generated data.
	Seed uint64
	// Message is the number of bytes in a message of a text. 0 means 500.
	Message int
	// Script is the name of the script that plays the world, see world.Scripts. "" means "random".
	Script string
}

// Kind describes a kind of source. A specification is the name of a kind, and for some kinds a colon
// and an argument.
type Kind struct {
	Name    string   `json:"name"`    // name of the kind: the word before the colon
	Spec    string   `json:"spec"`    // syntax of the specification, for help and errors
	Summary string   `json:"summary"` // description in one line
	Source  string   `json:"source"`  // publication or game that the data is from
	Arg     argument `json:"-"`       // whether the kind has an argument
	// Open opens a source. arg is the argument, or "". If it names a pipe, the end of ctx ends the wait
	// for its writer.
	Open func(ctx context.Context, arg string, opt Options) (Source, error) `json:"-"`
	// Paths returns the paths of files in arg, in order. A nil Paths means that every part of arg
	// between commas may be a path.
	Paths func(arg string) []string `json:"-"`
}

// argument is whether the specification of a kind has an argument after a colon.
type argument uint8

// Values of Kind.Arg.
const (
	NoArgument argument = iota
	MayHaveArgument
	NeedsArgument
)

// WholePath is the function Kind.Paths of kinds whose argument is a single path.
func WholePath(arg string) []string { return []string{arg} }

// FirstPath returns the function Kind.Paths of a kind whose argument is a path with options. parse splits such
// an argument into both; if it fails, the argument has no paths.
func FirstPath[Options any](parse func(arg string) (string, Options, error)) func(arg string) []string {
	return func(arg string) []string {
		if path, _, err := parse(arg); err == nil {
			return []string{path}
		}
		return nil
	}
}

// BadSpec returns the error for a specification whose argument caused err. It wraps ErrSpec and err.
func BadSpec(spec string, err error) error { return fmt.Errorf("data %q: %w: %w", spec, ErrSpec, err) }

// UnknownError is the error for an unknown name in a specification. It wraps ErrSpec.
type UnknownError struct {
	Text  string   // the message
	Name  string   // the unknown name
	Known []string // all known names
}

// Error returns Text.
func (e *UnknownError) Error() string { return e.Text }

// Unwrap returns ErrSpec.
func (e *UnknownError) Unwrap() error { return ErrSpec }

// Unknown returns Name and Known, so that the caller can suggest a similar name.
func (e *UnknownError) Unknown() (name string, known []string) { return e.Name, e.Known }

// AsSource converts the results of a function that opens a concrete source. On an error it returns
// a nil Source, since a nil pointer in an interface would not be nil.
func AsSource[S Source](src S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return src, nil
}
