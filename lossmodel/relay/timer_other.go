//go:build !linux

package relay

import (
	"time"
)

// timer goes off once after each set, a millisecond or two late: the runtime's timers are
// no finer.
type timer struct {
	timer *time.Timer
	done  chan struct{}
}

func newTimer() (timer, error) {
	t := timer{time.NewTimer(time.Hour), make(chan struct{})}
	t.timer.Stop()
	return t, nil
}

// set makes the timer go off after d, instead of when it was to before.
func (t *timer) set(d time.Duration) { t.timer.Reset(max(0, d)) }

// wait returns when the timer has gone off; false once it is closed.
func (t *timer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

func (t *timer) close() { close(t.done) }
