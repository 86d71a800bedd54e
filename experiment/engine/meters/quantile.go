package meters

import (
	"math/bits"
	"slices"

	"wirelab/experiment/figures"
)

// counts is an exact distribution of small whole numbers such as packet sizes.
type counts struct {
	n    []int64
	sum  int64 // number of values
	most int
}

func (c *counts) add(v int) {
	if v >= len(c.n) {
		grown := make([]int64, max(v+1, 2*len(c.n), 256))
		copy(grown, c.n)
		c.n = grown
	}
	c.n[v]++
	c.sum++
	c.most = max(c.most, v)
}

// quantiles returns nearest-rank quantiles; zeros if nothing was counted.
func (c *counts) quantiles() figures.Quantiles {
	if c.sum == 0 {
		return figures.Quantiles{}
	}
	q := rankQuantiles(c.sum, func(yield func(v float64, n int64) bool) {
		for v, n := range c.n[:c.most+1] {
			if n > 0 && !yield(float64(v), n) {
				return
			}
		}
	})
	q.Max, q.N = float64(c.most), c.sum
	return q
}

// rankQuantiles returns the nearest-rank quantiles of a distribution. each yields its
// values in ascending order with their counts, which add up to total.
func rankQuantiles(total int64, each func(yield func(v float64, n int64) bool)) figures.Quantiles {
	rank := func(percent int64) int64 { return max(1, (total*percent+99)/100) }
	var q figures.Quantiles
	targets := [...]struct {
		rank int64
		dst  *float64
	}{{1, &q.Min}, {rank(50), &q.P50}, {rank(95), &q.P95}, {rank(99), &q.P99}, {total, &q.Max}}
	next, seen := 0, int64(0)
	each(func(v float64, n int64) bool {
		seen += n
		for next < len(targets) && seen >= targets[next].rank {
			*targets[next].dst = v
			next++
		}
		return next < len(targets)
	})
	return q
}

// spread is a distribution of whole numbers such as nanoseconds or micrometres. It
// counts in buckets of about 3 % width, so that its size does not grow with the
// length of a run.
type spread struct {
	n   [64 << spreadBits]int64
	sum int64
	min int64
	max int64
}

const spreadBits = 5 // 32 buckets to an octave

func (s *spread) add(v int64) {
	v = max(v, 0)
	if s.sum == 0 || v < s.min {
		s.min = v
	}
	s.n[bucketOf(uint64(v))]++
	s.sum++
	s.max = max(s.max, v)
}

// addZeros adds n times 0.
func (s *spread) addZeros(n int) {
	if n == 0 {
		return
	}
	s.min = 0
	s.n[0] += int64(n)
	s.sum += int64(n)
}

func bucketOf(v uint64) int {
	if v < 1<<spreadBits {
		return int(v)
	}
	octave := bits.Len64(v) - spreadBits - 1
	return octave<<spreadBits + int(v>>octave)
}

// bucketValue returns the middle of a bucket.
func bucketValue(i int) float64 {
	if i < 2<<spreadBits {
		return float64(i)
	}
	octave := i>>spreadBits - 1
	low := float64(uint64(i-octave<<spreadBits) << octave)
	return low + float64(uint64(1)<<octave)/2
}

// thousandths returns the quantiles, divided by a thousand: of micrometres in
// millimetres.
func (s *spread) thousandths() figures.Quantiles {
	if s.sum == 0 {
		return figures.Quantiles{}
	}
	q := rankQuantiles(s.sum, func(yield func(v float64, n int64) bool) {
		for i, n := range s.n {
			if n > 0 && !yield(bucketValue(i)/1000, n) {
				return
			}
		}
	})
	q.Min, q.Max, q.N = float64(s.min)/1000, float64(s.max)/1000, s.sum
	for _, p := range []*float64{&q.P50, &q.P95, &q.P99} {
		*p = min(max(*p, q.Min), q.Max) // a bucket's middle may lie outside
	}
	return q
}

// codecTimes measures how long the calls of a codec took, in nanoseconds.
type codecTimes struct {
	all    spread
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
	return float64(sorted[(n-1)/2]) / 1000
}
