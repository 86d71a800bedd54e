//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow makes os.OpenFile fail if the path is a symbolic link, whose target it would create.
const noFollow = unix.O_NOFOLLOW

// lockFile locks f with flock(2), without waiting. The error is errLocked if another open file has the lock.
func lockFile(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}
