package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/internal/atomicfile"
	"wirelab/internal/atomicfile/faultfs"
)

// lines returns n numbered lines.
func lines(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %0100d\n", from+i, 0)
	}
	return b.String()
}

const many = 3000 // lines, more than fit in memory

// written writes a folder of one log, followed by tail, and a file.
func written(f *atomicfile.Folder, l *atomicfile.Log, tail string) error {
	return f.Write([]atomicfile.Entry{{Name: "a", Log: l, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, tail)
		return err
	}}, {Name: "b", Write: func(w io.Writer) error { _, err := io.WriteString(w, tail); return err }}})
}

// After each write the folder contains the log so far and the tail of that write, for each way in
// which the folder is written. A file that a reader has opened does not change. After Close no
// temporary files remain.
func TestLog(t *testing.T) {
	for name, among := range map[string]bool{"swapped": false, "among others": true, "without links": false, "in two steps": false} {
		t.Run(name, func(t *testing.T) {
			var before map[string]string
			if among {
				before = map[string]string{"d/notes.txt": "mine"}
			}
			root, dir := prepared(t, before)
			d := &atomicfile.Disk{NoExchange: name == "in two steps"}
			if name == "without links" {
				d.Before = func(op atomicfile.Op, _ string) error {
					if op == "link" {
						return errors.ErrUnsupported
					}
					return nil
				}
			}
			f, err := d.Open(dir, isResult, false)
			if err != nil {
				t.Fatal(err)
			}
			l, want := f.Log("a"), ""
			for i, n := range []int{3, many, 0, many, 10, 2 * many, 1} {
				text, tail := lines(len(want), n), fmt.Sprintf("tail %d\n", i)
				if _, err := io.WriteString(l, text); err != nil {
					t.Fatal(err)
				}
				want += text
				open, _ := os.Open(filepath.Join(dir, "a"))
				was, _ := os.ReadFile(filepath.Join(dir, "a"))
				if err := written(f, l, tail); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != want+tail {
					t.Fatalf("after write %d: %d bytes, %v; want %d", i, len(got), err, len(want+tail))
				}
				if open != nil {
					if got, err := io.ReadAll(open); err != nil || string(got) != string(was) {
						t.Errorf("the file opened before write %d changed: %d bytes, had %d", i, len(got), len(was))
					}
					open.Close()
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if _, left := faultfs.Tree(t, root); len(left) > 0 {
				t.Errorf("temporary files remain: %v", left)
			}
			if _, err := io.WriteString(l, lines(0, many)); err == nil {
				t.Error("a closed log accepted a write")
			}
		})
	}
}

// Whichever operation fails, a folder with a log has the state of one of its writes, and no
// temporary files remain.
func TestLogAtomic(t *testing.T) {
	first, second := lines(0, many), lines(many, many)
	for _, among := range []bool{false, true} {
		n := faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
			var before map[string]string
			if among {
				before = map[string]string{"d/notes.txt": "mine"}
			}
			root, dir := prepared(t, before)
			f, err := d.Open(dir, isResult, false)
			if err == nil {
				l := f.Log("a")
				for i, text := range []string{first, second} {
					if _, bad := io.WriteString(l, text); bad != nil && err == nil {
						err = bad
					}
					if err == nil {
						err = written(f, l, fmt.Sprint(i))
					}
				}
				err = errors.Join(err, f.Close())
			}
			files, left := faultfs.Tree(t, root)
			a, b := files["d/a"], files["d/b"]
			switch state := [2]string{a, b}; state {
			case [2]string{first + second + "1", "1"}:
			case [2]string{first + "0", "0"}, [2]string{}:
				if err == nil {
					t.Errorf("no error, and the state %q", b)
				}
			default:
				if !crash || !among {
					t.Errorf("%d bytes with tail %q", len(a), b)
				}
			}
			checkFault(t, err, dir, crash, left)
		})
		if n < 20 {
			t.Errorf("only %d operations", n)
		}
	}
}

// A log keeps its content if its temporary file is removed because the run was suspended for more
// than a day. Newer temporary files remain.
func TestLogSurvivesCleanup(t *testing.T) {
	root := t.TempDir()
	f, err := (*atomicfile.Disk)(nil).Open(filepath.Join(root, "d"), isResult, false)
	if err != nil {
		t.Fatal(err)
	}
	l, want := f.Log("a"), ""
	write := func() {
		text := lines(len(want), many)
		want += text
		if _, err := io.WriteString(l, text); err != nil {
			t.Fatal(err)
		}
	}
	save := func() {
		if err := written(f, l, "tail"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(root, "d", "a")); err != nil || string(got) != want+"tail" {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(want+"tail"))
		}
	}
	temporary := func() []string {
		files, err := filepath.Glob(filepath.Join(root, ".wirelab-*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	write()
	save()
	files, old := temporary(), time.Now().Add(-48*time.Hour)
	for _, path := range files {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write()
	prepare := func() {
		if _, err := (*atomicfile.Disk)(nil).Prepare(root); err != nil {
			t.Fatal(err)
		}
	}
	prepare()
	if left := temporary(); len(files) != 1 || len(left) != 1 {
		t.Errorf("temporary files %v, then %v; want only the one written later", files, left)
	}
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	prepare()
	if left := temporary(); len(left) != 0 {
		t.Errorf("temporary files %v; want none", left)
	}
	for range 3 {
		save()
		write()
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left := temporary(); len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}
