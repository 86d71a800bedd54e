package capture

import (
	"slices"
	"sort"
	"time"
)

// typicalDelays has the delays of most datagrams of two captures.
type typicalDelays struct {
	sentAt  []time.Duration // send times, ascending
	medians []time.Duration // median delay of the datagrams around each send time
	spread  time.Duration   // median absolute deviation from the local median
	window  time.Duration   // largest deviation at which an arrival is still matched
}

const (
	medianCount = 101                    // largest number of datagrams for each median
	minSpread   = 200 * time.Microsecond // smallest typicalDelays.spread
	minWindow   = 50 * time.Millisecond  // smallest typicalDelays.window
)

// newTypicalDelays measures the typical delay as a function of the send time. certain are datagrams
// whose arrival is certain, in the order of sending. The delays include the offset between the
// clocks, which drifts slowly, so the typical delay is the median of datagrams sent around the same time.
func newTypicalDelays(certain []knownArrival) typicalDelays {
	t := typicalDelays{spread: minSpread, window: minWindow}
	delays := make([]time.Duration, 0, medianCount)
	// The median of the medianCount datagrams around every (medianCount/4)-th one.
	for start := 0; start < len(certain); start += medianCount / 4 {
		first := max(0, min(start-medianCount/2, len(certain)-medianCount))
		delays = delays[:0]
		for _, k := range certain[first:min(first+medianCount, len(certain))] {
			delays = append(delays, k.delay)
		}
		slices.Sort(delays)
		t.sentAt, t.medians = append(t.sentAt, certain[start].sentAt), append(t.medians, delays[len(delays)/2])
	}
	deviations := make([]time.Duration, len(certain))
	for i, k := range certain {
		deviations[i] = (k.delay - t.delayAt(k.sentAt)).Abs()
	}
	slices.Sort(deviations)
	if len(deviations) > 0 {
		t.spread = max(t.spread, deviations[len(deviations)/2])
		t.window = max(t.window, 4*deviations[len(deviations)*99/100]) // the window is four times the 99th percentile
	}
	return t
}

// delayAt returns the typical delay of a datagram that was sent at the given time; 0 if none is
// known.
func (t *typicalDelays) delayAt(sent time.Duration) time.Duration {
	if len(t.sentAt) == 0 {
		return 0
	}
	i := sort.Search(len(t.sentAt), func(i int) bool { return t.sentAt[i] > sent })
	return t.medians[max(0, i-1)]
}

// alignment assigns arrivals to the datagrams with the same content, both in order of time.
type alignment struct {
	expected   []time.Duration             // expected arrival of each datagram, non-decreasing
	arrivals   []*[]int32                  // by datagram: where the arrivals assigned to it are stored
	receivedAt func(r int32) time.Duration // time of an arrival
	tolerance  time.Duration               // a deviation up to this is more likely than a loss plus a copy
}

// deviation returns how far arrival r is from the expected time of datagram i.
func (a *alignment) deviation(i int, r int32) time.Duration {
	return (a.receivedAt(r) - a.expected[i]).Abs()
}

// align assigns the arrivals of g, a group of datagrams with the same content, to the sent datagrams of g. Each
// arrival is assigned to the datagram whose expected time of arrival is nearest, without changing the order. If
// that datagram has an arrival already, the earlier arrival moves to the datagram before it or the new one to
// the datagram after it, provided that this datagram would otherwise be lost.
func (x *matcher) align(g *group) {
	a := &alignment{receivedAt: func(r int32) time.Duration { return x.received[r].At }, tolerance: 3 * x.typical.spread}
	// latest is the largest expected time so far, since expected times must not decrease.
	latest := x.sent[g.sent[0]].At + x.typical.delayAt(x.sent[g.sent[0]].At)
	for _, s := range g.sent {
		latest = max(latest, x.sent[s].At+x.typical.delayAt(x.sent[s].At))
		a.expected, a.arrivals = append(a.expected, latest), append(a.arrivals, &x.arrivals[s])
	}
	target := 0
	for _, r := range g.received {
		for target+1 < len(a.expected) && a.deviation(target+1, r) <= a.deviation(target, r) {
			target++
		}
		if a.deviation(target, r) > x.typical.window {
			continue // the datagram of this arrival is not in the sender's capture
		}
		a.moveBack(target) // makes room for r, if possible
		if len(*a.arrivals[target]) > 0 && target+1 < len(a.expected) && a.deviation(target+1, r) <= a.tolerance {
			target++ // the datagram after target would otherwise be lost
		}
		*a.arrivals[target] = append(*a.arrivals[target], r)
	}
}

// moveBack moves the arrivals of datagram i, and of the datagrams right before it, one datagram
// back each, if a datagram without arrival gets one that way.
func (a *alignment) moveBack(i int) {
	first := i // the datagram that may get an arrival
	for first > 0 && len(*a.arrivals[first]) == 1 && a.deviation(first-1, (*a.arrivals[first])[0]) <= a.tolerance {
		first--
	}
	if len(*a.arrivals[first]) > 0 {
		return // no datagram before i lacks an arrival within the tolerance
	}
	for ; first < i; first++ {
		*a.arrivals[first], *a.arrivals[first+1] = *a.arrivals[first+1], nil
	}
}
