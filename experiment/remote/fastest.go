package remote

import "time"

// fastest is the least that a datagram lately took, by the two ends' clocks. These drift
// apart, by some 50 millionths: the least of an hour would be another clock's by 0.2 s.
type fastest struct {
	any         bool
	since       time.Duration // when the present turn began
	now, before time.Duration // the least of the present turn and the one before
}

// fastestTurn is how long a turn lasts. What it forgets is a path that got slower for good.
const fastestTurn = 30 * time.Second

// note takes down what a datagram took that left at a time, and returns the least.
func (f *fastest) note(left, took time.Duration) time.Duration {
	switch {
	case !f.any:
		*f = fastest{any: true, since: left, now: took, before: took}
	case left-f.since >= 2*fastestTurn: // nothing came for a whole turn
		f.since, f.before, f.now = left, min(f.now, took), took
	case left-f.since >= fastestTurn:
		f.since, f.before, f.now = left, f.now, took
	}
	f.now = min(f.now, took)
	return min(f.now, f.before)
}
