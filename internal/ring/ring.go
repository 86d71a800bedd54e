// Package ring is a queue in a ring of memory.
package ring

import "slices"

// Queue is a queue of numbered items, of which the newest are kept. It grows to the most items
// ever held at once and then allocates nothing. The zero value is empty; its first item is number 0.
type Queue[T any] struct {
	items       []T    // item n at n % len
	first, next uint64 // numbers of the oldest item, and of the next one
}

// Len returns how many items are in the queue.
func (q *Queue[T]) Len() int { return int(q.next - q.first) }

// First returns the number of the oldest item.
func (q *Queue[T]) First() uint64 { return q.first }

// Next returns the number of the next item to be added.
func (q *Queue[T]) Next() uint64 { return q.next }

// At returns item n, until the next Push; nil if it is not in the queue.
func (q *Queue[T]) At(n uint64) *T {
	if n < q.first || n >= q.next {
		return nil
	}
	return &q.items[n%uint64(len(q.items))]
}

// Push adds an item and returns it, until the next Push. It has the content of an item that left the
// queue, if any, whose memory the caller may reuse.
func (q *Queue[T]) Push() *T {
	if q.Len() == len(q.items) {
		grown := make([]T, max(16, 2*len(q.items)))
		for n := q.first; n < q.next; n++ {
			grown[n%uint64(len(grown))] = *q.At(n)
		}
		q.items = grown
	}
	q.next++
	return q.At(q.next - 1)
}

// Pop removes the oldest item.
func (q *Queue[T]) Pop() { q.first++ }

// Clone returns a queue of the same items that shares no memory with q.
func (q *Queue[T]) Clone() Queue[T] {
	c := *q
	c.items = slices.Clone(q.items)
	return c
}
