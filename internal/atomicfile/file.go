// Package atomicfile writes files and folders that appear completely or not at all. A reader
// finds the old state or the new one, also after a failed operation and after a crash.
//
// New content is written beside its destination under a temporary name, ".wirelab-N.tmp", and
// renamed. Temporary files of a killed process are removed a day later, by the next process
// that writes into the same folder. Every operation goes through a Disk, where tests inject
// faults.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Op is an operation that changes what is on a disk: mkdir, create, write, chmod, sync, close,
// link, rename or remove. A link has a substitute on file systems without links.
type Op string

// Disk performs the operations. A nil Disk and the zero value use the machine's file system.
// It may be used by several goroutines if Before may.
type Disk struct {
	// Before, if not nil, is called before each operation, in tests. If it returns an error,
	// the operation is not performed and fails with that error.
	Before func(op Op, path string) error
	// NoExchange disables the exchange of two folders in one step, as on Windows.
	NoExchange bool
}

// do performs f, an operation on path. Its errors name path, even if f worked on a temporary
// file.
func (d *Disk) do(op Op, path string, f func() error) error {
	if d != nil && d.Before != nil {
		if err := d.Before(op, path); err != nil {
			return &fs.PathError{Op: string(op), Path: path, Err: err}
		}
	}
	return withPath(path, f())
}

// withPath replaces the path in an error of the file system, often a temporary name, by path.
func withPath(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &le):
		return &fs.PathError{Op: le.Op, Path: path, Err: le.Err}
	case errors.As(err, &pe):
		return &fs.PathError{Op: pe.Op, Path: path, Err: pe.Err}
	}
	return err
}

// MkdirAll creates dir and its missing parents. It returns the folders that it created, the
// outermost first; after an error they are removed again.
func (d *Disk) MkdirAll(dir string) (made []string, err error) {
	for up := filepath.Clean(dir); isMissing(up) && up != filepath.Dir(up); up = filepath.Dir(up) {
		made = append([]string{up}, made...)
	}
	if err := d.do("mkdir", dir, func() error { return os.MkdirAll(dir, 0o755) }); err != nil {
		d.RemoveEmpty(made)
		return nil, err
	}
	return made, nil
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// RemoveEmpty removes those of the folders that are empty, the last one first.
func (d *Disk) RemoveEmpty(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = d.remove(dirs[i], os.Remove) // fails where something was written
	}
}

// RemoveAll removes path and everything below it.
func (d *Disk) RemoveAll(path string) error { return d.remove(path, os.RemoveAll) }

// remove calls f up to two times: what it fails to remove stays for a day.
func (d *Disk) remove(path string, f func(string) error) error {
	err := d.do("remove", path, func() error { return f(path) })
	if err != nil {
		err = d.do("remove", path, func() error { return f(path) })
	}
	return err
}

// NewDir creates one folder. The error is fs.ErrExist if path exists.
func (d *Disk) NewDir(path string) error {
	return d.do("mkdir", path, func() error { return os.Mkdir(path, 0o755) })
}

// TempDir creates a folder among the machine's temporary files.
func (d *Disk) TempDir() (string, error) { return d.tempDir(os.TempDir()) }

// tempDir creates a folder with a temporary name in parent.
func (d *Disk) tempDir(parent string) (name string, err error) {
	err = d.do("mkdir", parent, func() (err error) {
		name, err = os.MkdirTemp(parent, tempPattern)
		return err
	})
	if err == nil {
		clean(parent, name)
	}
	return name, err
}

// Prepare is MkdirAll, and checks that files can be created in dir.
func (d *Disk) Prepare(dir string) (made []string, err error) {
	if made, err = d.MkdirAll(dir); err != nil {
		return nil, err
	}
	f, err := d.Create(filepath.Join(dir, "probe"))
	if err == nil {
		err = f.Abort()
	}
	if err != nil {
		d.RemoveEmpty(made)
		return nil, withPath(dir, err)
	}
	return made, nil
}

func (d *Disk) rename(from, to string) error {
	return d.do("rename", to, func() error { return os.Rename(from, to) })
}

// File is a file that is being written beside its destination. Commit moves it there; Abort
// removes it.
type File struct {
	disk *Disk
	path string   // of the destination
	tmp  *os.File // nil after Commit and Abort
}

// ErrDangling means that the path is a symbolic link to a file that does not exist.
var ErrDangling = errors.New("a link to nothing")

// follow returns the target of a symbolic link; renaming over the link would replace the link.
func follow(path string) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // an error shows when the file is created
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &fs.PathError{Op: "create", Path: path, Err: ErrDangling}
	}
	return target, err
}

// Create begins a file whose destination is path, or the target of path if that is a link.
func (d *Disk) Create(path string) (*File, error) {
	f := &File{disk: d}
	err := d.do("create", path, func() (err error) {
		if f.path, err = follow(path); err == nil {
			// The name of the destination may be as long as names may be: it is not part of this one.
			f.tmp, err = os.CreateTemp(filepath.Dir(f.path), tempPattern)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	clean(filepath.Dir(f.path), f.tmp.Name())
	return f, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (n int, err error) {
	err = f.disk.do("write", f.path, func() error { n, err = f.tmp.Write(p); return err })
	return n, err
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.disk.do("write", f.path, func() error { n, err = f.tmp.WriteAt(p, at); return err })
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) { return f.tmp.ReadAt(p, at) }

// Commit completes the file, with these permissions, and moves it to its destination, over a
// file that is there. After an error the destination is unchanged.
func (f *File) Commit(mode fs.FileMode) error {
	if f.tmp == nil {
		return &fs.PathError{Op: "commit", Path: f.path, Err: fs.ErrClosed}
	}
	err := f.disk.do("chmod", f.path, func() error { return f.tmp.Chmod(mode) })
	if err == nil { // otherwise, after a power cut, the new name may refer to an empty file
		err = f.disk.do("sync", f.path, f.tmp.Sync)
	}
	if err == nil {
		err = f.disk.do("close", f.path, f.tmp.Close)
	}
	if err == nil {
		err = f.disk.rename(f.tmp.Name(), f.path)
	}
	if err != nil {
		_ = f.Abort() // the first error counts
		return err
	}
	f.tmp = nil
	return nil
}

// Abort removes what was written. After Commit or Abort it does nothing, so it can be deferred.
func (f *File) Abort() error {
	if f.tmp == nil {
		return nil
	}
	_ = f.tmp.Close() // may be closed already
	name := f.tmp.Name()
	f.tmp = nil
	return f.disk.RemoveAll(name)
}

// WriteFile writes what fill writes to path, with these permissions.
func (d *Disk) WriteFile(path string, mode fs.FileMode, fill func(*File) error) error {
	f, err := d.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		_ = f.Abort()
		return err
	}
	return f.Commit(mode)
}
