//go:build unix

package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/remote"
)

// TestListenCreatesTokenFile checks that tui listen creates a missing token file that only this user can
// read, prints the command for the other machine, and uses the same token after a restart.
func TestListenCreatesTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	o := tui("listen 0 --token-file", path, "--duration", "1ms")
	text, err := os.ReadFile(path)
	if err != nil || o.code != exitDone || !strings.Contains(o.stderr, "--token-file "+path) || len(text) < 300 {
		t.Fatalf("exit %d, %s, %v", o.code, o.stderr, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	id, err := remote.ParseIdentity(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&app{}).readToken(t.Context(), path); err != nil || got != id.Token().String() || strings.Contains(o.stderr, got) {
		t.Errorf("the token of another machine: %v", err)
	}
	if o := tui("listen 0 --token-file", path, "--duration", "1ms"); o.code != exitDone || strings.Contains(o.stderr, "new token") {
		t.Errorf("the second start: exit %d, %s", o.code, o.stderr)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
		t.Errorf("the second start changed the token, %v", err)
	}
	checkErr(t, tui("listen 0 --token-file", filepath.Join(path, "x")), exitUsage)
}

// TestTokenFromPipe checks that a token can be read from a pipe, that the wait for it can be interrupted,
// and that a device without an end does not use memory without limit.
func TestTokenFromPipe(t *testing.T) {
	p := pipe(t)
	w, err := os.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString(" " + exampleToken + "\nnot read"); err != nil {
		t.Fatal(err)
	}
	if got, err := (&app{}).readToken(t.Context(), p); err != nil || got != exampleToken {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if o := tuiIn(ctx, metronome(), "links", "measure", "--to", "127.0.0.1:1", "--token-file", pipe(t)); o.code != exitInterrupted {
		t.Errorf("a pipe without a writer: exit %d, %s", o.code, o.stderr)
	}
	checkErr(t, tui("links measure --to 127.0.0.1:1 --token-file /dev/zero"), exitUsage, "more than 4096 bytes")
}

// TestTokenFileOfEditors checks that a byte order mark and the end of a line are no part of the token, that
// a file and a pipe with the same text give the same token, and that a file with two tokens is refused.
func TestTokenFileOfEditors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for text, want := range map[string]string{
		exampleToken:                                  exampleToken,
		"\ufeff" + exampleToken + "\r\n":              exampleToken,
		exampleToken + "\n" + exampleToken + "\n":     "",
		exampleToken + " \x1b[31m":                    "",
		"\xff\xfe0\x001\x002\x003\x00a\x00b\x00c\x00": "", // UTF-16
	} {
		write(t, path, text)
		if got, err := (&app{}).readToken(t.Context(), path); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestTokenFileReadableByAll checks the warning for a token file that every user of the machine can read.
func TestTokenFileReadableByAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	done(t, "listen 0 --token-file", path, "--duration", "1ms")
	for mode, warns := range map[fs.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o604: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if o := tui("listen 0 --token-file", path, "--duration", "1ms"); o.code != exitDone || strings.Contains(o.stderr, "chmod 600 "+path) != warns {
			t.Errorf("mode %v: exit %d, %s", mode, o.code, o.stderr)
		}
	}
}

// TestTokenIsNotPrinted checks that no error repeats a token that stands in a URL or in the place of a host,
// and that wrong URLs are usage errors.
func TestTokenIsNotPrinted(t *testing.T) {
	const secret = exampleToken
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"links", "measure", "--to", secret}, exitUsage},
		{[]string{"links", "measure", "--to", secret + ":5"}, exitUsage},
		{[]string{"links", "measure", "--to", secret + "host:5"}, exitUsage},
		{[]string{"links", "measure", "--to", secret + "@" + secret}, exitUsage},
		{[]string{"links", "measure", "--to", secret + "@" + secret + "\n:5"}, exitUsage},
		{[]string{"links", "measure", "--to", "a@" + secret + "@127.0.0.1:x"}, exitUsage},
		{[]string{"run", "--to", "127.0.0.1:5@" + secret}, exitUsage},
		{[]string{"worker", "--queue", "nats://" + secret + ":host"}, exitUsage},
		{[]string{"worker", "--queue", "http://" + secret + "@127.0.0.1:1"}, exitUsage},
		{[]string{"worker", "--queue", "nats://" + secret + "@"}, exitUsage},
		{[]string{"worker", "--queue", "nats://" + secret + "@127.0.0.1:1%"}, exitUsage},
		{[]string{"worker", "--queue", "nats://127.0.0.1:1,ftp://" + secret}, exitUsage},
		{[]string{"worker", "--queue", "nats://" + secret + "@127.0.0.1:65536"}, exitUsage},
		{[]string{"worker", "--queue", "nats://" + secret + "@127.0.0.1:1"}, exitMachine},
		{[]string{"sweep", "--preset", "loss-table", "--queue", "nats://" + secret + "@127.0.0.1:1"}, exitMachine},
	} {
		if o := tui("", c.args...); o.code != c.code || strings.Contains(o.stdout+o.stderr, secret) {
			t.Errorf("%q: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
	// A token in the place of a host is part of the error of the name lookup.
	hosts, err := checkQueueURL("nats://" + secret + ":4222")
	if err != nil {
		t.Fatal(err)
	}
	lookup := &fs.PathError{Op: "lookup", Path: secret, Err: fs.ErrNotExist}
	if got := hideAll(lookup, hosts...); strings.Contains(got.Error(), secret) {
		t.Error(got)
	}
}
