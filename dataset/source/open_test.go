//go:build unix

package source_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"weak"

	"wirelab/dataset/source"
	"wirelab/internal/testkit"
)

// pipe returns the path of a pipe with a writer that stays open until the test ends.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return path
}

// A closed pipe can be garbage collected while its context is still active.
func TestClosedPipeIsReleased(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f, err := source.OpenFile(ctx, pipe(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := weak.Make(f.File)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = nil
	testkit.WaitFor(t, "the release of the closed file", func() bool { runtime.GC(); return kept.Value() == nil })
	runtime.KeepAlive(ctx)
}

// The end of the context ends the wait for the writer of a pipe.
func TestContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f, err := source.OpenFile(ctx, pipe(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := io.ReadAll(f); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
}
