package wallclock

import "time"

// Every calls f at intervals until quit is closed.
func Every(interval time.Duration, quit <-chan struct{}, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			f()
		}
	}
}
