package meters

import (
	"slices"

	"wirelab/internal/quantile"
)

// codecTimes contains the durations of the calls of an encoder or decoder, in nanoseconds.
type codecTimes struct {
	all    quantile.Histogram
	newest [120]int64 // two seconds at 60 Hz; call i is at i % len
	n      int        // calls so far
}

// add adds the duration of one call.
func (t *codecTimes) add(ns int64) {
	t.all.Add(ns)
	t.newest[t.n%len(t.newest)] = ns
	t.n++
}

// median returns the median of the newest calls in microseconds; 0 without calls. It covers only two
// seconds, so that it adapts soon to a change of the encoder.
func (t *codecTimes) median() float64 {
	sorted := t.newest // a copy of the array
	n := min(t.n, len(sorted))
	if n == 0 {
		return 0
	}
	slices.Sort(sorted[:n])
	return float64(quantile.NearestRank(sorted[:n], .5)) / 1000
}
