package experiment

import (
	"sync"
	"time"

	"wirelab/experiment/engine"
)

// steady returns a clock that never goes back: where the clock below does, this one
// stands still for a moment and goes on from there. A nil clock stays nil.
func steady(clock engine.Clock) engine.Clock {
	if clock == nil {
		return nil
	}
	var mu sync.Mutex
	var last, ahead time.Duration // ahead: what was lost by going back
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		now := clock() + ahead
		if now < last {
			ahead += last - now
			now = last
		}
		last = now
		return now
	}
}
