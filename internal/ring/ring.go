// Package ring implements a queue in a ring buffer.
package ring

import "slices"

// Queue is a queue of items with consecutive numbers, from 0. It grows to the largest length it
// ever had and then allocates nothing. The zero value is an empty queue.
type Queue[T any] struct {
	items       []T    // item n is at index n modulo the length
	first, next uint64 // numbers of the oldest item, and of the next one
}

// Len returns the number of items in the queue.
func (q *Queue[T]) Len() int { return int(q.next - q.first) }

// First returns the number of the oldest item.
func (q *Queue[T]) First() uint64 { return q.first }

// Next returns the number of the next item to be added.
func (q *Queue[T]) Next() uint64 { return q.next }

// At returns item n, valid until the next Push; nil if the item is not in the queue.
func (q *Queue[T]) At(n uint64) *T {
	if n < q.first || n >= q.next {
		return nil
	}
	return &q.items[n%uint64(len(q.items))]
}

// Push adds an item and returns it, valid until the next Push. The item has the content of an item
// that left the queue, if any, so that the caller can reuse its memory.
func (q *Queue[T]) Push() *T {
	if q.Len() == len(q.items) { // the queue is full: item n moves to index n modulo the new length
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
