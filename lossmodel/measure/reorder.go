package measure

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"wirelab/lossmodel/capture"
)

// reordering compares the order of arrival with that of sending. Of each datagram
// the copy that arrives first counts.
type reordering struct {
	// Ratio is RFC 4737's: the share of arrivals that come after one that was sent
	// later.
	Ratio     float64 `json:"ratio"`
	Reordered int     `json:"reordered"`
	// The extent of a reordered packet (RFC 4737) is how many arrivals back the
	// first one came that was sent later: what a receiver must hold to put it right.
	MeanExtent float64 `json:"mean_extent"`
	MaxExtent  int     `json:"max_extent"`
	// Density is RFC 5236's reorder density: Density[displacements+d] is the share
	// of arrivals that come d places late (early if d is below 0), lost packets
	// left out of the count. What is further off than displacements is in Beyond; the
	// RFC would take it for lost.
	Density []float64 `json:"density,omitempty"`
	Beyond  float64   `json:"beyond"`
}

// displacements is how far the reorder density looks, in places either way.
const displacements = 32

// arrival is the first copy of a datagram to come.
type arrival struct {
	at   time.Duration
	rank int // among the datagrams that arrived, by order of sending
}

func reorderingOf(all []capture.Datagram) (r reordering) {
	order := make([]arrival, 0, len(all))
	for i := range all {
		if d := &all[i]; !d.Lost || len(d.Copies) > 0 {
			order = append(order, arrival{d.Sent + soonest(d), len(order)})
		}
	}
	if len(order) == 0 {
		return r
	}
	slices.SortStableFunc(order, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	r.Density = make([]float64, 2*displacements+1)
	highest := make([]int, len(order)) // rank so far, by place
	extents := 0
	for place, a := range order {
		highest[place] = a.rank
		if place > 0 {
			highest[place] = max(a.rank, highest[place-1])
		}
		if highest[place] > a.rank {
			first := sort.Search(place, func(j int) bool { return highest[j] > a.rank })
			r.Reordered++
			extents += place - first
			r.MaxExtent = max(r.MaxExtent, place-first)
		}
		if d := place - a.rank; d >= -displacements && d <= displacements {
			r.Density[displacements+d] += 1 / float64(len(order))
		} else {
			r.Beyond += 1 / float64(len(order))
		}
	}
	r.Ratio, r.MeanExtent = ratio(r.Reordered, len(order)), ratio(extents, r.Reordered)
	return r
}

func soonest(d *capture.Datagram) time.Duration {
	if d.Lost {
		return slices.Min(d.Copies)
	}
	if len(d.Copies) == 0 {
		return d.Took
	}
	return min(d.Took, slices.Min(d.Copies))
}
