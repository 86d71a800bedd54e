package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twoFiles writes an old and a new file.
func twoFiles(t *testing.T) (old, new string) {
	t.Helper()
	dir := t.TempDir()
	old, new = filepath.Join(dir, "old"), filepath.Join(dir, "new")
	text := bytes.Repeat([]byte("It was a dark and stormy night. "), 200)
	if err := os.WriteFile(old, text, 0o644); err != nil {
		t.Fatal(err)
	}
	text = append(text[:1000:1000], bytes.ToUpper(text[1000:])...)
	if err := os.WriteFile(new, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return old, new
}

// TestRunFiles checks the report of a file transfer, with a patch and with the whole file.
func TestRunFiles(t *testing.T) {
	old, new := twoFiles(t)
	args := []string{"run", "--data", "files:" + old + "," + new, "--set", "link.latency=50ms", "--set", "link.loss=10%", "--set",
		"sender.block=60"}
	o := tui(args...)
	for _, want := range []string{"a file of 6400 bytes for a receiver with an old version of 6400 bytes",
		"from the first datagram to the rebuilt file", "blocks of the file", "whole-zstd", "transfer of the file, s"} {
		if o.code != exitDone || !strings.Contains(o.stdout, want) {
			t.Errorf("exit %d; the output lacks %q:\n%s%s", o.code, want, o.stdout, o.stderr)
		}
	}
	o = tui(append(args, "--json")...)
	var doc any
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`totals.bits_per_item totals.transfer.old_bytes totals.transfer.new_bytes totals.transfer.packed_bytes
		totals.transfer.encoder totals.transfer.payload_bytes totals.transfer.wire_bytes totals.transfer.feedback_bytes totals.transfer.blocks totals.transfer.delivered totals.transfer.resent totals.transfer.needless totals.transfer.done totals.transfer.failed
		totals.transfer.sha256 totals.transfer.elapsed_s totals.transfer.time_s totals.transfer.round_trip_ms totals.transfer.timeout_ms
		shadows.0.totals.transfer.time_s timing.pack_ms timing.unpack_ms config.sender.block`) {
		if !lookUp(doc, key) {
			t.Errorf("no %s in\n%s", key, o.stdout)
		}
	}
}

// TestRunFilesUnfinished checks the report of a transfer over a link that drops everything, and
// that an assertion about it fails.
func TestRunFilesUnfinished(t *testing.T) {
	old, new := twoFiles(t)
	args := []string{"run", "--data", "files:" + old + "," + new, "--set", "down.loss=100%", "--set", "duration=3s"}
	if o := tui(args...); o.code != exitDone || !strings.Contains(o.stdout, "unfinished: 0 of ") {
		t.Errorf("exit %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := tui(append(args, "--set", "assert.transfer.time_s=<= 1")...); o.code != exitFailed ||
		!strings.Contains(o.stderr, "no data for this figure") {
		t.Errorf("exit %d:\n%s", o.code, o.stderr)
	}
}

// TestRunFilesInterrupted checks that a run that is stopped while its patch is made reports that
// nothing was sent, and that its replay is refused.
func TestRunFilesInterrupted(t *testing.T) {
	old, new := twoFiles(t)
	dir := filepath.Join(t.TempDir(), "report")
	if o := tuiIn(cancelled(), metronome(), "run", "--data", "files:"+old+","+new, "--out", dir); o.code != exitInterrupted ||
		!strings.Contains(o.stdout, "the patch was not yet made") {
		t.Errorf("exit %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := tui("replay", dir); o.code != exitUsage || !strings.Contains(o.stderr, "ended before it sent a packet") {
		t.Errorf("exit %d:\n%s", o.code, o.stderr)
	}
}

// TestRunNotStarted checks that a run that cannot start leaves no folder behind, also over a
// network.
func TestRunNotStarted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "report")
	grid := filepath.Join(t.TempDir(), "grid.toml")
	if err := os.WriteFile(grid, []byte("data.source = \"nothing.bin\"\n[[sweep]]\nkey = \"seed\"\nvalues = [1, 2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--data", "nothing.bin"}, {"run", "--data", "nothing.bin", "--udp"}, {"run", grid}} {
		if o := tui(append(args, "--out", dir)...); o.code != exitUsage || !strings.Contains(o.stderr, "nothing.bin: no such file") {
			t.Errorf("%v: exit %d, %s%s", args, o.code, o.stdout, o.stderr)
		}
		if _, err := os.Stat(filepath.Dir(dir)); err == nil {
			t.Errorf("%v: a folder is left", args)
		}
	}
}

// TestRunFilesRefused checks that errors in the two files are usage errors.
func TestRunFilesRefused(t *testing.T) {
	old, new := twoFiles(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		old: "expected files:OLD,NEW", old + "," + old: "expected two files", old + "," + new +
			"x": "no such file", filepath.Dir(old) + "," + new: "is a folder; expected a file",
		old + "," + empty: "is empty; expected at least one byte", old + "," + os.DevNull: "expected a file",
	} {
		if o := tui("run", "--data", "files:"+spec); o.code != exitUsage || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%s: exit %d, %s%s; expected %q", spec, o.code, o.stdout, o.stderr, want)
		}
	}
}
