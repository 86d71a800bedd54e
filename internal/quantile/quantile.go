// Package quantile computes quantiles of sorted values, of counted values and of logarithmic
// histograms. There are several definitions, and published figures depend on the one that was used,
// so each has its own function.
package quantile

import (
	"math"
	"math/bits"
	"slices"
)

// NearestRank returns the nearest-rank quantile p, 0 to 1, of sorted values: the smallest value such
// that at least the fraction p of all values is at most this value. There must be at least one value.
func NearestRank[T any](sorted []T, p float64) T {
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}

// SelectRank returns NearestRank of values that need not be sorted. It changes their order, but takes less time than
// sorting (Hoare's quickselect).
func SelectRank(values []float64, p float64) float64 {
	rank := max(int(math.Ceil(p*float64(len(values)))), 1) - 1
	from, to := 0, len(values)-1
	for from < to {
		pivot := values[(from+to)/2]
		i, j := from, to
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case rank <= j:
			to = j
		case rank >= i:
			from = i
		default:
			return values[rank]
		}
	}
	return values[rank]
}

// NextRank returns the sorted value with index p*n, rounded down, of n values; the last one for p =
// 1. It returns the zero value if there are no values.
func NextRank[T any](sorted []T, p float64) (none T) {
	if len(sorted) == 0 {
		return none
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// LowerRank returns the sorted value with index p*(n-1), rounded down, of n values: the first value
// is the quantile 0, the last one the quantile 1. There must be at least one value.
func LowerRank[T any](sorted []T, p float64) T { return sorted[int(p*float64(len(sorted)-1))] }

// Median sorts values and returns the mean of the two in the middle. There must be at least one.
func Median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// Weighted returns the index of the nearest-rank quantile p of sorted values, where value i occurs
// counts[i] times and n is the sum of counts. It adds up the counts from the closer end, to save time.
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

// Counts is the exact distribution of small non-negative integers. The zero value is empty.
type Counts struct {
	N, Sum      int64   // number of values, and their sum
	Occurrences []int64 // number of occurrences, by value
}

// Add counts v. It allocates only if v is larger than all values before.
func (c *Counts) Add(v int64) {
	if n := v + 1 - int64(len(c.Occurrences)); n > 0 {
		c.Occurrences = append(c.Occurrences, make([]int64, max(n, int64(len(c.Occurrences))))...)
	}
	c.Occurrences[v]++
	c.N++
	c.Sum += v
}

// Mean returns the mean; 0 if there are no values.
func (c *Counts) Mean() float64 {
	if c.N == 0 {
		return 0
	}
	return float64(c.Sum) / float64(c.N)
}

// NearestRank returns the nearest-rank quantile p; 0 if there are no values.
func (c *Counts) NearestRank(p float64) int64 {
	if c.N == 0 {
		return 0
	}
	return int64(Weighted(c.Occurrences, c.N, p))
}

// Bucket returns the bucket of v in a logarithmic histogram with 1<<precision buckets for each
// power of two. Each value below 2<<precision has its own bucket.
func Bucket(v uint64, precision int) int {
	octave := bits.Len64(v) - precision - 1
	if octave <= 0 {
		return int(v)
	}
	return octave<<precision + int(v>>octave)
}

// Bounds returns the smallest value of a bucket and the number of values in it.
func Bounds(bucket, precision int) (low, width uint64) {
	octave := max(bucket>>precision-1, 0)
	return uint64(bucket-octave<<precision) << octave, 1 << octave
}
