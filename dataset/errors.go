package dataset

import (
	"errors"

	"wirelab/dataset/source"
)

// Errors of this package; returned wrapped, with the file and the place in it.
// A value outside its range wraps frame.ErrRange.
var (
	// ErrSpec: a specification of data that cannot be understood.
	ErrSpec = source.ErrSpec
	// ErrFormat: the bytes are no walk-off recording.
	ErrFormat = errors.New("not a walk-off recording")
	// ErrTruncated: the recording breaks off.
	ErrTruncated = errors.New("recording truncated")
	// ErrPreamble: frames 1..5 do not repeat frame 0, as the walk-off's rules demand.
	ErrPreamble = errors.New("frames 0..5 do not repeat the initial state")
)
