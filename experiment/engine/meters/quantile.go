package meters

import (
	"slices"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// QuantilesOf returns nearest-rank quantiles of c; unknown if c is empty.
func QuantilesOf(c *quantile.Counts) figures.Quantiles {
	if c.N == 0 {
		return figures.Quantiles{}
	}
	q := func(p float64) float64 { return float64(c.NearestRank(p)) } // p from 0 to 1
	return figures.Quantiles{Min: q(0), P50: q(.50), P95: q(.95), P99: q(.99), Max: q(1), N: c.N}
}

// histogram is a distribution of integers such as nanoseconds or micrometres. Its size grows with the largest value,
// not with the length of a run: with precision 9 it is 80 kB for 50 ms in nanoseconds.
type histogram struct {
	fine     bool // use finePrecision instead of coarsePrecision; set before the first value
	buckets  []int64
	n        int64 // values
	min, max int64
}

// Numbers of bits that quantile.Bucket keeps of a value. A bucket is at most 1/2^bits of the value wide, and a quantile
// differs by at most half of that from the exact one: by 1.6 % and 0.1 %.
const coarsePrecision, finePrecision = 5, 9

// precision returns the number of bits that the buckets keep of a value.
func (s *histogram) precision() int {
	if s.fine {
		return finePrecision
	}
	return coarsePrecision
}

// add adds a value; a negative one counts as 0.
func (s *histogram) add(v int64) { s.addN(max(v, 0), 1) }

// addZeros adds the value 0 n times.
func (s *histogram) addZeros(n int) {
	if n > 0 {
		s.addN(0, int64(n))
	}
}

// addN adds the value v, 0 or more, n times.
func (s *histogram) addN(v, n int64) {
	if s.n == 0 || v < s.min {
		s.min = v
	}
	i := quantile.Bucket(uint64(v), s.precision())
	if missing := i + 1 - len(s.buckets); missing > 0 {
		s.buckets = append(s.buckets, make([]int64, missing)...)
	}
	s.buckets[i] += n
	s.n += n
	s.max = max(s.max, v)
}

// thousandths returns the quantiles divided by 1000, for example in millimetres if the values are in
// micrometres; unknown if the histogram is empty.
func (s *histogram) thousandths() figures.Quantiles { return s.scaled(1000) }

// scaled returns the quantiles divided by divisor; unknown if the histogram is empty.
func (s *histogram) scaled(divisor float64) figures.Quantiles {
	if s.n == 0 {
		return figures.Quantiles{}
	}
	q := func(p float64) float64 {
		middle := bucketMiddle(quantile.Weighted(s.buckets, s.n, p), s.precision())
		return min(max(middle, float64(s.min)), float64(s.max)) / divisor // the middle may be outside the range of the values
	}
	return figures.Quantiles{Min: float64(s.min) / divisor, P50: q(.50), P95: q(.95), P99: q(.99), Max: float64(s.max) / divisor, N: s.n}
}

func bucketMiddle(bucket, precision int) float64 {
	low, width := quantile.Bounds(bucket, precision)
	return float64(low) + float64(width/2)
}

// Durations is a distribution of durations in nanoseconds. The zero value is empty.
type Durations struct {
	Sum int64
	all histogram
}

func (d *Durations) Add(ns int64) {
	d.Sum += ns
	d.all.add(ns)
}

// Microseconds returns the quantiles in microseconds.
func (d *Durations) Microseconds() figures.Quantiles { return d.all.thousandths() }

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
