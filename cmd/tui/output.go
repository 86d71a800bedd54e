package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"syscall"
)

// output is standard output. When its reader has left it swallows the rest: the
// reader has seen enough, and the exit code still says how the run went. Any
// other failure is kept for flush.
type output struct {
	w   *bufio.Writer
	err error
}

func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriter(w)} }

// Write never fails; see flush.
func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
	return len(p), nil
}

// flush writes out what is left, and reports whether everything was written or
// nobody wanted it.
func (o *output) flush() error {
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if readerLeft(o.err) {
		return nil
	}
	return o.err
}

// readerLeft reports whether a write failed because nobody reads any more.
func readerLeft(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // what Windows says
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// json writes the one document that --json promises.
func (o *output) json(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// jsonLine writes a document as one line, at once.
func (o *output) jsonLine(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	return errors.Join(enc.Encode(v), o.flush())
}
