// Package atomicfile writes files and folders that appear completely or not at all. A reader finds
// the old state or the new one, also after a failed operation and after a crash.
//
// New content is written next to its destination under a temporary name, ".wirelab-N.tmp", and
// renamed. Temporary files of a killed process are removed a day later by the next process that
// writes into the same folder. Every operation goes through a Disk, where tests inject faults.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Op is an operation that changes a disk: mkdir, create, write, chmod, sync, close, link, rename or
// remove. A failed link is replaced by a rename, because not all file systems have links.
type Op string

// Disk performs the operations. A nil Disk and the zero value use the machine's file system. A Disk
// is safe for concurrent use if Before is.
type Disk struct {
	// Before, if not nil, is called before each operation, in tests. If it returns an error,
	// the operation is not performed and fails with that error.
	Before func(op Op, path string) error
	// NoExchange disables the exchange of two folders in one step, as on Windows.
	NoExchange bool
}

// perform calls f, an operation on path. Its errors contain path, even if f worked on a temporary
// file.
func (d *Disk) perform(op Op, path string, f func() error) error {
	if d != nil && d.Before != nil {
		if err := d.Before(op, path); err != nil {
			return &fs.PathError{Op: string(op), Path: path, Err: err}
		}
	}
	return withPath(path, f())
}

// withPath replaces the path in an error of the file system, often a temporary name, by path. Other
// errors, and nil, are unchanged.
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
func (d *Disk) MkdirAll(dir string) (created []string, err error) {
	for up := filepath.Clean(dir); isMissing(up) && up != filepath.Dir(up); up = filepath.Dir(up) {
		created = append([]string{up}, created...)
	}
	if err := d.perform("mkdir", dir, func() error { return os.MkdirAll(dir, 0o755) }); err != nil {
		d.RemoveEmpty(created)
		return nil, err
	}
	return created, nil
}

// isMissing reports whether nothing exists at path.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// RemoveEmpty removes the empty ones of the folders, the last one first.
func (d *Disk) RemoveEmpty(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = d.remove(dirs[i], os.Remove) // os.Remove fails for folders that are not empty
	}
}

// RemoveAll removes path and everything below it.
func (d *Disk) RemoveAll(path string) error { return d.remove(path, os.RemoveAll) }

// remove calls f to remove path, and once more if that fails. If path is temporary and still exists,
// removeLeftovers removes it after a day.
func (d *Disk) remove(path string, f func(string) error) error {
	err := d.perform("remove", path, func() error { return f(path) })
	if err != nil {
		err = d.perform("remove", path, func() error { return f(path) })
	}
	return err
}

// newDir creates one folder. The error is fs.ErrExist if path exists.
func (d *Disk) newDir(path string) error {
	return d.perform("mkdir", path, func() error { return os.Mkdir(path, 0o755) })
}

// TempDir creates a folder among the machine's temporary files.
func (d *Disk) TempDir() (string, error) { return d.tempDir(os.TempDir()) }

// tempDir creates a folder with a temporary name in parent and returns its path. It also removes the
// temporary files and folders that killed processes left in parent more than a day before.
func (d *Disk) tempDir(parent string) (path string, err error) {
	err = d.perform("mkdir", parent, func() (err error) {
		path, err = os.MkdirTemp(parent, tempPattern)
		return err
	})
	if err == nil {
		removeLeftovers(parent, path) // what is old is judged by the time of the new folder
	}
	return path, err
}

// Prepare creates dir and its missing parents, and checks that files can be created in dir: it creates one and
// removes it. It returns the folders that it created, the outermost first; after an error they are removed again.
func (d *Disk) Prepare(dir string) (created []string, err error) {
	if created, err = d.MkdirAll(dir); err != nil {
		return nil, err
	}
	f, err := d.Create(filepath.Join(dir, "probe"))
	if err == nil {
		err = f.Abort()
	}
	if err != nil {
		d.RemoveEmpty(created)
		return nil, withPath(dir, err)
	}
	return created, nil
}

// rename moves a file or folder from oldPath to newPath, on the same file system. Errors contain newPath.
func (d *Disk) rename(oldPath, newPath string) error {
	return d.perform("rename", newPath, func() error { return os.Rename(oldPath, newPath) })
}

// File is a file that is written next to its destination. Commit moves it there; Abort removes it.
type File struct {
	disk *Disk
	path string   // path of the destination
	tmp  *os.File // the temporary file; nil after Commit and Abort
}

// ErrDangling means that a path is a symbolic link to a file that does not exist.
var ErrDangling = errors.New("symbolic link to a file that does not exist")

// resolveLink returns the target of path if that is a symbolic link, otherwise path, because
// renaming a file over a link would replace the link.
func resolveLink(path string) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // creating the file will report an error again
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
	err := d.perform("create", path, func() (err error) {
		if f.path, err = resolveLink(path); err == nil {
			// The temporary name does not contain that of the destination, which may have the maximum length.
			f.tmp, err = os.CreateTemp(filepath.Dir(f.path), tempPattern)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	removeLeftovers(filepath.Dir(f.path), f.tmp.Name())
	return f, nil
}

func (f *File) Write(p []byte) (n int, err error) {
	err = f.disk.perform("write", f.path, func() error { n, err = f.tmp.Write(p); return err })
	return n, err
}

func (f *File) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.disk.perform("write", f.path, func() error { n, err = f.tmp.WriteAt(p, at); return err })
	return n, err
}

func (f *File) ReadAt(p []byte, at int64) (int, error) { return f.tmp.ReadAt(p, at) }

// Commit completes the file with the permissions mode and moves it to its destination, replacing an
// existing file. After an error the destination is unchanged.
func (f *File) Commit(mode fs.FileMode) error {
	if f.tmp == nil {
		return &fs.PathError{Op: "commit", Path: f.path, Err: fs.ErrClosed}
	}
	err := f.disk.perform("chmod", f.path, func() error { return f.tmp.Chmod(mode) })
	if err == nil { // without a sync, the new name may refer to an empty file after a power failure
		err = f.disk.perform("sync", f.path, f.tmp.Sync)
	}
	if err == nil {
		err = f.disk.perform("close", f.path, f.tmp.Close)
	}
	if err == nil {
		err = f.disk.rename(f.tmp.Name(), f.path)
	}
	if err != nil {
		_ = f.Abort() // the first error is returned, not that of Abort
		return err
	}
	f.tmp = nil
	return nil
}

// Abort removes the temporary file. After Commit or Abort it does nothing, so it can be deferred.
func (f *File) Abort() error {
	if f.tmp == nil {
		return nil
	}
	_ = f.tmp.Close() // the error is ignored, because the file may be closed already
	name := f.tmp.Name()
	f.tmp = nil
	return f.disk.RemoveAll(name)
}

// WriteFile creates the file at path with the content that fill writes and the permissions mode.
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
