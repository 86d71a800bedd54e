package relay

import (
	"time"
)

// timer fires once after each reset.
type timer interface {
	reset(d time.Duration) // fires after d; replaces an earlier reset
	wait() bool            // returns true when the timer fires, false when it is closed
	close()
}

// runtimeTimer uses the Go runtime's timer, which fires up to 2 ms late but is available
// everywhere.
type runtimeTimer struct {
	timer *time.Timer
	done  chan struct{}
}

// newRuntimeTimer returns a timer that is not set.
func newRuntimeTimer() runtimeTimer {
	t := runtimeTimer{time.NewTimer(time.Hour), make(chan struct{})}
	t.timer.Stop()
	return t
}

func (t runtimeTimer) reset(d time.Duration) { t.timer.Reset(max(0, d)) }

func (t runtimeTimer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

// close implements timer. It must be called once.
func (t runtimeTimer) close() { close(t.done) }
