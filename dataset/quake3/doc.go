// Package quake3 reads demos of Quake III Arena and of the games made of it, and makes a frame of
// each snapshot: a row for each number that an entity can have, and a last one for the player.
//
// A demo is what a server sent to a client, message after message, each snapshot as a difference
// to an earlier one. It is decoded on the fly: a whole match, as tables, would take a gigabyte.
//
// A demo is hostile until it has been read: whatever it claims, its reader takes MaxBytes and some
// megabytes, and work in proportion to its messages. One that is cut off or damaged is read up to
// there, and a remark says so; with no snapshot in front of that it is an *Error.
package quake3

import (
	"errors"
	"fmt"
)

// MaxBytes bounds how much of a demo is read; an hour of a crowded match has 30 MB. What comes
// after that is left out, and a remark says so.
const MaxBytes = 128 << 20

// maxFrames bounds the work that a demo can cause: a day at 12 snapshots a second. One of 20 bytes
// can have a thousand entities, and a file of a few kilobytes millions of those.
const maxFrames = 1 << 20

// Errors of this package, returned wrapped in an *Error.
var (
	// ErrFormat: the bytes are no demo of this game.
	ErrFormat = errors.New("not a demo of Quake III")
	// ErrProtocol: it is one, of a protocol that is not known here.
	ErrProtocol = errors.New("protocol not known")
	// ErrNothing: it holds no snapshot.
	ErrNothing = errors.New("no snapshots")
	// errCut: the file breaks off. Never returned: what came before is read.
	errCut = errors.New("the file breaks off")
)

// Error says where in a demo what is wrong.
type Error struct {
	File     string
	Message  int // from 1; 0: none in particular
	Offset   int // of that message, in bytes
	Problem  string
	Expected string
	Kind     error // ErrFormat, ErrProtocol, ErrNothing
}

// Error is one sentence.
func (e *Error) Error() string {
	return fmt.Sprintf("%s%s: %s; expected %s", e.File, e.place(), e.Problem, e.Expected)
}

func (e *Error) place() string {
	if e.Message == 0 {
		return ""
	}
	return fmt.Sprintf(": message %d at byte %d", e.Message, e.Offset)
}

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Kind }
