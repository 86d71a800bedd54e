package proxyview

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// period is the time between two samples.
const period = 100 * time.Millisecond

// most is how many samples are remembered: five minutes.
const most = int(5 * time.Minute / period)

// recentSpan is how long "now" is.
const recentSpan = 2 * time.Second

// way is what is remembered of one direction, by sample.
type way struct {
	kbps, rate, p50, p95, queue []float64                      // NaN: nothing left
	lost                        [lossmodel.NumCauses][]float64 // datagrams
}

// history is what was seen of a relay, and what holds now.
type history struct {
	snap relay.Snapshot
	end  int64 // index after the newest sample
	ways [2]way
	past []*relay.Totals // of the last two seconds, from the oldest on
	now  relay.Totals    // what came in those
	span float64         // how long they were, in seconds
	// How clients stood two to four seconds ago, and less than two.
	was, then     []relay.ClientState
	wasAt, thenAt time.Duration
}

// lines lists all series.
func (w *way) lines() []*[]float64 {
	list := []*[]float64{&w.kbps, &w.rate, &w.p50, &w.p95, &w.queue}
	for cause := range w.lost {
		list = append(list, &w.lost[cause])
	}
	return list
}

// take looks at what is new in h.snap. Where more than a period has passed, as when the
// terminal stood still, all the samples of it get the mean.
func (h *history) take() {
	now := &h.snap.Totals
	totals := *now // the snapshot is overwritten by the next poll
	if len(h.past) == 0 {
		h.end = int64(now.At / period)
		h.past = append(h.past, &totals)
		h.was, h.wasAt = slices.Clone(h.snap.Clients), now.At
		h.then, h.thenAt = h.was, now.At
		return
	}
	last := h.past[len(h.past)-1]
	n := int64(now.At/period) - h.end
	if n <= 0 {
		return
	}
	span := (now.At - last.At).Seconds()
	for i := range h.ways {
		h.ways[i].add(now.Flows[i].Since(&last.Flows[i]), span, int(min(n, int64(most))))
	}
	h.end += n
	h.past = append(h.past, &totals)
	for len(h.past) > 2 && now.At-h.past[1].At >= recentSpan {
		h.past = slices.Delete(h.past, 0, 1)
	}
	if now.At-h.thenAt >= recentSpan {
		h.was, h.wasAt = h.then, h.thenAt
		h.then, h.thenAt = slices.Clone(h.snap.Clients), now.At
	}
	first := h.past[0]
	h.span = (now.At - first.At).Seconds()
	h.now = now.Since(first)
}

// add appends n samples of what came in so many seconds.
func (w *way) add(f relay.Flow, span float64, n int) {
	p50, p95 := math.NaN(), math.NaN()
	if f.Took.N > 0 {
		p50, p95 = units.Milliseconds(f.Took.Quantile(0.5)), units.Milliseconds(f.Took.Quantile(0.95))
	}
	for range n {
		w.kbps = append(w.kbps, relay.Kbps(f.OutWire, span))
		w.rate = append(w.rate, float64(f.Out)/span)
		w.p50, w.p95 = append(w.p50, p50), append(w.p95, p95)
		w.queue = append(w.queue, float64(f.Line.Bytes)/1000)
		for cause := range w.lost {
			w.lost[cause] = append(w.lost[cause], float64(f.LostBy[cause])/float64(n))
		}
	}
	for _, line := range w.lines() {
		if len(*line) > 2*most {
			*line = append((*line)[:0], (*line)[len(*line)-most:]...)
		}
	}
}

// clone returns one that stays as it is.
func (h *history) clone() *history {
	c := *h
	c.snap.Clients, c.snap.Links = slices.Clone(h.snap.Clients), slices.Clone(h.snap.Links)
	c.past = slices.Clone(h.past)
	for i := range c.ways {
		for _, line := range c.ways[i].lines() {
			*line = slices.Clone(*line)
		}
	}
	return &c
}

// rates are the losses a second by one cause, of each sample over the two seconds that end
// with it: a tenth of a second cannot carry a rate.
func rates(counts ...[]float64) []float64 {
	const window = int(recentSpan / period)
	out, n := make([]float64, len(counts[0])), 0.0
	for i := range out {
		for _, c := range counts {
			n += c[i]
			if i >= window {
				n -= c[i-window]
			}
		}
		out[i] = max(n, 0) / min(recentSpan, time.Duration(i+1)*period).Seconds()
	}
	return out
}

// perClient returns what went through for a client since was, a look at it before.
func perClient(c *relay.ClientState, was []relay.ClientState) (d [2]relay.Tally) {
	d = c.Ways
	i := slices.IndexFunc(was, func(x relay.ClientState) bool { return x.Turn == c.Turn })
	if i < 0 {
		return d
	}
	for k := range d {
		w := &was[i].Ways[k]
		d[k].In, d[k].InBytes, d[k].Out = d[k].In-w.In, d[k].InBytes-w.InBytes, d[k].Out-w.Out
		d[k].OutBytes, d[k].Lost, d[k].Took = d[k].OutBytes-w.OutBytes, d[k].Lost-w.Lost, d[k].Took-w.Took
	}
	return d
}
