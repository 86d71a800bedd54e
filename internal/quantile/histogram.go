package quantile

import "cmp"

// Precisions of a Histogram. A bucket is at most 1/2^precision of a value wide, so a quantile differs by at
// most half of that from the exact one: by 1.6 % and 0.1 %. Values below 2^(precision+1) have buckets of
// their own, and exact quantiles.
const (
	Coarse = 5
	Fine   = 9
	Exact  = 16
)

// Histogram is a distribution of integers, such as nanoseconds, in logarithmic buckets. Its size grows with
// the largest value, not with the number of values: with Fine it is 80 kB for 50 ms in nanoseconds. The
// zero value is empty.
type Histogram struct {
	Precision int   // set before the first value; 0 means Coarse
	N, Sum    int64 // number of values, and their sum
	Min, Max  int64
	buckets   []int64
}

// Add adds a value; a negative one counts as 0.
func (h *Histogram) Add(v int64) { h.AddN(v, 1) }

// AddN adds a value n times.
func (h *Histogram) AddN(v, n int64) {
	if n == 0 {
		return
	}
	v = max(v, 0)
	if h.N == 0 {
		h.Min = v
	}
	h.Min = min(h.Min, v)
	h.Max = max(h.Max, v)
	h.N += n
	h.Sum += v * n
	i := Bucket(uint64(v), h.precision())
	h.grow(i + 1)
	h.buckets[i] += n
}

// Merge adds the values of o, which has the same precision.
func (h *Histogram) Merge(o *Histogram) {
	if o.N == 0 {
		return
	}
	if h.N == 0 {
		h.Min = o.Min
	}
	h.Min = min(h.Min, o.Min)
	h.Max = max(h.Max, o.Max)
	h.N += o.N
	h.Sum += o.Sum
	h.grow(len(o.buckets))
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// Quantile returns the middle of the bucket with the nearest-rank quantile p. There must be at least one
// value.
func (h *Histogram) Quantile(p float64) float64 {
	low, width := Bounds(Weighted(h.buckets, h.N, p), h.precision())
	middle := float64(low) + float64(width/2)
	return min(max(middle, float64(h.Min)), float64(h.Max)) // the middle may be outside the range of the values
}

func (h *Histogram) precision() int { return cmp.Or(h.Precision, Coarse) }

// grow makes room for n buckets.
func (h *Histogram) grow(n int) {
	if missing := n - len(h.buckets); missing > 0 {
		h.buckets = append(h.buckets, make([]int64, missing)...)
	}
}
