// Package quantile computes quantiles of sorted values, of counted values and of logarithmic
// histograms. The definitions differ, and published figures depend on which one was used, so
// that each has a name.
package quantile

import (
	"math"
	"math/bits"
	"slices"
)

// NearestRank returns the smallest of the sorted values that at least the share p of all do not
// exceed. There must be at least one.
func NearestRank[T any](sorted []T, p float64) T {
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}

// NextRank returns the sorted value before which the share p of all values comes, 0 if there are
// no values.
func NextRank[T any](sorted []T, p float64) (none T) {
	if len(sorted) == 0 {
		return none
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// LowerRank returns the lower one of the two sorted values between which p lies if the first
// value is the quantile 0 and the last one is 1. There must be at least one.
func LowerRank[T any](sorted []T, p float64) T { return sorted[int(p*float64(len(sorted)-1))] }

// Median sorts values and returns the mean of the two in the middle. There must be at least one.
func Median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// Weighted returns the index of the nearest-rank quantile p of values that occur counts[i]
// times each, n times in sum. The values are sorted. It counts from the closer end.
func Weighted[N int32 | int64](counts []N, n N, p float64) int {
	rank := max(N(math.Ceil(p*float64(n))), 1)
	if p > 0.5 {
		i := len(counts) - 1
		for left := n - rank; i > 0 && left >= counts[i]; i-- {
			left -= counts[i]
		}
		return i
	}
	i := 0
	for ; i < len(counts)-1 && rank > counts[i]; i++ {
		rank -= counts[i]
	}
	return i
}

// Counts is the exact distribution of small whole numbers that are not negative. Its zero value
// is empty.
type Counts struct {
	N, Sum int64   // of values, and their sum
	Of     []int64 // how often each value occurred
}

// Add counts v. It allocates only if v is larger than all values before.
func (c *Counts) Add(v int64) {
	if n := v + 1 - int64(len(c.Of)); n > 0 {
		c.Of = append(c.Of, make([]int64, max(n, int64(len(c.Of))))...)
	}
	c.Of[v]++
	c.N++
	c.Sum += v
}

// Mean returns the mean, 0 if there are no values.
func (c *Counts) Mean() float64 {
	if c.N == 0 {
		return 0
	}
	return float64(c.Sum) / float64(c.N)
}

// NearestRank is like the function of that name. It returns 0 if there are no values.
func (c *Counts) NearestRank(p float64) int64 {
	if c.N == 0 {
		return 0
	}
	return int64(Weighted(c.Of, c.N, p))
}

// Bucket returns the bucket of v in a logarithmic histogram with 1<<precision buckets for each
// power of two. Values up to 2<<precision have buckets of their own.
func Bucket(v uint64, precision int) int {
	octave := bits.Len64(v) - precision - 1
	if octave <= 0 {
		return int(v)
	}
	return octave<<precision + int(v>>octave)
}

// Bounds returns the least value of a bucket and the number of values in it.
func Bounds(bucket, precision int) (low, width uint64) {
	octave := max(bucket>>precision-1, 0)
	return uint64(bucket-octave<<precision) << octave, 1 << octave
}
