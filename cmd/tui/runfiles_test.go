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
	write(t, old, string(text))
	text = append(text[:1000:1000], bytes.ToUpper(text[1000:])...)
	write(t, new, string(text))
	return old, new
}

// TestRunFiles checks the report of a file transfer, with a patch and with the whole file.
func TestRunFiles(t *testing.T) {
	old, new := twoFiles(t)
	args := []string{"run", "--data", "files:" + old + "," + new, "--set", "link.latency=50ms", "--set", "link.loss=10%", "--set",
		"sender.block=60"}
	o := tui("", args...)
	for _, want := range []string{"a file of 6400 bytes for a receiver with an old version of 6400 bytes",
		"from the first datagram to the rebuilt file", "blocks of the file", "whole-zstd", "transfer of the file, s"} {
		if o.code != exitDone || !strings.Contains(o.stdout, want) {
			t.Errorf("exit %d; the output lacks %q:\n%s%s", o.code, want, o.stdout, o.stderr)
		}
	}
	o = tui("", append(args, "--json")...)
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
	checkOut(t, tui("", args...), exitDone, "unfinished: 0 of ")
	checkErr(t, tui("", append(args, "--set", "assert.transfer.time_s=<= 1")...), exitFailed, "no data for this figure")
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
	checkErr(t, tui("replay", dir), exitUsage, "ended before it sent a packet")
}

// TestRunNotStarted checks that a run that cannot start leaves no folder behind, also over a
// network.
func TestRunNotStarted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "report")
	grid := filepath.Join(t.TempDir(), "grid.toml")
	write(t, grid, "data.source = \"nothing.bin\"\n[[sweep]]\nkey = \"seed\"\nvalues = [1, 2]\n")
	for _, args := range [][]string{{"run", "--data", "nothing.bin"}, {"run", "--data", "nothing.bin", "--udp"}, {"run", grid}} {
		checkErr(t, tui("", append(args, "--out", dir)...), exitUsage, "nothing.bin: no such file")
		if _, err := os.Stat(filepath.Dir(dir)); err == nil {
			t.Errorf("%v: a folder is left", args)
		}
	}
}

// TestRunFilesRefused checks that errors in the two files are usage errors.
func TestRunFilesRefused(t *testing.T) {
	old, new := twoFiles(t)
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "")
	for spec, want := range map[string]string{
		old: "expected files:OLD,NEW", old + "," + old: "expected two files", old + "," + new +
			"x": "no such file", filepath.Dir(old) + "," + new: "is a folder; expected a file",
		old + "," + empty: "is empty; expected at least one byte", old + "," + os.DevNull: "expected a file",
	} {
		if o := tui("run --data", "files:"+spec); o.code != exitUsage || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%s: exit %d, %s%s; expected %q", spec, o.code, o.stdout, o.stderr, want)
		}
	}
}
