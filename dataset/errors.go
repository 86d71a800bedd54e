package dataset

import (
	"errors"
	"fmt"
	"strings"

	"wirelab/dataset/source"
)

// Errors of this package; returned wrapped, with the file and the place in it.
// A value outside its range wraps frame.ErrRange.
var (
	// ErrSpec: the specification of data makes no sense.
	ErrSpec = source.ErrSpec
	// ErrFormat: the bytes are no walk-off recording.
	ErrFormat = errors.New("not a walk-off recording")
	// ErrTruncated: the recording breaks off.
	ErrTruncated = errors.New("recording truncated")
	// ErrPreamble: frames 1..5 do not repeat frame 0, as the walk-off has it.
	ErrPreamble = errors.New("frames 0..5 do not repeat the initial state")
	// ErrClosed: the source or the writer was closed before.
	ErrClosed = errors.New("already closed")
)

// FileError is an error in the frames of a file; its text begins with the path.
type FileError struct {
	Path string
	Err  error
}

// Error returns the path and what is wrong.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error without the path.
func (e *FileError) Unwrap() error { return e.Err }

// UnknownError says that a specification names neither a kind of data nor a
// file.
type UnknownError struct {
	Spec  string
	name  string
	kinds []Kind
}

// Error names what was asked for and what there is.
func (e *UnknownError) Error() string {
	specs := make([]string, len(e.kinds))
	for i, k := range e.kinds {
		specs[i] = k.Spec
	}
	return fmt.Sprintf("data %q: no such kind and no such file; expected %s or the path of a recording",
		e.Spec, strings.Join(specs, ", "))
}

// Unwrap says that it is a bad specification.
func (e *UnknownError) Unwrap() error { return ErrSpec }

// Unknown returns the name that was not found and those that there are, so that
// a caller can suggest a near one.
func (e *UnknownError) Unknown() (name string, known []string) {
	for _, k := range e.kinds {
		known = append(known, k.Name)
	}
	return e.name, known
}
