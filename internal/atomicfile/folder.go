package atomicfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Errors of Disk.Open and Folder.Write.
var (
	// ErrHasResults means that the folder contains results that this Folder did not write.
	ErrHasResults = errors.New("contains the results of another run")
	// ErrHasOtherFiles means that the folder also contains other files, so it is not replaced.
	ErrHasOtherFiles = errors.New("contains the results of another run, and other files")
	// ErrNotReplaceable means that the folder is a mount or the working directory, so it cannot be replaced.
	ErrNotReplaceable = errors.New("contains the results of another run, and cannot be replaced as a folder")
)

// Entry is one file to write, with the function that writes its content.
type Entry struct {
	Name  string
	Write func(io.Writer) error
	Log   *Log // a log of the same folder, whose content precedes that of Write; nil means none
}

// Bytes returns a file with the given content.
func Bytes(name string, content []byte) Entry {
	return Entry{Name: name, Write: func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}

// JSON returns a file with v as indented JSON.
func JSON(name string, v any) Entry {
	return Entry{Name: name, Write: func(w io.Writer) error {
		data, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			_, err = w.Write(append(data, '\n'))
		}
		return err
	}}
}

// Folder contains the results of one run. Each Write replaces the complete folder in one step. If
// the folder contains other files or cannot be replaced (a mount, the working directory, a parent
// that is not writable), Write writes the files with Disk.Group, but never over results of another
// run. From Open to Close the folder is locked: only one process at a time can write it.
type Folder struct {
	disk     *Disk
	path     string            // absolute path without symbolic links
	isResult func(string) bool // reports whether a file of this name is a result
	force    bool              // results of another run may be replaced
	written  bool              // the results in the folder are from this Folder
	inPlace  bool              // the folder cannot be replaced
	logs     []*Log
	created  []string // folders that Open created; nil after the first Write
	lock     *os.File // lock file in the folder; nil in a Sub, and after Close

	newest     string      // path of a file that the last Write or Update wrote; "" before the first
	newestInfo os.FileInfo // of that file
}

// Open prepares dir for the results of a run and creates it if necessary. isResult reports whether
// a file of a name is a result. If dir contains one, Open returns an error: it wraps ErrHasResults unless
// force is set. force lets Write replace the results, but not if the folder also contains other files
// (ErrHasOtherFiles) or cannot be replaced as a whole (ErrNotReplaceable). While another process has the
// folder open, Open returns a *LockedError, also with force.
func (d *Disk) Open(dir string, isResult func(name string) bool, force bool) (*Folder, error) {
	if err := d.completeSwap(dir); err != nil {
		return nil, err
	}
	created, err := d.Prepare(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{disk: d, isResult: isResult, force: force, created: created}
	if f.path, err = filepath.Abs(dir); err == nil {
		f.path, err = filepath.EvalSymlinks(f.path)
	}
	if err == nil {
		f.lock, err = d.lock(f.path)
	}
	if err == nil {
		f.inPlace = isWorkingDir(f.path) || isMount(f.path)
		err = f.checkReplaceable()
	}
	if err != nil {
		_ = f.Close() // keep the first error
		return nil, err
	}
	return f, nil
}

// isWorkingDir reports whether path is the working directory.
func isWorkingDir(path string) bool {
	a, err := os.Stat(path)
	b, err2 := os.Stat(".")
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// checkReplaceable returns an error if the folder contains results that must not be replaced. It
// sets inPlace if the folder contains other files, which are kept.
func (f *Folder) checkReplaceable() error {
	entries, err := os.ReadDir(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	result, other := "", ""
	for _, e := range entries {
		switch {
		case f.isResult(e.Name()):
			result = e.Name()
		case !tempName.MatchString(e.Name()) && e.Name() != lockName:
			other = e.Name()
		}
	}
	f.inPlace = f.inPlace || other != ""
	switch {
	case result == "", f.written:
		return nil
	case !f.force:
		return fmt.Errorf("%w (%s)", ErrHasResults, result)
	case other != "":
		return fmt.Errorf("%w (%s)", ErrHasOtherFiles, other)
	case f.inPlace:
		return fmt.Errorf("%w (%s)", ErrNotReplaceable, result)
	}
	return nil
}

// Sub returns a subfolder for results of the same run, which may replace results in it. Nothing is
// created before the first Write.
func (f *Folder) Sub(name string) *Folder {
	return &Folder{disk: f.disk, path: filepath.Join(f.path, name), isResult: f.isResult, force: true}
}

// Path returns the absolute path of the folder.
func (f *Folder) Path() string { return f.path }

// Write replaces the content of the folder by these files: the whole folder in one step, or file by file if
// the folder cannot be replaced. It fails if the folder has results of another run that must be kept.
func (f *Folder) Write(entries []Entry) error {
	if err := f.keepLock(); err != nil {
		return err
	}
	if err := f.checkReplaceable(); err != nil { // the folder may have changed since Open
		return fmt.Errorf("%s: %w", f.path, err)
	}
	write := f.replace
	if f.inPlace {
		write = f.Update
	}
	err := write(entries)
	if !f.inPlace && isNotReplaceable(err) { // try again, file by file
		f.inPlace = true
		return f.Write(entries)
	}
	if err == nil {
		f.written, f.created = true, nil
		f.noteNewest(entries)
	}
	return err
}

// noteNewest records a file that was written.
func (f *Folder) noteNewest(entries []Entry) {
	if len(entries) > 0 {
		f.newest = filepath.Join(f.path, entries[0].Name)
		f.newestInfo, _ = os.Lstat(f.newest) // nil if the file was removed
	}
}

// Update writes files into the folder and keeps its other files.
func (f *Folder) Update(entries []Entry) error {
	if _, err := f.disk.MkdirAll(f.path); err != nil {
		return err
	}
	if err := f.keepLock(); err != nil {
		return err
	}
	err := f.disk.Group(f.path, entries)
	if err == nil {
		f.created = nil
		f.noteNewest(entries)
	}
	return err
}

// Close removes the temporary files of the logs and unlocks the folder. It removes the folder if Open
// created it and nothing was written. Later calls have no effect.
func (f *Folder) Close() (err error) {
	for _, l := range f.logs {
		err = errors.Join(err, l.close())
	}
	f.disk.unlock(f.lock, f.path)
	f.lock = nil
	f.disk.RemoveEmpty(f.created)
	return withPath(f.path, err)
}

// isNotReplaceable reports whether an error means that a folder cannot be replaced.
func isNotReplaceable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) ||
		errors.Is(err, syscall.EXDEV)
}

// replace writes a new folder, fresh, next to this one and swaps the two. The new folder gets the permissions
// of the old one. The old one is exchanged with fresh, or moved into oldDir if the system cannot exchange
// folders; stage then removes both.
func (f *Folder) replace(entries []Entry) error {
	return f.disk.stage(filepath.Dir(f.path), f.path, entries, func(fresh, oldDir string) error {
		if oldInfo, err := os.Stat(f.path); err == nil {
			if err := f.disk.perform("chmod", f.path, func() error { return os.Chmod(fresh, oldInfo.Mode().Perm()) }); err != nil {
				return err
			}
		}
		return f.swapLocked(fresh, filepath.Join(oldDir, filepath.Base(f.path)))
	})
}

// swapLocked replaces the folder by fresh and keeps it locked: fresh is locked before it takes the
// folder's place. On Windows the folder is unlocked for a moment, because it cannot be renamed while its
// lock file is open. For spare see Disk.swap.
func (f *Folder) swapLocked(fresh, spare string) (err error) {
	var next *os.File // nil in a Sub, which has no lock
	switch {
	case f.lock == nil:
	case lockMoves:
		if next, err = f.disk.lock(fresh); err != nil {
			return withPath(f.path, err)
		}
	default:
		f.disk.unlock(f.lock, f.path)
	}
	_, err = f.disk.swap(fresh, f.path, spare)
	f.written = f.written || err == nil
	switch {
	case f.lock == nil:
		return err
	case !lockMoves:
		var lockErr error
		f.lock, lockErr = f.disk.lock(f.path)
		return errors.Join(err, lockErr)
	case err != nil:
		next.Close()
		return err
	}
	f.lock.Close()
	f.lock = next
	return nil
}

// Group writes files into dir, which may contain others: all of them, or after an error none. All
// are written before the first is moved to its destination. A crash in between leaves some old and
// some new files, each complete; replacing the folder avoids that.
func (d *Disk) Group(dir string, entries []Entry) error {
	return d.stage(dir, dir, entries, func(fresh, oldDir string) (err error) {
		oldPaths := make([]string, len(entries))
		for i, e := range entries {
			oldPaths[i], err = d.swap(filepath.Join(fresh, e.Name), filepath.Join(dir, e.Name), filepath.Join(oldDir, e.Name))
			if err != nil {
				d.restore(dir, entries[:i], oldPaths)
				break
			}
		}
		return err
	})
}

// restore moves the old files back to dir; "" stands for a file that did not exist.
func (d *Disk) restore(dir string, entries []Entry, oldPaths []string) {
	for i, e := range entries {
		path := filepath.Join(dir, e.Name)
		if oldPaths[i] == "" {
			_ = d.RemoveAll(path)
		} else {
			_ = d.rename(oldPaths[i], path)
		}
	}
}

// Names in a temporary folder: the folder with the new files, and that with what they replace.
const newName, oldName = "new", "old"

// stage writes the files into a temporary folder in parent, calls install to move them to dir, and removes
// the temporary folder. install gets two paths in the temporary folder: fresh, the folder with the files,
// and oldDir, where it may create a folder for the files that it replaces. Errors name dir.
func (d *Disk) stage(parent, dir string, entries []Entry, install func(fresh, oldDir string) error) (err error) {
	tmp, err := d.tempDir(parent)
	if err != nil {
		return withPath(dir, err)
	}
	defer func() { err = errors.Join(err, withPath(dir, d.RemoveAll(tmp))) }()
	fresh := filepath.Join(tmp, newName)
	if err := d.newDir(fresh); err != nil {
		return withPath(dir, err)
	}
	for _, e := range entries {
		if filepath.Base(e.Name) != e.Name {
			panic(fmt.Sprintf("atomicfile: %q is not the name of a file", e.Name))
		}
		if err := e.writeTo(d, filepath.Join(fresh, e.Name)); err != nil {
			return withPath(filepath.Join(dir, e.Name), err)
		}
	}
	return install(fresh, filepath.Join(tmp, oldName))
}

// writeTo creates the file at path with the content of e.Log, if any, followed by that of e.Write.
func (e *Entry) writeTo(d *Disk, path string) error {
	return d.WriteFile(path, 0o644, func(f *File) error {
		w := bufio.NewWriterSize(f, 1<<16)
		if e.Log != nil {
			if err := e.Log.copyTo(w); err != nil {
				return err
			}
		}
		if err := e.Write(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

// swap moves the file or folder fresh to path, replacing what is there, in one step if the system
// can. It returns the new path of the replaced file or folder: fresh or spare, or "" if there was
// none. After an error path is unchanged. If the process is killed between the two steps, only
// spare contains the replaced folder; completeSwap continues from there.
func (d *Disk) swap(fresh, path, spare string) (old string, err error) {
	if isMissing(path) {
		return "", d.rename(fresh, path)
	}
	err = d.perform("rename", path, func() error {
		if d != nil && d.NoExchange {
			return errors.ErrUnsupported
		}
		return exchange(fresh, path)
	})
	// These three errors mean that the system or the file system cannot exchange: continue in two steps.
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EXDEV) {
		return fresh, err // exchanged, if err is nil: the replaced file or folder is at fresh now
	}
	if err := d.perform("mkdir", path, func() error { return os.MkdirAll(filepath.Dir(spare), 0o755) }); err != nil {
		return "", err
	}
	// A link keeps a file at path until it is replaced; folders cannot be linked.
	if d.perform("link", path, func() error { return os.Link(path, spare) }) != nil {
		if err := d.rename(path, spare); err != nil {
			return "", withPath(path, err)
		}
	}
	if err := d.rename(fresh, path); err != nil {
		_ = d.rename(spare, path) // restores the old state
		return "", err
	}
	return spare, nil
}
