// Package wallclock provides monotonic clocks, which callers pass to code that paces or measures
// work.
package wallclock

import (
	"sync"
	"time"
)

// Clock returns the time since a fixed moment. A nil Clock means that time is not measured.
type Clock func() time.Duration

// Now returns the time in nanoseconds; 0 for a nil Clock.
func (c Clock) Now() int64 {
	if c == nil {
		return 0
	}
	return int64(c())
}

// Steady returns a clock that never goes back: if c goes back, the result stays constant for one
// call and continues from there. It is safe for concurrent use. A nil Clock stays nil.
func (c Clock) Steady() Clock {
	if c == nil {
		return nil
	}
	var mu sync.Mutex
	var last, correction time.Duration // correction is the sum of the steps back
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		now := c() + correction
		if now < last {
			correction += last - now
			now = last
		}
		last = now
		return now
	}
}
