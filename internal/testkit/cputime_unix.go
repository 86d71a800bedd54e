//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// CPUTime returns the CPU time of this process, which other processes on the machine hardly change.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only bad arguments cause one
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
