package capture

import (
	"math"
	"slices"
	"sort"
	"time"
)

// usual is what most datagrams of two captures do.
type usual struct {
	times  []time.Duration // of sending
	delays []time.Duration // the median of those around
	spread float64         // of delays about that, in nanoseconds
	window time.Duration   // nothing arrives further from its usual delay
	// what it costs that one is lost, copied, or comes from nowhere: minus the logarithm
	// of how likely that is
	lost, copied, stray float64
}

const (
	around      = 101 // datagrams of which the median is taken
	leastSpread = float64(200 * time.Microsecond)
	leastWindow = 50 * time.Millisecond
)

// usualDelays looks at datagrams of which it is known what became of them. Clocks that
// differ move all delays, and clocks that run apart move them slowly: so it is the median
// of those sent around the same time that counts.
func usualDelays(list []known) usual {
	u := usual{spread: leastSpread, window: leastWindow}
	n, lost, copies := len(list), 0, 0
	var came []known
	for _, k := range list {
		copies += k.copies
		if k.lost {
			lost++
		} else {
			came = append(came, k)
		}
	}
	u.lost = -math.Log(float64(lost+1) / float64(n+20))
	u.copied = -math.Log(float64(copies+1) / float64(n+20))
	u.stray = u.copied + u.lost + 20
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
	off := make([]float64, len(came))
	for i, k := range came {
		off[i] = math.Abs(float64(k.took - u.at(k.at)))
	}
	if slices.Sort(off); len(off) > 0 {
		u.spread = max(u.spread, off[len(off)/2])
		u.window = max(u.window, 4*time.Duration(off[len(off)*99/100]))
	}
	return u
}

// at returns the usual delay of what is sent then.
func (u *usual) at(sent time.Duration) time.Duration {
	if len(u.times) == 0 {
		return 0
	}
	i := sort.Search(len(u.times), func(i int) bool { return u.times[i] > sent })
	return u.delays[max(0, i-1)]
}

// Bounds on the work of align: arrivals that are looked at for one datagram, copies of
// it, and both together for all.
const (
	mostNear   = 256
	mostCopies = 4
	mostCells  = 1 << 23
)

// cell is a state of align: so many arrivals have been dealt with.
type cell struct {
	cost float64
	from int32 // arrivals that had been dealt with before this datagram
	take int8  // how many of them it then took
}

// align tells which of the arrivals of one content belongs to which of the datagrams that
// were sent with it. Order among them cannot be seen, so they are taken to keep it. Of all
// ways it finds, by dynamic programming, the likeliest: delays near the usual ones, and
// losses, copies and strays as rare as they are.
func (x *matcher) align(g *group) {
	r := len(g.received)
	if r == 0 {
		return
	}
	due := x.due(g)
	near := max(2, min(mostNear, mostCells/len(g.sent)))
	columns, starts := make([][]cell, len(due)), make([]int, len(due)) // after each datagram, from which arrival on
	before, start := []cell{{}}, 0
	for i := range due {
		lo, hi := x.within(g, due[i], near)
		lo, hi = max(lo, start), max(hi, start)
		in := enter(before, start, lo, hi, x.usual.stray)
		columns[i], starts[i] = x.step(g, due[i], in, lo), lo
		before, start = columns[i], lo
	}
	// Those left at the end come from nowhere.
	best, at := math.Inf(1), 0
	for k, c := range before {
		if cost := c.cost + float64(r-start-k)*x.usual.stray; cost < best {
			best, at = cost, start+k
		}
	}
	for i := len(due) - 1; i >= 0; i-- {
		c := columns[i][at-starts[i]]
		for k := at - int(c.take); k < at; k++ {
			s := g.sent[i]
			x.arrivals[s] = append(x.arrivals[s], g.received[k])
		}
		at = int(c.from)
	}
}

// due returns when each is expected to arrive; never before the one in front.
func (x *matcher) due(g *group) []time.Duration {
	due := make([]time.Duration, len(g.sent))
	for i, s := range g.sent {
		due[i] = x.sent[s].At + x.usual.at(x.sent[s].At)
		if i > 0 {
			due[i] = max(due[i], due[i-1])
		}
	}
	return due
}

// within returns which arrivals are near enough to a moment: from lo up to hi, at most so
// many.
func (x *matcher) within(g *group, due time.Duration, most int) (lo, hi int) {
	find := func(t time.Duration) int {
		return sort.Search(len(g.received), func(k int) bool { return x.received[g.received[k]].At > t })
	}
	lo, hi = find(due-x.usual.window), find(due+x.usual.window)
	if hi-lo > most {
		lo = max(lo, min(find(due)-most/2, hi-most))
		hi = lo + most
	}
	return lo, hi
}

// enter carries the states before a datagram to the arrivals lo up to hi that are near it:
// those that nobody took on the way come from nowhere.
func enter(before []cell, start, lo, hi int, stray float64) []cell {
	in := make([]cell, hi-lo+1)
	for k := range in {
		in[k] = cell{cost: math.Inf(1)}
	}
	for k, c := range before {
		at := start + k
		to := min(max(at, lo), hi)
		if at > hi {
			continue // taken by one before that was due later: no such order
		}
		if cost := c.cost + float64(to-at)*stray; cost < in[to-lo].cost {
			in[to-lo] = cell{cost: cost, from: int32(at)}
		}
	}
	for k := 1; k < len(in); k++ {
		if cost := in[k-1].cost + stray; cost < in[k].cost {
			in[k] = cell{cost: cost, from: in[k-1].from}
		}
	}
	return in
}

// step returns the states after a datagram that took none, one or several of the arrivals.
func (x *matcher) step(g *group, due time.Duration, in []cell, lo int) []cell {
	out := make([]cell, len(in))
	for k := range out {
		out[k] = cell{cost: math.Inf(1)}
	}
	for k, c := range in {
		if cost := c.cost + x.usual.lost; cost < out[k].cost {
			out[k] = cell{cost: cost, from: c.from}
		}
		cost := c.cost
		for n := 1; n <= mostCopies && k+n < len(in); n++ {
			off := float64(x.received[g.received[lo+k+n-1]].At-due) / x.usual.spread
			cost += math.Log1p(off * off) // Cauchy's law: delays have long tails
			if n > 1 {
				cost += x.usual.copied
			}
			if cost < out[k+n].cost {
				out[k+n] = cell{cost: cost, from: c.from, take: int8(n)}
			}
		}
	}
	return out
}
