package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// lockName is the name of the lock file in a folder that a process writes. Close removes it; after a
// crash it remains, unlocked.
const lockName = ".wirelab-lock"

// LockedError means that another process writes a folder.
type LockedError struct {
	Dir    string
	Holder string // "process 1234 on host", as the process wrote it to the lock file
}

// Error names the folder and the process.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is being written by %.200s; expected that process to end first, or another folder", e.Dir, e.Holder)
}

// errLocked is returned by lockFile if another open file holds the lock.
var errLocked = errors.New("locked")

// lock creates and locks the lock file of dir. The lock belongs to the returned file: the system releases
// it when the file is closed or the process ends, also if the process is killed. If another process
// holds the lock, also a stopped process, the error is a *LockedError.
func (d *Disk) lock(dir string) (f *os.File, err error) {
	path := filepath.Join(dir, lockName)
	// A file that its holder removed between the two calls is locked in vain: try again with the new one.
	for attempt := 0; ; attempt++ {
		err := d.perform("create", path, func() (err error) {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o644)
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			defer f.Close()
			if errors.Is(err, errLocked) {
				return nil, &LockedError{dir, holder(f)}
			}
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		if isFileAt(f, path) {
			break
		}
		f.Close()
		if attempt == 100 {
			return nil, fmt.Errorf("%s cannot be locked: it is a link, or is replaced all the time", path)
		}
	}
	err = d.perform("write", path, func() error {
		host, _ := os.Hostname()
		if err := f.Truncate(0); err != nil {
			return err
		}
		_, err := fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host)
		return err
	})
	if err != nil {
		d.unlock(f, dir)
		return nil, err
	}
	return f, nil
}

// holder returns the text in a lock file that another process has locked.
func holder(f *os.File) string {
	const maxBytes = 200
	text, _ := io.ReadAll(io.LimitReader(f, maxBytes))
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "another process" // which has not written its name yet
	}
	return string(text)
}

// unlock releases the lock f of dir and removes the lock file, unless that belongs to another process by
// now. A nil f is ignored.
func (d *Disk) unlock(f *os.File, dir string) {
	if f == nil {
		return
	}
	path := filepath.Join(dir, lockName)
	isMine := isFileAt(f, path)
	if !lockMoves { // open files cannot be removed; if another process opens it first, it remains
		f.Close()
	}
	if isMine {
		_ = d.remove(path, os.Remove) // a lock file without a lock is harmless
	}
	f.Close()
}

// lockMoves reports whether the system can rename a folder with an open lock file in it.
const lockMoves = runtime.GOOS != "windows"

// isFileAt reports whether f is the file at path. If f is nil, the result is false.
func isFileAt(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	open, err := f.Stat()
	named, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(open, named)
}

// keepLock locks the folder again if the lock file is no longer the one that this process locked, because
// the folder was replaced. If another process writes the folder now, the error is a *LockedError. If another
// process has written results to it, the error is that of checkReplaceable. A folder that was removed is locked
// when it is written.
func (f *Folder) keepLock() error {
	if f.lock == nil || isMissing(f.path) || isFileAt(f.lock, filepath.Join(f.path, lockName)) { // a Sub has no lock
		return nil
	}
	again, err := f.disk.lock(f.path)
	if err != nil {
		return err
	}
	if !f.hasOwnResults() { // not only the lock file was removed
		f.written = false
		if err := f.checkReplaceable(); err != nil {
			f.disk.unlock(again, f.path)
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	f.lock.Close()
	f.lock = again
	return nil
}

// hasOwnResults reports whether the file that this Folder wrote last is unchanged. The time of the file
// distinguishes it from a later one with the same inode number.
func (f *Folder) hasOwnResults() bool {
	info, err := os.Lstat(f.newest)
	return err == nil && f.newestInfo != nil && os.SameFile(info, f.newestInfo) && info.ModTime().Equal(f.newestInfo.ModTime())
}
