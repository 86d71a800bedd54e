package relay

import (
	"math/bits"
	"time"
)

// Histogram counts times in buckets that are a 128th of a power of two wide, so a
// quantile is at most 1 % above the truth. Its zero value is empty, and a copy is a
// snapshot: Since tells what came between two.
type Histogram struct {
	N      uint64
	Sum    time.Duration
	Max    time.Duration
	counts [histogramBuckets]uint32
}

const (
	histogramSteps   = 1 << histogramBits // buckets for each power of two
	histogramBits    = 7
	histogramBuckets = 33 * histogramSteps // up to 2^39 ns, nine minutes; what is beyond is in the last
)

// Add counts a time; one below 0 counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(0, d)
	h.N++
	h.Sum += d
	h.Max = max(h.Max, d)
	h.counts[bucket(d)]++
}

func bucket(d time.Duration) int {
	v := uint64(d)
	if v < histogramSteps {
		return int(v)
	}
	shift := bits.Len64(v) - histogramBits - 1 // leaves a number from one to two times histogramSteps
	return min(shift*histogramSteps+int(v>>shift), histogramBuckets-1)
}

// ceiling returns the longest time that a bucket holds.
func ceiling(i int) time.Duration {
	if i < 2*histogramSteps {
		return time.Duration(i)
	}
	shift := i/histogramSteps - 1
	return time.Duration((uint64(i%histogramSteps+histogramSteps)+1)<<shift - 1)
}

// Quantile returns a time that the share q of all do not exceed, 0 if there are none.
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
		if d.counts[i] = h.counts[i] - was.counts[i]; d.counts[i] > 0 {
			d.Max = min(ceiling(i), h.Max)
		}
	}
	return d
}
