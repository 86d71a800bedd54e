package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is being written beside its place. Commit puts it there, over
// what was there; Abort throws it away.
type File struct {
	disk *Disk
	path string
	tmp  *os.File // nil once it is over
}

// ErrDangling: the path is a link that leads to nothing.
var ErrDangling = errors.New("a link to nothing")

// follow returns what a link leads to: to rename over its own name would replace it.
func follow(path string) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // what is wrong with it, if anything, shows when it is made
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &fs.PathError{Op: "create", Path: path, Err: ErrDangling}
	}
	return target, err
}

// Create begins a file that will be at path, or at what path leads to if it is a link.
func (d *Disk) Create(path string) (*File, error) {
	if err := d.fault(Create, path); err != nil {
		return nil, err
	}
	path, err := follow(path)
	if err != nil {
		return nil, err
	}
	// Not named like the file: that may be as long as names may be.
	tmp, err := os.CreateTemp(filepath.Dir(path), tempPattern)
	if err != nil {
		return nil, about(path, err)
	}
	clean(filepath.Dir(path), tmp.Name())
	return &File{disk: d, path: path, tmp: tmp}, nil
}

// Write implements io.Writer. Where a test lets it fail, half is written.
func (f *File) Write(p []byte) (int, error) {
	if err := f.disk.fault(Write, f.path); err != nil {
		n, _ := f.tmp.Write(p[:len(p)/2])
		return n, err
	}
	n, err := f.tmp.Write(p)
	return n, about(f.path, err)
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	if err := f.disk.fault(Write, f.path); err != nil {
		n, _ := f.tmp.WriteAt(p[:len(p)/2], at)
		return n, err
	}
	n, err := f.tmp.WriteAt(p, at)
	return n, about(f.path, err)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) { return f.tmp.ReadAt(p, at) }

// Commit completes the file and puts it in its place. After an error what was there is
// as it was.
func (f *File) Commit(mode fs.FileMode) error {
	if f.tmp == nil {
		return &fs.PathError{Op: "commit", Path: f.path, Err: fs.ErrClosed}
	}
	err := f.finish(mode)
	if err == nil {
		err = f.disk.rename(f.tmp.Name(), f.path)
	}
	if err != nil {
		_ = f.Abort() // the first error is the one to tell of
		return about(f.path, err)
	}
	f.tmp = nil
	return nil
}

// finish brings everything to the disk: else, after a power cut, the new name may stand
// over no content.
func (f *File) finish(mode fs.FileMode) error {
	if err := f.disk.settle(f.tmp, f.path, mode); err != nil {
		return err
	}
	if err := f.disk.fault(Close, f.path); err != nil {
		return err
	}
	return f.tmp.Close()
}

// settle brings what a file holds to the disk, with its permissions. Errors are about as.
func (d *Disk) settle(file *os.File, as string, mode fs.FileMode) error {
	if err := d.fault(Chmod, as); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := d.fault(Sync, as); err != nil {
		return err
	}
	return file.Sync()
}

// Abort throws away what was written. Once the file is over it does nothing, so it can
// be deferred.
func (f *File) Abort() error {
	if f.tmp == nil {
		return nil
	}
	_ = f.tmp.Close() // may be closed already: nothing is lost either way
	name := f.tmp.Name()
	f.tmp = nil
	return f.disk.RemoveAll(name)
}

// WriteFile writes what fill writes to path, with the permissions of mode.
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

// Entry is one file of several that belong together.
type Entry struct {
	Name  string
	Write func(io.Writer) error
	Log   *Log // what comes before that, of the same folder; nil: nothing
}
