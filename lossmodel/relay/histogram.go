package relay

import (
	"time"

	"wirelab/internal/quantile"
)

// Histogram counts durations in buckets whose width is at most 1/128 of their lower bound, so
// that a quantile is at most 1 % too high. The zero value is empty. A Histogram may be copied;
// Since returns the difference of two copies.
type Histogram struct {
	N      uint64
	Sum    time.Duration
	Max    time.Duration
	counts [numBuckets]uint32 // counts by bucket; the last bucket includes longer times
}

// precision is the number of bits that distinguish buckets within a power of two; see
// quantile.Bucket.
const precision = 7

// numBuckets is the number of buckets, for times up to 2^39 ns = 9 min: 2^precision buckets up to
// 2^7 ns and as many for each of the 32 powers of two above.
const numBuckets = 33 << precision

// Add counts a duration. Negative durations count as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(0, d)
	h.N++
	h.Sum += d
	h.Max = max(h.Max, d)
	h.counts[bucket(d)]++
}

// bucket returns the index of the bucket of a non-negative duration.
func bucket(d time.Duration) int { return min(quantile.Bucket(uint64(d), precision), numBuckets-1) }

// bucketMax returns the longest duration of bucket i. The last bucket has no limit; callers limit the
// result to Max.
func bucketMax(i int) time.Duration {
	low, width := quantile.Bounds(i, precision)
	return time.Duration(low + width - 1)
}

// Quantile returns the longest duration of the bucket that contains the quantile q, at most Max;
// 0 if the histogram is empty. The rank is that of quantile.NextRank: the median of two values is
// the larger one. Published figures depend on this rule.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.N)) // rank of the quantile, from 0, among the durations in bucket i and above
	for i, n := range h.counts {
		if rank < uint64(n) {
			return min(bucketMax(i), h.Max)
		}
		rank -= uint64(n)
	}
	return h.Max
}

// Mean returns the mean; 0 if the histogram is empty.
func (h *Histogram) Mean() time.Duration {
	if h.N == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.N)
}

// Since returns the durations counted after previous, an earlier copy of h. Max is the upper bound of
// the highest bucket that is not empty in the result, at most h.Max; it may exceed the true maximum
// by 1 %.
func (h *Histogram) Since(previous *Histogram) Histogram {
	d := Histogram{N: h.N - previous.N, Sum: h.Sum - previous.Sum}
	for i := range h.counts {
		d.counts[i] = h.counts[i] - previous.counts[i]
		if d.counts[i] > 0 {
			d.Max = min(bucketMax(i), h.Max)
		}
	}
	return d
}
