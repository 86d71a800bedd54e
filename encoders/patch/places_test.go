package patch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"wirelab/encoders/patch/delta"
)

// newFolder makes a directory with files old, new and a patch. path returns the path of a file in it.
func newFolder(t *testing.T) (path func(string) string, new []byte) {
	t.Helper()
	dir := t.TempDir()
	path = func(name string) string { return filepath.Join(dir, name) }
	old := text(20_000)
	new = edit(old, 1)
	for name, b := range map[string][]byte{"old": old, "new": new, "patch": mustMake(t, old, new)} {
		if err := os.WriteFile(path(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path, new
}

// TestInvalidTargets checks that outputs that would replace a device, a directory, the patch or an input, also
// by another name, are refused and nothing is changed.
func TestInvalidTargets(t *testing.T) {
	path, _ := newFolder(t)
	for name, of := range map[string]string{"device": os.DevNull, "also new": path("new"), "also patch": path("patch"),
		"nothing": path("none")} {
		if err := os.Symlink(of, path(name)); err != nil {
			t.Skip("no links can be made:", err)
		}
	}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := contents(t, path)
	for _, c := range []struct {
		made bool // rather than applied
		args [3]string
		want error
	}{
		{false, [3]string{"old", "patch", "device"}, ErrNoFile},
		{false, [3]string{"old", "patch", "folder"}, ErrNoFile},
		{false, [3]string{"old", "patch", "nothing"}, ErrNoFile},
		{false, [3]string{"old", "patch", "patch"}, ErrSource},
		{false, [3]string{"old", "patch", "also patch"}, ErrSource},
		{false, [3]string{"device", "patch", "out"}, ErrNoFile},
		{false, [3]string{"folder", "patch", "out"}, ErrNoFile},
		{false, [3]string{"old", "folder", "out"}, ErrNoFile},
		{false, [3]string{"old", "device", "out"}, ErrFormat},
		{false, [3]string{"none", "patch", "out"}, os.ErrNotExist},
		{false, [3]string{"old", "none", "out"}, os.ErrNotExist},
		{false, [3]string{"old", "patch", "none/out"}, os.ErrNotExist},
		{true, [3]string{"old", "new", "device"}, ErrNoFile},
		{true, [3]string{"old", "new", "folder"}, ErrNoFile},
		{true, [3]string{"old", "new", "nothing"}, ErrNoFile},
		{true, [3]string{"old", "new", "old"}, ErrSource},
		{true, [3]string{"old", "new", "also new"}, ErrSource},
		{true, [3]string{"device", "new", "out"}, ErrNoFile},
		{true, [3]string{"old", "folder", "out"}, ErrNoFile},
	} {
		var err error
		if c.made {
			_, err = MakeFile(path(c.args[0]), path(c.args[1]), path(c.args[2]), Options{})
		} else {
			_, err = ApplyFile(nil, path(c.args[0]), path(c.args[1]), path(c.args[2]), nil)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("made: %v, %q: %v; expected %v", c.made, c.args, err, c.want)
		}
	}
	if after := contents(t, path); after != before {
		t.Errorf("directory after the calls:\n%s\nexpected:\n%s", after, before)
	}
}

// contents lists the files of a directory with their contents.
func contents(t *testing.T, path func(string) string) string {
	t.Helper()
	entries, err := os.ReadDir(path(""))
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, e := range entries {
		b, _ := os.ReadFile(path(e.Name())) // empty for a directory
		sum := sha256.Sum256(b)
		list.WriteString(e.Name() + " " + e.Type().String() + " " + fmt.Sprintf("%x", sum) + "\n")
	}
	return list.String()
}

// TestTargetLinks checks that a symbolic link as target stays a link and that the file that it points to is
// replaced, also over two links and in another directory. A name may have the maximum length.
func TestTargetLinks(t *testing.T) {
	path, new := newFolder(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(path("folder"), 0o700))
	must(os.WriteFile(path("folder/file"), []byte("what was there"), 0o600))
	if err := os.Symlink("folder/file", path("link")); err != nil {
		t.Skip("no links can be made:", err)
	}
	must(os.Symlink("link", path("second")))
	for name, file := range map[string]string{"link": "folder/file", "second": "folder/file", strings.Repeat("n", 255): ""} {
		for _, made := range []bool{false, true} {
			want, err := new, error(nil)
			if made {
				_, err = MakeFile(path("old"), path("new"), path(name), Options{})
				want, _ = os.ReadFile(path("patch"))
			} else {
				_, err = ApplyFile(nil, path("old"), path("patch"), path(name), nil)
			}
			must(err)
			info, err := os.Lstat(path(name))
			must(err)
			if link := info.Mode()&os.ModeSymlink != 0; link != (file != "") {
				t.Errorf("%s: %v; was it a link before: %v", name, info.Mode(), file != "")
			}
			if got, err := os.ReadFile(path(name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v; expected %d", name, len(got), err, len(want))
			}
		}
	}
	if info, err := os.Lstat(path("folder/file")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v; expected a file", info.Mode(), err)
	}
}

// TestFileModes checks that patches and results are not readable for users who cannot read the inputs.
func TestFileModes(t *testing.T) {
	path, _ := newFolder(t)
	for _, c := range []struct{ old, new, patch, patched os.FileMode }{
		{0o755, 0o644, 0o644, 0o755},
		{0o640, 0o644, 0o640, 0o640},
		{0o644, 0o600, 0o600, 0o644},
		{0o444, 0o444, 0o644, 0o444},
	} {
		for name, mode := range map[string]os.FileMode{"old": c.old, "new": c.new} {
			if err := os.Chmod(path(name), mode); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := MakeFile(path("old"), path("new"), path("made"), Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := ApplyFile(nil, path("old"), path("made"), path("out"), nil); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{"made": c.patch, "out": c.patched} {
			if info, err := os.Stat(path(name)); err != nil || info.Mode() != want && os.PathSeparator == '/' {
				t.Errorf("%s of %+v: %v, %v", name, c, info.Mode(), err)
			}
		}
	}
}

// zeroTarget is a target of any size that discards writes and reads as zeros.
type zeroTarget struct{ size int64 }

func (a *zeroTarget) WriteAt(b []byte, at int64) (int, error) {
	a.size = max(a.size, at+int64(len(b)))
	return len(b), nil
}

func (a *zeroTarget) ReadAt(b []byte, _ int64) (int, error) {
	clear(b)
	return len(b), nil
}

// TestStopLargePatch applies a patch of 300 bytes that makes 64 TB, each block a clone of all before it, and
// checks that it can be stopped at any moment, also within a block.
func TestStopLargePatch(t *testing.T) {
	old := make([]byte, 64<<10)
	h := Header{OldSize: int64(len(old)), NewSize: maxSize, OldHash: sha256.Sum256(old)}
	bomb := h.append(nil)
	for at, last := int64(0), int64(0); at < maxSize; {
		n := max(at, 64<<10)
		by := int64(0)
		if at > 0 {
			by = h.OldSize - at
		}
		bomb = binary.AppendUvarint(bomb, uint64(n)<<2|modeClone)
		bomb = binary.AppendVarint(bomb, by-last)
		at, last = at+n, by
	}
	for _, stop := range []int64{1, 100_000, 40_000_000} {
		var out zeroTarget
		enough := errors.New("enough")
		_, err := applyPatch(delta.New, &out, bytes.NewReader(old), h.OldSize, bytes.NewReader(bomb),
			func(done, total int64) error {
				if total != maxSize {
					t.Fatalf("%d in all; expected %d", total, int64(maxSize))
				}
				if done >= stop {
					return enough
				}
				return nil
			})
		if !errors.Is(err, enough) || out.size < stop || out.size >= stop+copyBuffer {
			t.Errorf("%d bytes of %d were written when it was stopped at %d: %v", out.size, int64(maxSize), stop, err)
		}
	}
}
