package view

import (
	"time"

	"wirelab/internal/ring"
)

// BudgetWindow is the time over which a budget holds: no window of this length, or of the time between two packets if
// that is longer, contains more than the budget allows.
const BudgetWindow = 100 * time.Millisecond

// Bucket enforces a budget: a token bucket, and a limit over BudgetWindow. The zero Bucket allows nothing; call Set.
type Bucket struct {
	rateBps  int64         // budget in bits per second
	burst    int64         // depth of the bucket in packets, in thousandths
	interval time.Duration // between two packets

	tokens int64 // in bits times 1e9
	filled time.Duration
	full   bool // the bucket has been filled once
	sent   ring.Queue[sentBytes]
	bytes  int64 // sum of sent
}

// sentBytes is the size of a packet in the window.
type sentBytes struct {
	at    time.Duration
	bytes int
}

// Set sets the budget. A packet may take what the bucket contains, at most the budget of burst/1000 intervals. interval
// is the time between two packets.
func (b *Bucket) Set(rateBps, burst int64, interval time.Duration) {
	b.rateBps, b.burst, b.interval = rateBps, burst, interval
}

// slack is added to the times of a window, because times of ticks are rounded to nanoseconds.
const slack = time.Microsecond

// Allow returns how many bytes may be sent at now. If that is less than need, nothing should be sent; the bucket then
// fills up to need.
func (b *Bucket) Allow(now time.Duration, need int) int {
	depth := b.rateBps * int64(b.interval) / 1000 * b.burst
	if b.full {
		// After a pause of more than a second the bucket is as full as after a second.
		b.tokens += b.rateBps * int64(min(now-b.filled, time.Second))
	} else {
		b.tokens, b.full = depth, true
	}
	b.filled = now
	b.tokens = min(b.tokens, max(depth, int64(need)*8e9))
	window := max(BudgetWindow, b.interval)
	for b.sent.Len() > 0 && b.sent.At(b.sent.First()).at <= now-window+slack {
		b.bytes -= int64(b.sent.At(b.sent.First()).bytes)
		b.sent.Pop()
	}
	inWindow := b.rateBps*int64(window) + depth - b.rateBps*int64(b.interval)
	return int(max(0, min(b.tokens/8e9, inWindow/8e9-b.bytes)))
}

// Spend records that a packet of size bytes was sent at now.
func (b *Bucket) Spend(now time.Duration, size int) {
	b.tokens -= int64(size) * 8e9
	*b.sent.Push() = sentBytes{now, size}
	b.bytes += int64(size)
}

// MaxNeed returns the largest packet that the budget ever allows, in bytes.
func (b *Bucket) MaxNeed() int {
	return int(b.rateBps * int64(max(BudgetWindow, b.interval)) / 8e9)
}
