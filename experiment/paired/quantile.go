package paired

import (
	"cmp"
	"slices"

	"wirelab/internal/quantile"
)

// ranked holds sorted values and the rank of each pair, so that the quantile of a
// draw needs counting but no sorting.
type ranked struct {
	sorted []float64
	rank   []int32 // by pair: index in sorted
}

// rank returns the values of v in ascending order, and for each value of v its rank, from 0 on. Of equal values
// the first in v has the lowest rank.
func rank(v []float64) ranked {
	order := make([]int32, len(v))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(v[i], v[j]), cmp.Compare(i, j)) })
	r := ranked{make([]float64, len(v)), make([]int32, len(v))}
	for position, i := range order {
		r.sorted[position], r.rank[i] = v[i], int32(position)
	}
	return r
}

// quantile returns the p-quantile of n drawn values by nearest rank. times is how often the
// value of each rank was drawn; nil means once each.
func (r *ranked) quantile(times []int32, n int, p float64) float64 {
	if times == nil {
		return quantile.NearestRank(r.sorted, p)
	}
	return r.sorted[quantile.Weighted(times, int32(n), p)]
}
