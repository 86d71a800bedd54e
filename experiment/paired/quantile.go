package paired

import (
	"cmp"
	"math"
	"slices"
)

// ranked holds sorted values and the rank of each pair, so that the quantile of a
// draw needs counting but no sorting.
type ranked struct {
	sorted []float64
	place  []int32 // rank of pair i
}

func rank(v []float64) ranked {
	order := make([]int32, len(v))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(v[i], v[j]), cmp.Compare(i, j)) })
	r := ranked{make([]float64, len(v)), make([]int32, len(v))}
	for place, i := range order {
		r.sorted[place], r.place[i] = v[i], int32(place)
	}
	return r
}

// quantile returns the p-th quantile of n drawn values. times says how often the
// value of each rank was drawn; nil means once each.
func (r *ranked) quantile(times []int32, n int, p float64) float64 {
	at := int32(math.Ceil(p * float64(n))) // nearest rank, from 1
	if times == nil {
		return r.sorted[max(at, 1)-1]
	}
	if p > 0.5 { // count from the top, which is closer
		left := int32(n) - at
		i := n - 1
		for ; i > 0 && left >= times[i]; i-- {
			left -= times[i]
		}
		return r.sorted[i]
	}
	i := 0
	for ; i < n-1 && at > times[i]; i++ {
		at -= times[i]
	}
	return r.sorted[i]
}
