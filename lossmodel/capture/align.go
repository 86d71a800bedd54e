package capture

import (
	"slices"
	"sort"
	"time"
)

// usual is what most datagrams of two captures do.
type usual struct {
	times  []time.Duration // of sending
	delays []time.Duration // the median of those around
	spread time.Duration   // median deviation of delays from that
	window time.Duration   // nothing arrives further from its usual delay
}

const (
	around      = 101 // datagrams of which the median is taken
	leastSpread = 200 * time.Microsecond
	leastWindow = 50 * time.Millisecond
)

// usualDelays measures datagrams whose arrival is certain. Clocks that differ move all
// delays, and clocks that run apart move them slowly, so the usual delay is the median
// of datagrams that were sent around the same time.
func usualDelays(came []known) usual {
	u := usual{spread: leastSpread, window: leastWindow}
	some := make([]time.Duration, 0, around)
	for at := 0; at < len(came); at += around / 4 {
		first := max(0, min(at-around/2, len(came)-around))
		some = some[:0]
		for _, k := range came[first:min(first+around, len(came))] {
			some = append(some, k.took)
		}
		slices.Sort(some)
		u.times, u.delays = append(u.times, came[at].at), append(u.delays, some[len(some)/2])
	}
	off := make([]time.Duration, len(came))
	for i, k := range came {
		off[i] = (k.took - u.at(k.at)).Abs()
	}
	slices.Sort(off)
	if len(off) > 0 {
		u.spread = max(u.spread, off[len(off)/2])
		u.window = max(u.window, 4*off[len(off)*99/100])
	}
	return u
}

// at returns the usual delay of a datagram that was sent at a time.
func (u *usual) at(sent time.Duration) time.Duration {
	if len(u.times) == 0 {
		return 0
	}
	i := sort.Search(len(u.times), func(i int) bool { return u.times[i] > sent })
	return u.delays[max(0, i-1)]
}

// queue is the datagrams of one content in the order of sending, while arrivals are assigned to
// them in order.
type queue struct {
	due      []time.Duration // when each is expected to arrive, never before the one in front
	arrivals []*[]int32      // of each
	time     func(r int32) time.Duration
	near     time.Duration // delays that far from the usual are likelier than a loss and a copy
}

func (q *queue) off(i int, r int32) time.Duration { return (q.time(r) - q.due[i]).Abs() }

// align assigns the arrivals of one content to the datagrams that were sent with it: each to the
// datagram that was expected at the nearest time, without changing their order. Where that is
// taken, the arrival before moves back, or this one moves on, if one of the neighbours would
// otherwise be lost.
func (x *matcher) align(g *group) {
	q := &queue{time: func(r int32) time.Duration { return x.received[r].At }, near: 3 * x.usual.spread}
	latest := x.sent[g.sent[0]].At + x.usual.at(x.sent[g.sent[0]].At)
	for _, s := range g.sent {
		latest = max(latest, x.sent[s].At+x.usual.at(x.sent[s].At))
		q.due, q.arrivals = append(q.due, latest), append(q.arrivals, &x.arrivals[s])
	}
	to := 0
	for _, r := range g.received {
		for to+1 < len(q.due) && q.off(to+1, r) <= q.off(to, r) {
			to++
		}
		if q.off(to, r) > x.usual.window {
			continue // of a datagram that the sender's capture does not hold
		}
		q.moveBack(to)
		if len(*q.arrivals[to]) > 0 && to+1 < len(q.due) && q.off(to+1, r) <= q.near {
			to++
		}
		*q.arrivals[to] = append(*q.arrivals[to], r)
	}
}

// moveBack moves the arrivals of datagram i, and of those right before it, one datagram back each,
// if that gives one to a datagram without any.
func (q *queue) moveBack(i int) {
	first := i
	for first > 0 && len(*q.arrivals[first]) == 1 && q.off(first-1, (*q.arrivals[first])[0]) <= q.near {
		first--
	}
	if len(*q.arrivals[first]) > 0 {
		return
	}
	for ; first < i; first++ {
		*q.arrivals[first], *q.arrivals[first+1] = *q.arrivals[first+1], nil
	}
}
