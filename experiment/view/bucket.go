package view

import (
	"time"

	"wirelab/internal/ring"
)

// BudgetWindow is the time over which a budget holds: no window of this length, or of the time between
// two packets if that is longer, contains more than the budget allows. The packets before a change count
// with those after it.
const BudgetWindow = 100 * time.Millisecond

// Bucket enforces a budget: a token bucket, and a limit over BudgetWindow. The zero Bucket allows
// nothing; call Set.
type Bucket struct {
	rateBps int64         // budget in bits per second
	window  time.Duration // in which the budget holds: BudgetWindow, or the interval between two packets if it is longer
	depth   int64         // in bits times 1e9, as tokens
	surplus int64         // that a window may contain in addition to its budget, as tokens

	tokens int64 // in bits times 1e9
	filled time.Duration
	began  bool     // Allow was called
	sent   ring.Sum // bytes in the window
}

// maxInterval is the longest interval between packets that a packet has the budget of.
const maxInterval = time.Second

// maxDepth bounds the depth of a bucket. It is more than a datagram, and a sum of a few cannot overflow.
const maxDepth = 1 << 60

// Set sets the budget, at most 1 Gbit/s. A packet may take what the bucket contains: the budget of one
// interval at first, and at most that of burst/1000 intervals. interval is the time between two packets;
// one of more than a second counts as a second.
func (b *Bucket) Set(rateBps, burst int64, interval time.Duration) {
	interval = min(interval, maxInterval)
	perPacket := rateBps * int64(interval)
	b.rateBps, b.window, b.depth = rateBps, max(BudgetWindow, interval), maxDepth
	if burst <= maxDepth/max(1, perPacket/1000) {
		b.depth = perPacket / 1000 * burst
	}
	b.surplus = b.depth - perPacket
}

// slack is added to the times of a window, because times of ticks are rounded to nanoseconds.
const slack = time.Microsecond

// Allow returns how many bytes may be sent at now. If that is less than need, nothing should be sent; if
// need is more than the depth of the bucket, it then fills up to need and its depth.
func (b *Bucket) Allow(now time.Duration, need int) int {
	if b.began {
		b.tokens += b.rateBps * int64(min(now-b.filled, maxInterval))
	} else {
		b.began = true
		b.tokens = b.depth - b.surplus
	}
	b.filled = now
	limit := b.depth
	if needed := int64(need) * 8e9; needed > b.depth {
		limit += needed // what is left after a packet counts towards the next one
	}
	b.tokens = min(b.tokens, limit)
	b.sent.DropBefore(now - b.window + slack + 1)
	inWindow := b.rateBps*int64(b.window) + b.surplus
	return int(max(0, min(b.tokens/8e9, inWindow/8e9-b.sent.Value())))
}

// Spend records that a packet of size bytes was sent at now.
func (b *Bucket) Spend(now time.Duration, size int) {
	b.tokens -= int64(size) * 8e9
	b.sent.Add(now, int64(size))
}

// MaxNeed returns the largest packet that the budget ever allows, in bytes.
func (b *Bucket) MaxNeed() int {
	return int(b.rateBps * int64(b.window) / 8e9)
}
