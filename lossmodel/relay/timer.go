package relay

import (
	"time"
)

// timer goes off once after each set.
type timer interface {
	set(d time.Duration) // makes it go off after d, instead of when it was to before
	wait() bool          // returns when it has gone off; false once it is closed
	close()
}

// coarseTimer is one of the runtime's: a millisecond or two late, but there everywhere.
type coarseTimer struct {
	timer *time.Timer
	done  chan struct{}
}

func newCoarseTimer() coarseTimer {
	t := coarseTimer{time.NewTimer(time.Hour), make(chan struct{})}
	t.timer.Stop()
	return t
}

func (t coarseTimer) set(d time.Duration) { t.timer.Reset(max(0, d)) }

func (t coarseTimer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

func (t coarseTimer) close() { close(t.done) }
