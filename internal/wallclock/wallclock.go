// Package wallclock is the monotonic time that callers pass in, to pace and to time work.
package wallclock

import (
	"sync"
	"time"
)

// Clock returns the time since some fixed moment. A nil Clock measures nothing.
type Clock func() time.Duration

// Now returns the time in nanoseconds; 0 for a nil Clock.
func (c Clock) Now() int64 {
	if c == nil {
		return 0
	}
	return int64(c())
}

// Steady returns a clock that never goes back: where c does, it stands still for a moment
// and goes on from there. It may be used by several goroutines. A nil Clock stays nil.
func (c Clock) Steady() Clock {
	if c == nil {
		return nil
	}
	var mu sync.Mutex
	var last, lost time.Duration // lost is the sum of the steps back
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		now := c() + lost
		if now < last {
			lost += last - now
			now = last
		}
		last = now
		return now
	}
}
