package lossmodel

import (
	"time"
)

// queued is a packet before the bottleneck.
type queued struct {
	leaves time.Duration
	bytes  int64
}

// ring is a first-in first-out queue that grows by doubling and then allocates
// no more. Its length is a power of two.
type ring struct {
	items   []queued
	head, n int
}

func (r *ring) push(q queued) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = q
	r.n++
}

func (r *ring) front() queued { return r.items[r.head] }

func (r *ring) pop() queued {
	q := r.items[r.head]
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return q
}

func (r *ring) grow() {
	bigger := make([]queued, max(16, 2*len(r.items)))
	k := copy(bigger, r.items[r.head:])
	copy(bigger[k:], r.items[:r.head])
	r.items, r.head = bigger, 0
}
