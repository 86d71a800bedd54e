package panes

import "time"

// HeldMax is a figure of a title that is sampled in each snapshot: the largest value within the last second, because
// one that changes all the time cannot be read.
type HeldMax struct {
	value float64
	at    time.Duration // when it was sampled
}

// Add adds the value at virtual time now. It returns the largest one, and whether that is v.
func (m *HeldMax) Add(now time.Duration, v float64) (value float64, isNew bool) {
	if v >= m.value || now >= m.at+time.Second || now < m.at {
		m.value, m.at, isNew = v, now, true
	}
	return m.value, isNew
}
