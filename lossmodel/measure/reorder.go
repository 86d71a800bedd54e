package measure

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"wirelab/lossmodel/capture"
)

// reordering describes how the order of arrival differs from the order of sending. Of each
// datagram only the copy that arrives first counts.
type reordering struct {
	// Ratio is the reordered ratio of RFC 4737: the fraction of arrivals that come after a
	// datagram that was sent later.
	Ratio     float64 `json:"ratio"`
	Reordered int     `json:"reordered"`
	// The extent of a reordered packet (RFC 4737) is its distance in arrivals from the first
	// arrival that was sent later. A receiver needs a buffer of that size to restore the order.
	MeanExtent float64 `json:"mean_extent"`
	MaxExtent  int     `json:"max_extent"`
	// Density is the reorder density of RFC 5236: Density[maxDisplacement+d] is the fraction of
	// arrivals that come d positions late, or early if d is negative. Lost packets are not
	// counted as positions. Beyond is the fraction with larger displacements, which the RFC would
	// count as lost.
	Density []float64 `json:"density,omitempty"`
	Beyond  float64   `json:"beyond"`
}

// maxDisplacement is the largest displacement in the reorder density, in positions.
const maxDisplacement = 32

// arrival is the first arriving copy of a datagram.
type arrival struct {
	time time.Duration
	rank int // position in the order of sending, among the datagrams that arrived
}

// newReordering computes how the network reordered datagrams, which are listed in the order of sending.
// Datagrams of which nothing arrived are ignored.
func newReordering(datagrams []capture.Datagram) (r reordering) {
	order := make([]arrival, 0, len(datagrams)) // in the order of sending, then sorted by arrival
	for i := range datagrams {
		if d := &datagrams[i]; !d.Lost || len(d.Copies) > 0 {
			order = append(order, arrival{d.Sent + firstDelay(d), len(order)})
		}
	}
	if len(order) == 0 {
		return r
	}
	slices.SortStableFunc(order, func(a, b arrival) int { return cmp.Compare(a.time, b.time) })
	r.Density = make([]float64, 2*maxDisplacement+1)
	highestRank := make([]int, len(order)) // by position: the highest rank up to that position
	extents := 0
	for position, a := range order {
		highestRank[position] = a.rank
		if position > 0 {
			highestRank[position] = max(a.rank, highestRank[position-1])
		}
		if highestRank[position] > a.rank {
			// first is the position of the first arrival that was sent later than this datagram.
			first := sort.Search(position, func(j int) bool { return highestRank[j] > a.rank })
			r.Reordered++
			extents += position - first
			r.MaxExtent = max(r.MaxExtent, position-first)
		}
		if d := position - a.rank; d >= -maxDisplacement && d <= maxDisplacement {
			r.Density[maxDisplacement+d] += 1 / float64(len(order))
		} else {
			r.Beyond += 1 / float64(len(order))
		}
	}
	r.Ratio, r.MeanExtent = ratio(r.Reordered, len(order)), ratio(extents, r.Reordered)
	return r
}

// firstDelay returns the delay of the copy that arrived first. At least one copy must have arrived.
func firstDelay(d *capture.Datagram) time.Duration {
	if d.Lost {
		return slices.Min(d.Copies)
	}
	if len(d.Copies) == 0 {
		return d.Took
	}
	return min(d.Took, slices.Min(d.Copies))
}
