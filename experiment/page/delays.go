package page

import (
	"maps"
	"slices"

	"wirelab/experiment/engine/meters"
)

// delaySeries collects one-way delays by the time of sending, in buckets of 100 ms. When there would
// be more than maxPoints buckets, their width is doubled. All sums are integers, so that the result
// does not depend on the order of the packets.
type delaySeries struct {
	width   int64                // width of a bucket in ns; 0 without packets
	buckets map[int64]delayStats // by number of the bucket: time of sending / width
}

// delayStats summarizes the delays of packets, in nanoseconds.
type delayStats struct{ count, sum, min, max int64 }

// join returns the summary of the packets of both d and x.
func (d delayStats) join(x delayStats) delayStats {
	if d.count == 0 {
		return x
	}
	return delayStats{d.count + x.count, d.sum + x.sum, min(d.min, x.min), max(d.max, x.max)}
}

// meanMS returns the mean delay in milliseconds. There must be at least one packet.
func (d delayStats) meanMS() value { return value(float64(d.sum) / float64(d.count) / 1e6) }

// add adds a packet that was sent at virtual time sent and arrived after delay, both in nanoseconds.
func (d *delaySeries) add(sent, delay int64) {
	if d.buckets == nil {
		d.width = meters.SamplePeriod.Nanoseconds()
		d.buckets = map[int64]delayStats{}
	}
	bucket := sent / d.width
	d.buckets[bucket] = d.buckets[bucket].join(delayStats{count: 1, sum: delay, min: delay, max: delay})
	for len(d.buckets) > maxPoints { // merge pairs of buckets
		d.width *= 2
		wider := make(map[int64]delayStats, len(d.buckets)/2+1)
		for k, x := range d.buckets {
			wider[k/2] = wider[k/2].join(x)
		}
		d.buckets = wider
	}
}

// forEach calls visit with the end, in seconds, and the delays of every bucket, in ascending order.
func (d *delaySeries) forEach(visit func(until float64, x delayStats)) {
	for _, k := range slices.Sorted(maps.Keys(d.buckets)) {
		visit(float64((k+1)*d.width)/1e9, d.buckets[k])
	}
}
