package ui

import (
	"time"
)

// outputBudget spaces the redraws of a picture that moves all the time, so that
// the terminal gets a bounded number of bytes a second. A picture in which little
// changed may follow at the next tick; one that changed all over makes the next
// ones wait. Bytes that are not spent are kept for a moment of much change.
type outputBudget struct {
	written func() int64 // bytes that went to the terminal so far; nil: nobody counts
	seen    int64
	credit  int64
}

// The whole screen has 30 KB a second.
const (
	outputRate   = 28_000 // bytes a second that a picture may bring the screen to
	outputCredit = 10_000 // kept at most
)

// tick adds what one tick may write, and subtracts what was written since the
// last one.
func (b *outputBudget) tick() {
	b.credit += outputRate * int64(tickEvery) / int64(time.Second)
	if b.written != nil {
		n := b.written()
		b.credit -= n - b.seen
		b.seen = n
	}
	b.credit = min(b.credit, outputCredit)
}

// spare reports whether the next picture may be drawn.
func (b *outputBudget) spare() bool { return b.credit > 0 }
