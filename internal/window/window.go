// Package window has windows over sequences and times that take constant memory.
package window

import "time"

// Reach is how many numbers before the newest a Recent records.
const Reach = 64

// Recent records the newest number and which of the Reach numbers before it have arrived, as acks list
// them. The zero value is empty.
type Recent[N uint32 | uint64] struct {
	Mask   uint64 // bit i is set if number Newest-1-i has arrived
	Newest N
	Any    bool // a number has arrived
}

// Add records that number n has arrived, unless it is too old.
func (r *Recent[N]) Add(n N) {
	switch {
	case !r.Any:
		r.Newest, r.Any = n, true
	case n > r.Newest:
		shift := n - r.Newest
		r.Mask = r.Mask<<shift | 1<<(shift-1) // 0 if the shift is larger than the mask
		r.Newest = n
	case n < r.Newest && r.Newest-n <= Reach:
		r.Mask |= 1 << (r.Newest - n - 1)
	}
}

// Span is how many of the newest numbers a Seen records.
const Span = 4096

// Seen records which of the newest Span numbers have arrived, to recognise copies: a replay window (RFC
// 4303, section 3.4.3). The zero value is empty.
type Seen struct {
	next uint64            // newest number + 1; 0 if none has arrived
	bits [Span / 64]uint64 // the bit of number n is at n % Span
}

// Has reports whether number n has arrived. It returns false for numbers before the window.
func (s *Seen) Has(n uint64) bool {
	return n < s.next && !s.IsOld(n) && s.bits[n%Span/64]>>(n%64)&1 == 1
}

// IsOld reports whether number n is before the window, so that it is unknown whether it has arrived.
func (s *Seen) IsOld(n uint64) bool { return n+Span < s.next }

// Add records that number n has arrived, unless it is before the window.
func (s *Seen) Add(n uint64) {
	if s.IsOld(n) {
		return
	}
	for skipped := max(s.next, n-min(n, Span)); skipped < n; skipped++ {
		s.bits[skipped%Span/64] &^= 1 << (skipped % 64)
	}
	s.bits[n%Span/64] |= 1 << (n % 64)
	s.next = max(s.next, n+1)
}

// Minimum is the minimum of values over one to two periods. It takes less memory than a ring.Minimum.
// The zero value is empty.
type Minimum struct {
	Any               bool          // a value was added
	end               time.Duration // of the current period
	current, previous time.Duration // minima of the current period and of the one before
}

// Add adds a value at a time. A period ends with the first value that is added at its end or later.
func (m *Minimum) Add(at, value, period time.Duration) {
	switch {
	case !m.Any:
		*m = Minimum{Any: true, end: at + period, current: value, previous: value}
	case at >= m.end:
		m.previous, m.current, m.end = m.current, value, at+period
	}
	m.current = min(m.current, value)
}

// Value returns the minimum of the current period and the one before.
func (m *Minimum) Value() time.Duration { return min(m.current, m.previous) }
