package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirelab/internal/panics"
)

// failing is a writer that accepts a few bytes and then fails.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// TestStdoutClosedEarly checks that a reader who closes the pipe early is no error, but a full
// disk is.
func TestStdoutClosedEarly(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, exitDone, ""},
		{io.ErrClosedPipe, exitDone, ""},
		{errors.New("no space left on device"), exitFailed, "tui: cannot write to standard output: no space left on device\n"},
	} {
		var stderr bytes.Buffer
		code := run(context.Background(), strings.NewReader(""), &failing{100, c.err}, &stderr, []string{"links", "--json"})
		if code != c.code || stderr.String() != c.stderr {
			t.Errorf("%v: exit %d, stderr %q; want %d, %q", c.err, code, stderr.String(), c.code, c.stderr)
		}
	}
}

// TestPanic checks that a panic is reported as a bug, with exit code 1 and not 2.
func TestPanic(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdout: newOutput(io.Discard), stderr: &stderr, clock: func() time.Duration { panic("boom") },
		isTerminal: func(any) bool { return false }}
	if code := a.run(context.Background(), []string{"walkoff", "--data", "demo"}); code != exitFailed {
		t.Errorf("exit %d, want %d", code, exitFailed)
	}
	if !strings.HasPrefix(stderr.String(), "tui: a bug in wirelab: boom\n") {
		t.Errorf("stderr %q", stderr.String())
	}
}

// TestPanicAsError checks that a panic that is returned as an error is reported as a bug, even if
// it is joined with other errors.
func TestPanicAsError(t *testing.T) {
	bug := panics.Call(func() error { panic("boom") })
	for _, err := range []error{bug, asUsageError(bug), errors.Join(bug, context.Canceled), fmt.Errorf("the lab broke: %w", bug)} {
		var stderr bytes.Buffer
		a := &app{stderr: &stderr}
		a.printError(err)
		if text := stderr.String(); !strings.HasPrefix(text, "tui: a bug in wirelab: ") || !strings.Contains(text, "boom\n") ||
			!strings.Contains(text, "TestPanicAsError") || exitCode(err) != exitFailed {
			t.Errorf("exit %d, %q", exitCode(err), text)
		}
	}
}
