package page

import (
	"maps"
	"slices"
)

// delays are how long packets were under way, by the time at which they were sent: in
// stretches of 100 ms, and wherever there would be more than maxPoints of those, of twice
// as much, then four times, and so on. All sums are whole, so that the order in which
// packets come does not matter.
type delays struct {
	width         int64 // ns
	buckets       map[int64]delay
	first, latest int64 // stretches that have any
}

// delay sums the packets of a stretch up, in nanoseconds.
type delay struct{ n, sum, least, most int64 }

func (d delay) join(x delay) delay {
	if d.n == 0 {
		return x
	}
	return delay{d.n + x.n, d.sum + x.sum, min(d.least, x.least), max(d.most, x.most)}
}

func (d *delays) add(sent, took int64) {
	if d.buckets == nil {
		d.width, d.buckets = 100e6, map[int64]delay{}
		d.first, d.latest = sent/d.width, sent/d.width
	}
	at := sent / d.width
	d.buckets[at] = d.buckets[at].join(delay{1, took, took, took})
	d.first, d.latest = min(d.first, at), max(d.latest, at)
	for d.latest-d.first >= maxPoints {
		d.width *= 2
		wider := make(map[int64]delay, len(d.buckets)/2+1)
		for k, x := range d.buckets {
			wider[k/2] = wider[k/2].join(x)
		}
		d.buckets, d.first, d.latest = wider, d.first/2, d.latest/2
	}
}

// each calls take with every stretch that has packets, in order.
func (d *delays) each(take func(until float64, x delay)) {
	for _, k := range slices.Sorted(maps.Keys(d.buckets)) {
		take(float64((k+1)*d.width)/1e9, d.buckets[k])
	}
}
