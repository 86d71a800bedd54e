package atomicfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/internal/atomicfile"
	"wirelab/internal/atomicfile/faultfs"
)

// From Open to Close a folder cannot be opened again, for each way in which it is written. The error names
// the process and the machine. Closing leaves no lock file.
func TestFolderLocked(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, among := range map[string]bool{"swapped": false, "among others": true, "in two steps": false} {
		t.Run(name, func(t *testing.T) {
			before := tree("old")
			if among {
				before = map[string]string{"d/notes.txt": "mine"}
			}
			root, dir := prepared(t, before)
			d := &atomicfile.Disk{NoExchange: name == "in two steps"}
			f, err := d.Open(dir, isResult, !among)
			if err != nil {
				t.Fatal(err)
			}
			refused := func(when string) {
				t.Helper()
				for _, force := range []bool{false, true} {
					_, err := d.Open(dir, isResult, force)
					var locked *atomicfile.LockedError
					if want := fmt.Sprintf("process %d on %s", os.Getpid(), host); !errors.As(err, &locked) || !strings.Contains(err.Error(), want) {
						t.Errorf("%s, force %v: %v; want the holder, %s", when, force, err, want)
					}
				}
			}
			refused("opened")
			for i := range 3 {
				if err := f.Write(newEntries(fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
				refused("written")
			}
			if err := f.Update(newEntries("updated")); err != nil {
				t.Fatal(err)
			}
			refused("updated")
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if files, left := faultfs.Tree(t, root); files["d/a"] != "a updated" || len(left) > 0 {
				t.Errorf("%v; temporary files %v", files, left)
			}
			if f, err = d.Open(dir, func(string) bool { return false }, true); err != nil {
				t.Fatal("after Close:", err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A lock file without a lock, which a killed process left, does not prevent anything, and counts neither as a
// result nor as another file.
func TestFolderAfterCrash(t *testing.T) {
	before := tree("old")
	before["d/"+".wirelab-lock"] = "process 1 on elsewhere\n"
	root, dir := prepared(t, before)
	f, err := (*atomicfile.Disk)(nil).Open(dir, isResult, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(newEntries("new")), f.Close()); err != nil {
		t.Fatal(err)
	}
	if files, left := faultfs.Tree(t, root); len(files) != 3 || files["d/a"] != "a new" || len(left) > 0 {
		t.Errorf("%v; temporary files %v", files, left)
	}
}

// A folder that was removed and is written by another process now is not written by the first any more, and
// the lock of the other stays.
func TestFolderTaken(t *testing.T) {
	_, dir := prepared(t, nil)
	var d *atomicfile.Disk
	first, err := d.Open(dir, isResult, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	second, err := d.Open(dir, isResult, false)
	if err != nil {
		t.Fatal(err)
	}
	var locked *atomicfile.LockedError
	for name, write := range map[string]func([]atomicfile.Entry) error{"Write": first.Write, "Update": first.Update} {
		if err := write(newEntries("first")); !errors.As(err, &locked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".wirelab-lock")); err != nil {
		t.Error("the lock of the other is gone:", err)
	}
	if err := errors.Join(second.Write(newEntries("second")), second.Close()); err != nil {
		t.Error(err)
	}
}

// Results that another process has written to a folder since the first one was removed are not replaced. After
// the removal of the lock file alone, the first process still writes its own results.
func TestFolderFinishedByAnother(t *testing.T) {
	for name, write := range map[string]func(*atomicfile.Folder) error{
		"Write":  func(f *atomicfile.Folder) error { return f.Write(newEntries("again")) },
		"Update": func(f *atomicfile.Folder) error { return f.Update(newEntries("again")) },
	} {
		root, dir := prepared(t, nil)
		var d *atomicfile.Disk
		first, err := d.Open(dir, isResult, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Write(newEntries("first")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, ".wirelab-lock")); err != nil {
			t.Fatal(err)
		}
		if err := write(first); err != nil {
			t.Errorf("%s after the removal of the lock file: %v", name, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		second, err := d.Open(dir, isResult, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(second.Write(newEntries("second")), second.Close()); err != nil {
			t.Fatal(err)
		}
		if err := write(first); !errors.Is(err, atomicfile.ErrHasResults) {
			t.Errorf("%s: %v", name, err)
		}
		if err := write(first); !errors.Is(err, atomicfile.ErrHasResults) {
			t.Errorf("%s, second attempt: %v", name, err)
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		if files, left := faultfs.Tree(t, root); files["d/a"] != "a second" || len(left) > 0 {
			t.Errorf("%s: %v; temporary files %v", name, files, left)
		}
	}
}

// A lock file that is a symbolic link is refused, and its target is not created.
func TestLockIsLink(t *testing.T) {
	root, dir := prepared(t, tree("old"))
	target := filepath.Join(root, "target")
	if err := os.Symlink(target, filepath.Join(dir, ".wirelab-lock")); err != nil {
		t.Skip(err)
	}
	if f, err := (*atomicfile.Disk)(nil).Open(dir, isResult, true); err == nil {
		f.Close()
		t.Error("a link is accepted")
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("the target of the link was created")
	}
}
