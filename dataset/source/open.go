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

// ErrFile means that a path is neither a regular file nor a pipe.
var ErrFile = errors.New("cannot be read as a file")

// DescribeMode describes the type of a file for messages: "a pipe", "a folder", "a socket" or "a device". It
// returns "" for a regular file.
func DescribeMode(mode fs.FileMode) string {
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
	stop func() bool // of a pipe: ends the effect of the context; nil for a file
}

// Close closes the file. The end of the context has no effect afterwards.
func (f *inputFile) Close() error {
	if f.stop != nil {
		f.stop()
	}
	return f.File.Close()
}

// OpenFile opens a regular file or a pipe for reading. Opening a pipe waits for its writer. The end of
// ctx ends that wait with ctx's error, and later reads with os.ErrDeadlineExceeded.
//
// For a folder the error is an *Error with the fields Kind and Expected set to kind and expected; if kind is
// nil, the folder is opened. For a device or a socket the error wraps ErrFile.
func OpenFile(ctx context.Context, path, expected string, kind error) (*inputFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	fileType := DescribeMode(info.Mode())
	switch {
	case fileType == "a folder" && kind != nil:
		return nil, &Error{File: path, Problem: "is a folder", Expected: expected, Kind: kind}
	case fileType == "" || fileType == "a folder":
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return &inputFile{File: file}, nil
	case fileType == "a pipe":
		return openPipe(ctx, path)
	}
	return nil, fmt.Errorf("%s: %w: it is %s; expected a file or a pipe", path, ErrFile, fileType)
}

// openPipe opens a pipe. If ctx ends before the pipe has a writer, a goroutine remains until it has
// one: os.Open cannot be cancelled.
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
				_ = file.Close() // the pipe was opened after ctx ended
			}
		}
	}()
	select {
	case r := <-result:
		if r.err != nil {
			return nil, r.err
		}
		stop := context.AfterFunc(ctx, func() {
			_ = r.file.SetReadDeadline(time.Unix(1, 0)) // in the past: ends reads at once; fails if the file is closed
		})
		return &inputFile{r.file, stop}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
