package ui

import (
	"time"
)

// outputBudget limits the redraws of panes that change all the time, so that the terminal
// receives a bounded number of bytes per second. It is a token bucket: a small change may be
// drawn at the next tick, a large one delays the following redraws.
type outputBudget struct {
	written     func() int64 // returns the number of bytes written so far; nil if unknown
	lastWritten int64        // result of written at the last tick
	credit      int64        // bytes that may be written; negative after a large change
}

// The limits leave a margin to the 30 KB per second that the whole screen may write.
const (
	outputRate   = 28_000 // bytes per second
	outputCredit = 10_000 // largest credit in bytes
)

// tick adds the credit of one tick, and subtracts the bytes written since the last tick.
func (b *outputBudget) tick() {
	b.credit += outputRate * int64(tickEvery) / int64(time.Second)
	if b.written != nil {
		n := b.written()
		b.credit -= n - b.lastWritten
		b.lastWritten = n
	}
	b.credit = min(b.credit, outputCredit)
}

// available reports whether panes that change all the time may be drawn now.
func (b *outputBudget) available() bool { return b.credit > 0 }
