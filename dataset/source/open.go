package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"wirelab/internal/panics"
)

// ErrFile: what a path names can be no input: a folder, a device, a socket.
var ErrFile = errors.New("cannot be read as a file")

// What returns what a path of that mode names in words: "a pipe", "a folder"; "" for a regular
// file.
func What(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// inputFile is an open file or pipe.
type inputFile struct {
	*os.File
	stop func() bool // ends the watch of the context; nil if there is none
}

// Close closes the file. The context of OpenFile then no longer refers to it.
func (f *inputFile) Close() error {
	if f.stop != nil {
		f.stop()
	}
	return f.File.Close()
}

// OpenFile opens a file or a pipe to be read, and nothing else. A pipe is open once its other end
// is: the end of ctx ends the wait for that and, later, for the writer, with
// os.ErrDeadlineExceeded. A folder is an *Error of that kind with what was expected in its place;
// with a nil kind it is opened.
func OpenFile(ctx context.Context, path, expected string, kind error) (*inputFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	what := What(info.Mode())
	switch {
	case what == "a folder" && kind != nil:
		return nil, &Error{File: path, Problem: "is a folder", Expected: expected, Kind: kind}
	case what == "" || what == "a folder":
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return &inputFile{File: file}, nil
	case what == "a pipe":
		return openPipe(ctx, path)
	}
	return nil, fmt.Errorf("%s: %w: it is %s; expected a file or a pipe", path, ErrFile, what)
}

// openPipe leaves a goroutine behind if ctx ends before the other end is opened: opening a file
// cannot be cancelled.
func openPipe(ctx context.Context, path string) (*inputFile, error) {
	type opened struct {
		file *os.File
		err  error
	}
	result := make(chan opened)
	go func() {
		var file *os.File
		err := panics.Call(func() (err error) { file, err = os.Open(path); return err })
		select {
		case result <- opened{file, err}:
		case <-ctx.Done():
			if err == nil {
				_ = file.Close() // it came too late
			}
		}
	}()
	select {
	case r := <-result:
		if r.err != nil {
			return nil, r.err
		}
		stop := context.AfterFunc(ctx, func() {
			_ = r.file.SetReadDeadline(time.Unix(1, 0)) // fails if it is closed
		})
		return &inputFile{r.file, stop}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
