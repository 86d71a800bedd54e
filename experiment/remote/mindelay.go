package remote

import "time"

// minDelay estimates the fastest delay of the last 30 to 60 seconds as a windowed minimum. The
// clocks of sender and receiver are not synchronised, so only delays relative to the minimum are
// meaningful. The minimum must expire: clocks drift apart by about 50 ppm, which is 0.2 s in an
// hour.
type minDelay struct {
	started           bool          // false until the first update
	windowStart       time.Duration // when the current window began
	current, previous time.Duration // minima of the current and the previous window
}

// minDelayWindow is the length of a window. A path that becomes slower permanently is noticed
// after at most two windows.
const minDelayWindow = 30 * time.Second

// update adds the delay of a datagram that was sent at sentAt and returns the minimum of the
// current and the previous window. The delay is the arrival by the receiver's clock minus sentAt by
// the sender's, and may be negative. A window ends with the first datagram that is sent minDelayWindow
// or more after its start.
func (m *minDelay) update(sentAt, delay time.Duration) time.Duration {
	switch {
	case !m.started:
		*m = minDelay{started: true, windowStart: sentAt, current: delay, previous: delay}

	case sentAt-m.windowStart >= minDelayWindow:
		m.windowStart, m.previous, m.current = sentAt, m.current, delay
	}
	m.current = min(m.current, delay)
	return min(m.current, m.previous)
}
