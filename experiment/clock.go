package experiment

import "time"

// Clock measures how long work takes in this process. It is injected: nothing
// that decides anything reads it, and a nil Clock measures nothing.
type Clock func() time.Duration

// Now returns the time in nanoseconds.
func (c Clock) Now() int64 {
	if c == nil {
		return 0
	}
	return int64(c())
}
