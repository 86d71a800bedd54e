package relay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timer goes off once after each set. The runtime's own timers wait in whole milliseconds;
// a timerfd that is read through its poller is some 70 us late.
type timer struct {
	fd   int
	file *os.File
	buf  *[8]byte
}

func newTimer() (timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return timer{}, os.NewSyscallError("timerfd_create", err)
	}
	return timer{fd, os.NewFile(uintptr(fd), "timerfd"), new([8]byte)}, nil
}

// set makes the timer go off after d, instead of when it was to before.
func (t *timer) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))} // 0 would stop it
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

// wait returns when the timer has gone off; false once it is closed.
func (t *timer) wait() bool {
	_, err := t.file.Read(t.buf[:])
	return err == nil
}

func (t *timer) close() { t.file.Close() }
