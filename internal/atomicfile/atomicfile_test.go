package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/internal/atomicfile"
	"wirelab/internal/atomicfile/faultfs"
)

// newEntries returns files whose content names a state.
func newEntries(state string) []atomicfile.Entry {
	var list []atomicfile.Entry
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, atomicfile.Entry{Name: name, Write: func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s %s", name, state)
			return err
		}})
	}
	return list
}

func isResult(name string) bool { return len(name) == 1 }

func tree(state string) map[string]string {
	return map[string]string{"d/a": "a " + state, "d/b": "b " + state, "d/c": "c " + state}
}

func prepared(t *testing.T, files map[string]string) (root, dir string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, filepath.Join(root, "d")
}

// Whichever operation fails, a folder and a group of files have the old or the new state, no
// temporary files remain, and the error names the folder and the cause.
func TestFolderAtomic(t *testing.T) {
	extra := tree("old")
	extra["d/notes.txt"] = "mine"
	for name, c := range map[string]struct {
		before map[string]string
		force  bool
		group  bool // a crash may leave a mixture of files
	}{
		"new folder":         {before: nil},
		"over another run's": {before: tree("old"), force: true},
		"in two steps":       {before: tree("old"), force: true},
		"among others":       {before: map[string]string{"d/notes.txt": "mine"}, group: true},
		"a group":            {before: extra, group: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
				root, dir := prepared(t, c.before)
				var err error
				d.NoExchange = name == "in two steps"
				if name == "a group" {
					err = d.Group(dir, newEntries("new"))
				} else {
					var f *atomicfile.Folder
					if f, err = d.Open(dir, isResult, c.force); err == nil {
						err = f.Write(newEntries("new"))
						_ = f.Close()
					}
				}
				if crash && d.NoExchange { // the next process completes the interrupted swap
					f, err := (*atomicfile.Disk)(nil).Open(dir, isResult, true)
					if err == nil {
						err = f.Close()
					}
					if err != nil {
						t.Error(err)
					}
				}
				files, left := faultfs.Tree(t, root)
				want := tree("new")
				if _, ok := c.before["d/notes.txt"]; ok {
					want["d/notes.txt"] = "mine"
				}
				isNew, isOld := maps.Equal(files, want), maps.Equal(files, c.before)
				switch {
				case crash && c.group:
				case !isNew && !isOld:
					t.Errorf("neither old nor new: %v", files)
				case err == nil && !isNew:
					t.Errorf("no error, and %v", files)
				}
				checkFault(t, err, dir, crash, left)
			})
			if n < 10 {
				t.Errorf("only %d operations", n)
			}
		})
	}
}

// checkFault checks that err, if any, names dir and its cause, and that without a crash no temporary
// files are left.
func checkFault(t *testing.T, err error, dir string, crash bool, left []string) {
	t.Helper()
	if !crash && len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}
	if err != nil && (!errors.Is(err, faultfs.Cause) || !strings.Contains(err.Error(), dir)) {
		t.Errorf("%v does not name %s and the cause", err, dir)
	}
}

// Whichever operation fails, a file has the old or the new content.
func TestFileAtomic(t *testing.T) {
	faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
		root, _ := prepared(t, map[string]string{"f": "old"})
		path := filepath.Join(root, "f")
		err := d.WriteFile(path, 0o644, func(f *atomicfile.File) error {
			_, err := io.WriteString(f, "new")
			return err
		})
		files, left := faultfs.Tree(t, root)
		if files["f"] != map[bool]string{true: "new", false: "old"}[err == nil] || len(files) != 1 || !crash && len(left) > 0 {
			t.Errorf("%v: %v, left %v", err, files, left)
		}
		if err != nil && (!errors.Is(err, faultfs.Cause) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%v does not name %s", err, path)
		}
	})
}

// A folder with the results of another run is refused; with other files in it, also with force.
func TestFolderRefused(t *testing.T) {
	mixed := tree("old")
	mixed["d/notes.txt"] = "mine"
	for _, c := range []struct {
		before map[string]string
		force  bool
		want   error
	}{
		{tree("old"), false, atomicfile.ErrHasResults},
		{mixed, false, atomicfile.ErrHasResults},
		{mixed, true, atomicfile.ErrHasOtherFiles},
		{map[string]string{"d/notes.txt": "mine"}, false, nil},
		{map[string]string{"d/.wirelab-123.tmp": "half"}, false, nil},
	} {
		_, dir := prepared(t, c.before)
		if _, err := (*atomicfile.Disk)(nil).Open(dir, isResult, c.force); !errors.Is(err, c.want) {
			t.Errorf("%v, force %v: %v; want %v", c.before, c.force, err, c.want)
		}
	}
	root, dir := prepared(t, tree("old"))
	t.Chdir(dir)
	if _, err := (*atomicfile.Disk)(nil).Open(".", isResult, true); !errors.Is(err, atomicfile.ErrNotReplaceable) {
		t.Errorf("the working directory: %v", err)
	}
	t.Chdir(root)
}

// Close removes a folder that Open created, and its created parents, if nothing was written.
// Existing folders and folders with files remain.
func TestFolderUnused(t *testing.T) {
	for _, c := range []struct {
		there   string
		written bool
		left    string // the deepest folder
	}{{"", false, ""}, {"a", false, "a"}, {"a/b", false, "a/b"}, {"", true, "a/b"}} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, c.there), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := new(atomicfile.Disk).Open(filepath.Join(root, "a", "b"), isResult, false)
		if err != nil {
			t.Fatal(err)
		}
		if c.written {
			err = f.Write(newEntries("new"))
		}
		if err := errors.Join(err, f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
		left := ""
		for _, dir := range []string{"a", "a/b"} {
			if _, err := os.Stat(filepath.Join(root, dir)); err == nil {
				left = dir
			}
		}
		if left != c.left {
			t.Errorf("%+v: %q remains", c, left)
		}
	}
}

// A folder that is reached by a symbolic link is replaced at the link's target and keeps its
// permissions. Files that appeared after Open are not overwritten.
func TestFolderByLink(t *testing.T) {
	root, dir := prepared(t, map[string]string{"d/a": "a old"})
	link := filepath.Join(root, "link")
	if err := errors.Join(os.Symlink(dir, link), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	f, err := (*atomicfile.Disk)(nil).Open(link, isResult, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(newEntries("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	late := filepath.Join(root, "late")
	f, err = (*atomicfile.Disk)(nil).Open(late, isResult, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(late, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(newEntries("new")); !errors.Is(err, atomicfile.ErrHasResults) {
		t.Errorf("overwrote a file that appeared after Open: %v", err)
	}
}

// TestWriteKeepsOtherFiles checks that a second Write keeps a file that the user put into the folder
// after the first.
func TestWriteKeepsOtherFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, err := (*atomicfile.Disk)(nil).Open(dir, isResult, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	notes := filepath.Join(dir, "notes.txt")
	for _, text := range []string{"first", "second"} {
		if err := f.Write(newEntries(text)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(notes, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Write(newEntries("third")); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(notes)
	written, err2 := os.ReadFile(filepath.Join(dir, "a"))
	if string(kept) != "mine" || string(written) != "a third" {
		t.Errorf("%q, %v; %q, %v", kept, err, written, err2)
	}
}

// Temporary files and folders of killed processes are removed after a day; other files remain.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	put := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		err = errors.Join(err, os.WriteFile(path, []byte("half"), 0o644), os.Chtimes(path, now.Add(-age), now.Add(-age)))
		for up := filepath.Dir(path); up != dir; up = filepath.Dir(up) {
			err = errors.Join(err, os.Chtimes(up, now.Add(-age), now.Add(-age)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const old, young = 25 * time.Hour, 23 * time.Hour
	put(".wirelab-1.tmp", old)
	put(".wirelab-22", old)
	put(".wirelab-3.tmp/new", old)
	put(".wirelab-4.tmp", young)
	put(".wirelab-5.tmp/old/gone/f", old)           // an interrupted swap
	put(".wirelab-8.tmp/old/.wirelab-4.tmp/f", old) // a completed swap
	put(".notes.part", old)
	put(".wirelab-notes.tmp", old)
	put("wirelab-6.tmp", old)
	if err := os.Symlink(dir, filepath.Join(dir, ".wirelab-7.tmp")); err != nil {
		t.Fatal(err)
	}
	if _, err := (*atomicfile.Disk)(nil).Prepare(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), ".notes.part .wirelab-4.tmp .wirelab-5.tmp .wirelab-7.tmp .wirelab-notes.tmp wirelab-6.tmp"; got != want {
		t.Errorf("there is %s; want %s", got, want)
	}
}
