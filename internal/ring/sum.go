package ring

import "time"

// Sum is the sum of values over a sliding window of time. The zero value is empty.
type Sum struct {
	values Queue[addend]
	total  int64
}

// addend is a value of a Sum.
type addend struct {
	at    time.Duration
	value int64
}

// Add adds a value at a time.
func (s *Sum) Add(at time.Duration, value int64) {
	*s.values.Push() = addend{at, value}
	s.total += value
}

// DropBefore removes the oldest values, up to the first that was added at t or later.
func (s *Sum) DropBefore(t time.Duration) {
	for s.values.Len() > 0 && s.values.At(s.values.first).at < t {
		s.DropOldest()
	}
}

// DropOldest removes the oldest value.
func (s *Sum) DropOldest() {
	s.total -= s.values.At(s.values.first).value
	s.values.Pop()
}

// Len returns the number of values.
func (s *Sum) Len() int { return s.values.Len() }

// Value returns the sum.
func (s *Sum) Value() int64 { return s.total }
