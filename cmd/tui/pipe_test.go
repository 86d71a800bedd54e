//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipe makes a pipe with a name, into which nobody writes.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What must be a file is refused before it is opened if it is a pipe; to wait for one
// that may be a pipe can be interrupted. Neither hangs.
func TestPipesNobodyWritesInto(t *testing.T) {
	p := pipe(t)
	for _, args := range [][]string{
		{"check", p}, {"run", p}, {"replay", p}, {"walkoff", "--data", p}, {"run", "--data", "table:" + p + ",x.csv"},
		{"run", "--data", "files:" + p + "," + os.Args[0]}, {"run", "--set", "down.trace=" + p}, {"check", "/dev/null"},
	} {
		o := tui(args...)
		if o.code != exitUsage || !strings.Contains(o.stderr, "pipe") && !strings.Contains(o.stderr, "no regular file") &&
			!strings.Contains(o.stderr, "not a regular file") && !strings.Contains(o.stderr, "is a device") {
			t.Errorf("%v: exit %d, stderr %q", args, o.code, o.stderr)
		}
	}
	for _, args := range [][]string{
		{"run", "--data", p}, {"run", "--data", "text:" + p}, {"check", "--preset", "lossy", "--set", "data.source=" + p},
		{"datasets", "stats", p}, {"datasets", "describe", p}, {"links", "fit", p},
		{"run", "--data", "table:../../dataset/table/example/arena.toml," + p},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		if o := tuiIn(ctx, metronome(), args...); o.code != exitInterrupted || o.stderr != "tui: interrupted\n" {
			t.Errorf("%v: exit %d, stderr %q", args, o.code, o.stderr)
		}
	}
}

// A pipe whose writer falls silent can be left as well, and what came until then is
// reported.
func TestPipeThatFallsSilent(t *testing.T) {
	p := pipe(t)
	w, err := os.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		// Beyond what a pipe holds, so that the run has begun when all is written.
		if _, err := w.Write(make([]byte, 32*2*3000)); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	o := tuiIn(ctx, metronome(), "run", "--data", p, "--set", "data.cubes=2", "--encoder", "raw", "--json")
	if o.code != exitInterrupted || !strings.Contains(o.stdout, `"interrupted": true`) {
		t.Errorf("exit %d, stderr %q, stdout %.300q", o.code, o.stderr, o.stdout)
	}
}
