package paired

import (
	"cmp"
	"math"
	"slices"
)

// ranked is values in order, and where each pair stands among them, so that a draw
// is counted rather than sorted.
type ranked struct {
	sorted []float64
	place  []int32 // of pair i
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

// quantile returns the p-th of n values, of which that at each place was drawn so
// many times; nil: each once.
func (r *ranked) quantile(times []int32, n int, p float64) float64 {
	at := int32(math.Ceil(p * float64(n))) // nearest rank, from 1
	if times == nil {
		return r.sorted[max(at, 1)-1]
	}
	if p > 0.5 { // the far end is nearer
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

// student returns the 97.5 % quantile of Student's t, by the expansion of Fisher
// and Cornish (Abramowitz and Stegun 26.7.5); good to 0.1 % from 5 degrees of
// freedom on.
func student(df float64) float64 {
	const z = 1.959963984540054
	const z2 = z * z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	g4 := z * ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160
	return z + (g1+(g2+(g3+g4/df)/df)/df)/df
}
