package ring

import "time"

// Minimum is the minimum of values over a sliding window of time. It stores only the values that can still become
// the minimum. The zero value is empty.
type Minimum struct {
	values Queue[timedValue] // increasing in both fields
}

type timedValue struct{ at, value time.Duration }

// Add adds a value at a time that is not before that of the value added last.
func (m *Minimum) Add(at, value time.Duration) {
	for m.values.Len() > 0 && m.values.At(m.values.next-1).value >= value {
		m.values.next--
	}
	*m.values.Push() = timedValue{at, value}
}

// DropBefore removes the values that were added before t. The value added last stays.
func (m *Minimum) DropBefore(t time.Duration) {
	for m.values.Len() > 1 && m.values.At(m.values.first).at < t {
		m.values.Pop()
	}
}

// Value returns the minimum; 0 if there are no values.
func (m *Minimum) Value() time.Duration {
	if m.values.Len() == 0 {
		return 0
	}
	return m.values.At(m.values.first).value
}
