package relay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timerFD is a Linux timerfd that is read through the runtime's poller. It fires about 70 µs
// late, because the runtime's own timers are rounded to milliseconds.
type timerFD struct {
	fd   int
	file *os.File
	buf  *[8]byte
}

// newTimer returns a timerFD, or a runtimeTimer where a sandbox forbids timerfd.
func newTimer() timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newRuntimeTimer()
	}
	return timerFD{fd, os.NewFile(uintptr(fd), "timerfd"), new([8]byte)}
}

func (t timerFD) reset(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))} // a value of 0 would disarm the timer
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

func (t timerFD) wait() bool {
	_, err := t.file.Read(t.buf[:])
	return err == nil
}

// close implements timer. It makes wait return false.
func (t timerFD) close() { t.file.Close() }
