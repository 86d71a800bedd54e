package panes

import "time"

// HeldMax holds a maximum for a second, for figures in titles: a figure that changes with every snapshot is unreadable.
// The zero value is ready to use.
type HeldMax struct {
	value float64
	at    time.Duration // virtual time at which value was added
}

// Add adds v at virtual time now. It returns the held maximum, and whether that is v. A time before that of the maximum
// means that the session was restarted, and drops the maximum.
func (m *HeldMax) Add(now time.Duration, v float64) (value float64, isNew bool) {
	if v >= m.value || now >= m.at+time.Second || now < m.at {
		m.value, m.at, isNew = v, now, true
	}
	return m.value, isNew
}
