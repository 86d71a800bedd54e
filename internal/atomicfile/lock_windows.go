package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow has no effect: only administrators can create symbolic links.
const noFollow = 0

// lockFile locks f with LockFileEx, without waiting. The error is errLocked if another open file has the
// lock. The locked byte is far beyond the content, which others must be able to read.
func lockFile(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
