package relay

import (
	"time"

	"wirelab/internal/quantile"
)

// Histogram counts times in buckets that are a 128th of a power of two wide, so a
// quantile is at most 1 % above the truth. Its zero value is empty, and a copy is a
// snapshot: Since returns what came between two.
type Histogram struct {
	N      uint64
	Sum    time.Duration
	Max    time.Duration
	counts [33 << precision]uint32 // up to 2^39 ns, nine minutes; the last holds longer times too
}

// precision of the buckets; see quantile.Bucket.
const precision = 7

// Add counts a time; one below 0 counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(0, d)
	h.N++
	h.Sum += d
	h.Max = max(h.Max, d)
	h.counts[bucket(d)]++
}

func bucket(d time.Duration) int { return min(quantile.Bucket(uint64(d), precision), 33<<precision-1) }

// ceiling returns the longest time that a bucket holds.
func ceiling(i int) time.Duration {
	low, width := quantile.Bounds(i, precision)
	return time.Duration(low + width - 1)
}

// Quantile returns the longest time of the bucket that contains the quantile q by
// quantile.NextRank, at most Max. It returns 0 if there are no times. quantile.Weighted uses
// the nearest rank and would change published figures: the median of two times is the longer
// one here.
func (h *Histogram) Quantile(q float64) time.Duration {
	rest := uint64(q * float64(h.N))
	for i, n := range h.counts {
		if rest < uint64(n) {
			return min(ceiling(i), h.Max)
		}
		rest -= uint64(n)
	}
	return h.Max
}

// Mean returns the mean, 0 without any.
func (h *Histogram) Mean() time.Duration {
	if h.N == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.N)
}

// Since returns what was counted after was, an earlier snapshot of h. Its Max is that of
// the highest bucket, at most the real one.
func (h *Histogram) Since(was *Histogram) Histogram {
	d := Histogram{N: h.N - was.N, Sum: h.Sum - was.Sum}
	for i := range h.counts {
		d.counts[i] = h.counts[i] - was.counts[i]
		if d.counts[i] > 0 {
			d.Max = min(ceiling(i), h.Max)
		}
	}
	return d
}
