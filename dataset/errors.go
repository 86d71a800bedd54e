package dataset

import (
	"errors"

	"wirelab/dataset/source"
)

// Errors of this package, returned wrapped with the file and the place in it. A value outside of its
// range is a frame.ErrRange.
var (
	// ErrSpec means that a specification of data is not valid.
	ErrSpec = source.ErrSpec
	// ErrFormat means that a file is not a walk-off recording.
	ErrFormat = errors.New("not a walk-off recording")
	// ErrTruncated means that a recording ends within a frame.
	ErrTruncated = errors.New("recording truncated")
	// ErrPreamble means that frames 1 to 5 do not repeat frame 0, which the walk-off's rules require.
	ErrPreamble = errors.New("frames 0..5 are not all the initial state")
)
