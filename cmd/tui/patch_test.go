package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// patchFiles writes an old and a new file and returns their contents.
func patchFiles(t *testing.T) (old, new string) {
	t.Helper()
	var b strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&b, "line %d: %x\n", i, i*i*7)
	}
	old = b.String()
	new = strings.Replace(old[:100_000]+"something new\n"+old[90_000:], "line 77", "LINE 77", -1)
	write(t, "old", old)
	write(t, "new", new)
	return old, new
}

// listed returns the names of the files in the working directory.
func listed(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestPatch checks that making and applying a patch gives the new file, with one JSON document
// each.
func TestPatch(t *testing.T) {
	t.Chdir(t.TempDir())
	old, new := patchFiles(t)
	var made patchInfo
	o := tui("patch make --json old new p")
	document(t, o.stdout, &made)
	if o.code != exitDone || o.stderr != "" || made.Old != int64(len(old)) || made.New != int64(len(new)) ||
		made.Raw+made.Cloned+made.Patched != made.New || made.Patch > made.New/50 {
		t.Fatalf("make: exit %d, %q, %+v", o.code, o.stderr, made)
	}
	var applied applyInfo
	o = tui("patch apply --json old p out")
	document(t, o.stdout, &applied)
	if got, _ := os.ReadFile("out"); o.code != exitDone || string(got) != new || applied.New != int64(len(new)) ||
		len(applied.SHA256) != 64 {
		t.Fatalf("apply: exit %d, %q, %+v", o.code, o.stderr, applied)
	}
	o = tui("patch apply old p old")
	if got, _ := os.ReadFile("old"); o.code != exitDone || string(got) != new || !strings.Contains(o.stderr, applied.SHA256) {
		t.Errorf("in place: exit %d, %q", o.code, o.stderr)
	}
	if got := listed(t); got != "new old out p" {
		t.Errorf("left behind: %s", got)
	}
}

// A patch of compressed files comes with a hint, that to an empty file has no percentage.
func TestPatchRemarks(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("It was a dark and stormy night. ", 1000)
	gz := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	const hint = "a small change of its content changes most of its bytes; a patch of the unpacked files is smaller"
	for name, c := range map[string]struct{ old, new, want, not string }{
		"gzip":    {gz(text), gz("It is not. " + text), "new is compressed with gzip: " + hint, ""},
		"zip":     {"PK\x03\x04 one", "PK\x03\x04 two", "new is a zip archive or a workbook: " + hint, ""},
		"png":     {"\x89PNG one", "\x89PNG two", "new is a PNG image: " + hint, ""},
		"text":    {text, "It is not. " + text, " % of new (32011 bytes)", "smaller"},
		"an old":  {"", text, " % of new (32000 bytes)", "smaller"},
		"a new":   {text, "", ", for new (0 bytes)", "%"},
		"neither": {"", "", ", for new (0 bytes)", "%"},
	} {
		for file, content := range map[string]string{"old": c.old, "new": c.new} {
			write(t, file, content)
		}
		o := tui("patch make old new p")
		if o.code != exitDone || !strings.Contains(o.stderr, c.want) || c.not != "" && strings.Contains(o.stderr, c.not) {
			t.Errorf("%s: exit %d, %q; want %q", name, o.code, o.stderr, c.want)
		}
	}
}

// TestPatchRefused checks that a patch that is damaged, inconsistent or for another file is
// refused with exit code 2 and a reason, and that existing files stay unchanged.
func TestPatchRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	patchFiles(t)
	write(t, "out", "precious")
	done(t, "patch make old new p --quiet")
	good := read(t, "p")
	flipped, lying := bytes.Clone(good), bytes.Clone(good)
	flipped[len(good)-20] ^= 4
	lying[9] |= 0x7f // the new size, little-endian, after magic, version, profile and a size of three bytes
	for name, c := range map[string]struct{ patch, old, wantText string }{
		"cut":        {string(good[:len(good)/2]), "old", "truncated"},
		"empty":      {"", "old", "not a patch"},
		"no patch":   {"this is a text", "old", "not a patch"},
		"flipped":    {string(flipped), "old", "patch"},
		"lying":      {string(lying), "old", "corrupt"},
		"longer":     {string(good) + "x", "old", "bytes after the last block"},
		"other file": {string(good), "new", "another old file"},
		"no file":    {string(good), "none", "none"},
	} {
		write(t, "bad", c.patch)
		o := tui("patch apply", c.old, "bad", "out")
		checkErr(t, o, exitUsage, c.wantText)
		if got, _ := os.ReadFile("out"); string(got) != "precious" {
			t.Fatalf("%s: the file that was there is gone", name)
		}
	}
	if got := listed(t); got != "bad new old out p" {
		t.Errorf("left behind: %s", got)
	}
}

// TestPatchNames checks that wrong file names are refused with exit code 2, and that no input
// file is overwritten.
func TestPatchNames(t *testing.T) {
	t.Chdir(t.TempDir())
	old, new := patchFiles(t)
	done(t, "patch make old new p")
	before := listed(t)
	for _, c := range []struct{ args, wantText string }{
		{"make old new new", "tui: new: the output would replace an input; expected another name"},
		{"make old new old", "tui: old: the output would replace an input"},
		{"make old new .", "tui: . is a directory: expected a regular file"},
		{"make . new q", "tui: .: expected a regular file"},
		{"make old new p/q", "tui: p/q: not a directory"},
		{"apply old p p", "tui: p: the output would replace an input"},
		{"apply old p .", "tui: . is a directory: expected a regular file"},
		{"apply . p q", "tui: .: expected a regular file"},
		{"apply old . q", "tui: .: expected a regular file"},
		{"apply p p q", "another old file"},
		{"apply old p none/q", "tui: none/q: no such file or directory"},
	} {
		o := tui("patch " + c.args)
		checkErr(t, o, exitUsage, c.wantText)
	}
	if after := listed(t); after != before {
		t.Errorf("there are %s; expected %s", after, before)
	}
	for name, want := range map[string]string{"old": old, "new": new} {
		if got, _ := os.ReadFile(name); string(got) != want {
			t.Errorf("%s was written over", name)
		}
	}
}

// TestPatchInterrupted checks that an interruption at any time leaves no new file.
func TestPatchInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	patchFiles(t)
	done(t, "patch make old new p")
	before := listed(t)
	for _, args := range [][]string{
		{"patch", "make", "old", "new", "p2"}, {"patch", "apply", "old", "p", "out"},
	} {
		for reads := range 4 {
			ctx, cancel := context.WithCancel(context.Background())
			tick, n := metronome(), 0
			o := tuiIn(ctx, func() time.Duration {
				if n++; n > reads {
					cancel()
				}
				return tick()
			}, args...)
			cancel()
			if n > reads && o.code != exitInterrupted && o.code != exitDone {
				t.Errorf("%v: exit %d, %q", args, o.code, o.stderr)
			}
			if after := listed(t); o.code == exitInterrupted && after != before {
				t.Errorf("%v: left behind: %s", args, after)
			}
			for _, name := range []string{"p2", "out"} {
				_ = os.Remove(name)
			}
		}
		if o := tuiIn(cancelled(), metronome(), args...); o.code != exitInterrupted || listed(t) != before {
			t.Errorf("%v: exit %d, %q, files: %s", args, o.code, o.stderr, listed(t))
		}
	}
}

// TestPatchAndRecordFollowLinks checks that an output under the name of a symbolic link replaces
// its target, and that a dangling link is refused.
func TestPatchAndRecordFollowLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	_, new := patchFiles(t)
	done(t, "patch make old new p")
	write(t, "file", "was here")
	if err := errors.Join(os.Symlink("file", "link"), os.Symlink("none", "nothing")); err != nil {
		t.Skip("no links can be made:", err)
	}
	record := []string{"record", "--seconds", "0.1", "--out"}
	for _, args := range [][]string{{"patch", "make", "old", "new"}, record, {"patch", "apply", "old", "p"}} {
		done(t, "", append(args, "link")...)
		info, err := os.Lstat("link")
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("%q: the link is one no more: %v, %v", args, info.Mode(), err)
		}
		if got, err := os.ReadFile("file"); err != nil || string(got) == "was here" {
			t.Errorf("%q: nothing was written where the link leads to: %v", args, err)
		}
		checkErr(t, tui("", append(args, "nothing")...), exitUsage, "symbolic link to a file that does not exist")
	}
	if got, _ := os.ReadFile("file"); string(got) != new {
		t.Errorf("%d bytes came out; expected %d", len(got), len(new))
	}
}
