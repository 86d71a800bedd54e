package ui

import "time"

// thrift spaces the redraws of a picture that moves all the time, so that the
// terminal gets no more bytes a second than it should: a picture of which little
// changed may follow at the next tick, one that changed all over makes the next
// ones wait. Bytes that are not spent are kept for a moment of much change.
type thrift struct {
	written func() int64 // bytes that went to the terminal so far; nil: nobody counts
	seen    int64
	credit  int64
}

// The whole screen has 30 KB a second.
const (
	thriftRate  = 28_000 // bytes a second that a picture may bring the screen to
	thriftPurse = 10_000 // kept at most
)

// tick earns what a tick is worth, and pays for what was written since the last.
func (t *thrift) tick() {
	t.credit += thriftRate * int64(tickEvery) / int64(time.Second)
	if t.written != nil {
		n := t.written()
		t.credit -= n - t.seen
		t.seen = n
	}
	t.credit = min(t.credit, thriftPurse)
}

// affords reports whether the next picture may be drawn.
func (t *thrift) affords() bool { return t.credit > 0 }
