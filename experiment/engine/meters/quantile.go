package meters

import (
	"slices"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// quantilesOf returns nearest-rank quantiles; zeros if nothing was counted.
func quantilesOf(c *quantile.Counts) figures.Quantiles {
	if c.N == 0 {
		return figures.Quantiles{}
	}
	q := func(p float64) float64 { return float64(c.NearestRank(p)) }
	return figures.Quantiles{Min: q(0), P50: q(.50), P95: q(.95), P99: q(.99), Max: q(1), N: c.N}
}

// histogram is a distribution of whole numbers such as nanoseconds or micrometres. It counts in
// buckets of about 3 % width, so that its size does not grow with the length of a run.
type histogram struct {
	buckets  [64 << precision]int64
	n        int64 // of values
	min, max int64
}

// precision of the buckets; see quantile.Bucket.
const precision = 5

func (s *histogram) add(v int64) {
	v = max(v, 0)
	if s.n == 0 || v < s.min {
		s.min = v
	}
	s.buckets[quantile.Bucket(uint64(v), precision)]++
	s.n++
	s.max = max(s.max, v)
}

// addZeros adds n times 0.
func (s *histogram) addZeros(n int) {
	if n == 0 {
		return
	}
	s.min = 0
	s.buckets[0] += int64(n)
	s.n += int64(n)
}

// bucketValue returns the middle of a bucket.
func bucketValue(i int) float64 {
	low, width := quantile.Bounds(i, precision)
	return float64(low) + float64(width/2)
}

// thousandths returns the quantiles, divided by a thousand: of micrometres in millimetres.
func (s *histogram) thousandths() figures.Quantiles {
	if s.n == 0 {
		return figures.Quantiles{}
	}
	least, most := float64(s.min)/1000, float64(s.max)/1000
	q := func(p float64) float64 {
		v := bucketValue(quantile.Weighted(s.buckets[:], s.n, p)) / 1000
		return min(max(v, least), most) // a bucket's middle may lie outside
	}
	return figures.Quantiles{Min: least, P50: q(.50), P95: q(.95), P99: q(.99), Max: most, N: s.n}
}

// codecTimes measures how long the calls of a codec took, in nanoseconds.
type codecTimes struct {
	all    histogram
	newest [120]int64 // two seconds at 60 Hz; call i is at i % len
	n      int        // calls so far
}

func (t *codecTimes) add(ns int64) {
	t.all.add(ns)
	t.newest[t.n%len(t.newest)] = ns
	t.n++
}

// median returns the median of the newest calls in microseconds; 0 without calls. It follows
// a swap of the encoder quickly.
func (t *codecTimes) median() float64 {
	sorted := t.newest
	n := min(t.n, len(sorted))
	if n == 0 {
		return 0
	}
	slices.Sort(sorted[:n])
	return float64(quantile.NearestRank(sorted[:n], .5)) / 1000
}
