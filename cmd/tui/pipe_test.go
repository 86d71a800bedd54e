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

// pipe makes a named pipe without a writer.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPipeWithoutWriter checks that commands refuse a pipe where they need a regular file, and
// can be interrupted while they wait for a pipe. No command may hang.
func TestPipeWithoutWriter(t *testing.T) {
	p := pipe(t)
	for _, args := range [][]string{
		{"check", p}, {"run", p}, {"replay", p}, {"walkoff", "--data", p}, {"run", "--data", "table:" + p + ",x.csv"},
		{"run", "--data", "files:" + p + "," + os.Args[0]}, {"run", "--set", "down.trace=" + p}, {"check", "/dev/null"},
	} {
		o := tui("", args...)
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

// TestPipeStalls checks that a command can be interrupted while the writer of a pipe pauses, and
// reports what it has read.
func TestPipeStalls(t *testing.T) {
	p := pipe(t)
	w, err := os.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		// More than a pipe buffers, so that the run has started when all is written.
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
