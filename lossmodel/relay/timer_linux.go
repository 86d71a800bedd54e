package relay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fineTimer is a timerfd that is read through the runtime's poller: some 70 us late, where the
// runtime's own timers wait in whole milliseconds.
type fineTimer struct {
	fd   int
	file *os.File
	buf  *[8]byte
}

// newTimer returns the finest timer that the system grants: a sandbox may know no timerfd.
func newTimer() timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newCoarseTimer()
	}
	return fineTimer{fd, os.NewFile(uintptr(fd), "timerfd"), new([8]byte)}
}

func (t fineTimer) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))} // 0 would stop it
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

func (t fineTimer) wait() bool {
	_, err := t.file.Read(t.buf[:])
	return err == nil
}

func (t fineTimer) close() { t.file.Close() }
