package stats

import "math"

// Histogram counts how often each value came, exactly; values are small and not
// negative. The zero Histogram is empty.
type Histogram struct {
	counts []int64
	n, sum int64
}

// Add counts v once more.
func (h *Histogram) Add(v int64) {
	for int64(len(h.counts)) <= v {
		h.counts = append(h.counts, make([]int64, v+1)...)
	}
	h.counts[v]++
	h.n++
	h.sum += v
}

// stop notes the length of a stretch that ends here, if there was one.
func (h *Histogram) stop(length *int64) {
	if *length > 0 {
		h.Add(*length)
		*length = 0
	}
}

// Mean returns the mean, 0 of nothing.
func (h *Histogram) Mean() float64 { return share(h.sum, h.n) }

// Quantile returns the smallest value that at least a share p of all do not
// exceed (the nearest rank), 0 of nothing.
func (h *Histogram) Quantile(p float64) int64 {
	rank := max(int64(math.Ceil(p*float64(h.n))), 1)
	seen := int64(0)
	for v, k := range h.counts {
		if seen += k; seen >= rank {
			return int64(v)
		}
	}
	return 0
}

// from sums up the values of at least low: how many, and their sum.
func (h *Histogram) from(low int) (n, sum int64) {
	for v := low; v < len(h.counts); v++ {
		n += h.counts[v]
		sum += h.counts[v] * int64(v)
	}
	return n, sum
}

// share returns a/b, 0 if b is.
func share(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
