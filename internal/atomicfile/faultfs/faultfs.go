// Package faultfs injects faults into the operations of an atomicfile.Disk, one after the other,
// and lists the remaining files.
package faultfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"wirelab/internal/atomicfile"
	"wirelab/internal/testkit"
)

// Cause is the error of a failing operation.
const Cause = syscall.ENOSPC

// Failing is a disk on which an operation fails.
type Failing struct {
	atomicfile.Disk
	mu        sync.Mutex
	count     int
	failAt    int  // number of the operation that fails, from 1
	failAfter bool // all operations after failAt fail, too

	Op   atomicfile.Op // the operation that failed; "" if none
	Path string        // path of the operation that failed
}

// FailAt returns a disk whose n-th operation fails, counted from 1. With crash, all later
// operations fail as well.
func FailAt(n int, crash bool) *Failing {
	f := &Failing{failAt: n, failAfter: crash}
	f.Before = f.before
	return f
}

// before implements Disk.Before. It counts the operations and lets the one with number failAt fail.
func (f *Failing) before(op atomicfile.Op, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	switch {
	case f.count == f.failAt:
		f.Op, f.Path = op, path
		return Cause
	case f.failAfter && f.count > f.failAt: // a crash: all later operations fail too
		return Cause
	}
	return nil
}

// Each calls try with a disk whose first operation fails, then the second, and so on until all
// operations of try succeed; and repeats that with a crash at each operation. Unless tests are
// thorough, it uses every ninth operation only, to save time. It returns the number of operations of
// try, rounded up to a multiple of that step.
func Each(t *testing.T, try func(t *testing.T, d *Failing, crash bool)) (n int) {
	t.Helper()
	step := testkit.Choose(1, 9)
	for _, crash := range []bool{false, true} {
		for n = 1; ; n += step {
			d := FailAt(n, crash)
			try(t, d, crash)
			if d.Op == "" { // nothing failed, because try has fewer than n operations
				break
			}
			if t.Failed() {
				t.Fatalf("with operation %d failing, %s of %s, crash %v", n, d.Op, d.Path, crash)
			}
			if n > 20_000 {
				t.Fatal("try performs more operations each time")
			}
		}
	}
	return n - 1
}

var temporary = regexp.MustCompile(`^\.wirelab-`)

// Tree returns the content of the files below dir, by path. left lists the temporary files and
// folders, which are not in files.
func Tree(t *testing.T, dir string) (files map[string]string, left []string) {
	t.Helper()
	files = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if temporary.MatchString(e.Name()) {
			left = append(left, name)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, left
}
