package meters

import (
	"slices"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// quantilesOf returns nearest-rank quantiles of c; unknown if c is empty.
func quantilesOf(c *quantile.Counts) figures.Quantiles {
	if c.N == 0 {
		return figures.Quantiles{}
	}
	q := func(p float64) float64 { return float64(c.NearestRank(p)) } // p from 0 to 1
	return figures.Quantiles{Min: q(0), P50: q(.50), P95: q(.95), P99: q(.99), Max: q(1), N: c.N}
}

// histogram is a distribution of integers such as nanoseconds or micrometres. Its buckets are about
// 3 % wide, so its size does not grow with the length of a run.
type histogram struct {
	buckets  [64 << precision]int64
	n        int64 // values
	min, max int64
}

// precision is the number of bits that quantile.Bucket keeps of a value: a bucket is at most 1/2^5
// of the value wide.
const precision = 5

// add adds a value; a negative one counts as 0.
func (s *histogram) add(v int64) {
	v = max(v, 0)
	if s.n == 0 || v < s.min {
		s.min = v
	}
	s.buckets[quantile.Bucket(uint64(v), precision)]++
	s.n++
	s.max = max(s.max, v)
}

// addZeros adds the value 0 n times.
func (s *histogram) addZeros(n int) {
	if n == 0 {
		return
	}
	s.min = 0
	s.buckets[0] += int64(n)
	s.n += int64(n)
}

// thousandths returns the quantiles divided by 1000, for example in millimetres if the values are in
// micrometres; unknown if the histogram is empty.
func (s *histogram) thousandths() figures.Quantiles {
	return thousandthsOf(s.buckets[:], precision, s.n, s.min, s.max)
}

// fineHistogram is like histogram, but its buckets are at most 0.2 % wide, so its quantiles differ by at most 0.1 %
// from the exact ones. Its memory grows with the largest value: 80 kB for 50 ms in nanoseconds.
type fineHistogram struct {
	buckets  []int64
	n        int64 // values
	min, max int64
}

// finePrecision is the precision of a fineHistogram; see precision.
const finePrecision = 9

// add adds a value; a negative one counts as 0.
func (s *fineHistogram) add(v int64) {
	v = max(v, 0)
	if s.n == 0 || v < s.min {
		s.min = v
	}
	i := quantile.Bucket(uint64(v), finePrecision)
	if missing := i + 1 - len(s.buckets); missing > 0 {
		s.buckets = append(s.buckets, make([]int64, missing)...)
	}
	s.buckets[i]++
	s.n++
	s.max = max(s.max, v)
}

// thousandths is like histogram.thousandths.
func (s *fineHistogram) thousandths() figures.Quantiles {
	return thousandthsOf(s.buckets, finePrecision, s.n, s.min, s.max)
}

// bucketMiddle returns the middle of a bucket.
func bucketMiddle(bucket, precision int) float64 {
	low, width := quantile.Bounds(bucket, precision)
	return float64(low) + float64(width/2)
}

// thousandthsOf returns the quantiles of n values divided by 1000; unknown if n is 0. buckets have the given
// precision, and lowest and highest are the extremes of the values.
func thousandthsOf(buckets []int64, precision int, n, lowest, highest int64) figures.Quantiles {
	if n == 0 {
		return figures.Quantiles{}
	}
	q := func(p float64) float64 {
		middle := bucketMiddle(quantile.Weighted(buckets, n, p), precision)
		return min(max(middle, float64(lowest)), float64(highest)) / 1000 // the middle may be outside the range of the values
	}
	return figures.Quantiles{Min: float64(lowest) / 1000, P50: q(.50), P95: q(.95), P99: q(.99), Max: float64(highest) / 1000, N: n}
}

// codecTimes contains the durations of the calls of an encoder or decoder, in nanoseconds.
type codecTimes struct {
	all    histogram
	newest [120]int64 // two seconds at 60 Hz; call i is at i % len
	n      int        // calls so far
}

// add adds the duration of one call.
func (t *codecTimes) add(ns int64) {
	t.all.add(ns)
	t.newest[t.n%len(t.newest)] = ns
	t.n++
}

// median returns the median of the newest calls in microseconds; 0 without calls. It covers only two
// seconds, so that it adapts soon to a change of the encoder.
func (t *codecTimes) median() float64 {
	sorted := t.newest // a copy of the array
	n := min(t.n, len(sorted))
	if n == 0 {
		return 0
	}
	slices.Sort(sorted[:n])
	return float64(quantile.NearestRank(sorted[:n], .5)) / 1000
}
