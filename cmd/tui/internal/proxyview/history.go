package proxyview

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// period is the time between two samples of the charts.
const period = 100 * time.Millisecond

// maxSamples bounds the history of the charts: five minutes.
const maxSamples = int(5 * time.Minute / period)

// recentSpan is the period over which the current figures are measured.
const recentSpan = 2 * time.Second

// directionSeries are the samples of one direction, a value per period.
type directionSeries struct {
	kbps, rate, p50, p95, queue []float64                      // p50, p95: delay in ms, NaN if nothing was sent on; queue: KB
	lost                        [lossmodel.NumCauses][]float64 // datagrams in the period, by cause
}

// history holds the newest snapshot of a relay, the samples of the charts and the figures of the
// last recentSpan.
type history struct {
	snap          relay.Snapshot
	nextIndex     int64 // number of the period after the newest sample, from the relay's start
	directions    [2]directionSeries
	recentTotals  []*relay.Totals // the polls of the last recentSpan, oldest first
	recent        relay.Totals    // what was counted since recentTotals[0]
	recentSeconds float64         // the length of that, in seconds
	// Two earlier states of the clients: the older one is from recentSpan to 2*recentSpan ago, the newer
	// one becomes the older one when it is as old as recentSpan. Rates of clients are measured since olderAt.
	olderClients, newerClients []relay.ClientState
	olderAt, newerAt           time.Duration
}

// allSeries returns pointers to all series, to trim or clone each.
func (s *directionSeries) allSeries() []*[]float64 {
	list := []*[]float64{&s.kbps, &s.rate, &s.p50, &s.p95, &s.queue}
	for cause := range s.lost {
		list = append(list, &s.lost[cause])
	}
	return list
}

// observe adds what h.snap counted since the last call to the series, and updates the recent figures. If
// more than one period has passed, for example because the terminal was blocked, each of its samples gets
// the mean. If none has passed, it does nothing. The first call adds no samples.
func (h *history) observe() {
	now := &h.snap.Totals
	totals := *now // the snapshot is overwritten by the next poll
	if len(h.recentTotals) == 0 {
		h.nextIndex = int64(now.At / period)
		h.recentTotals = append(h.recentTotals, &totals)
		h.olderClients, h.olderAt = slices.Clone(h.snap.Clients), now.At
		h.newerClients, h.newerAt = h.olderClients, now.At
		return
	}
	last := h.recentTotals[len(h.recentTotals)-1]
	numPeriods := int64(now.At/period) - h.nextIndex
	if numPeriods <= 0 {
		return
	}
	seconds := (now.At - last.At).Seconds()
	for i := range h.directions {
		h.directions[i].appendSamples(now.Flows[i].Since(&last.Flows[i]), seconds, int(min(numPeriods, int64(maxSamples))))
	}
	h.nextIndex += numPeriods
	h.recentTotals = append(h.recentTotals, &totals)
	for now.At-h.recentTotals[1].At >= recentSpan { // ends at the totals just appended, which are of now.At
		h.recentTotals = slices.Delete(h.recentTotals, 0, 1)
	}
	if now.At-h.newerAt >= recentSpan { // so olderClients, from which recent traffic is counted, is one to two spans old
		h.olderClients, h.olderAt = h.newerClients, h.newerAt
		h.newerClients, h.newerAt = slices.Clone(h.snap.Clients), now.At
	}
	first := h.recentTotals[0]
	h.recentSeconds = (now.At - first.At).Seconds()
	h.recent = now.Since(first)
}

// appendSamples appends n equal samples for n periods, the given seconds in total. flow contains the traffic
// of all of them, so rates are divided by seconds and losses by n. Series that have grown to more than twice
// maxSamples are cut to their newest maxSamples.
func (s *directionSeries) appendSamples(flow relay.Flow, seconds float64, n int) {
	p50, p95 := math.NaN(), math.NaN()
	if flow.Delay.N > 0 {
		p50, p95 = units.Milliseconds(flow.Delay.Quantile(0.5)), units.Milliseconds(flow.Delay.Quantile(0.95))
	}
	for range n {
		s.kbps = append(s.kbps, relay.Kbps(flow.OutWire, seconds))
		s.rate = append(s.rate, float64(flow.Out)/seconds)
		s.p50, s.p95 = append(s.p50, p50), append(s.p95, p95)
		s.queue = append(s.queue, float64(flow.LineQueue.Bytes)/1000)
		for cause := range s.lost {
			s.lost[cause] = append(s.lost[cause], float64(flow.LostBy[cause])/float64(n))
		}
	}
	for _, line := range s.allSeries() {
		if len(*line) > 2*maxSamples { // trimmed rarely, because trimming copies the remaining samples
			*line = append((*line)[:0], (*line)[len(*line)-maxSamples:]...)
		}
	}
}

// clone returns a deep copy, for a display that is stopped.
func (h *history) clone() *history {
	c := *h
	c.snap.Clients, c.snap.Links = slices.Clone(h.snap.Clients), slices.Clone(h.snap.Links)
	c.recentTotals = slices.Clone(h.recentTotals)
	for i := range c.directions {
		for _, line := range c.directions[i].allSeries() {
			*line = slices.Clone(*line)
		}
	}
	return &c
}

// sumLossRates returns the losses per second of both directions, for each sample, from their losses in each period.
func sumLossRates(up, down []float64) []float64 {
	out := make([]float64, len(up))
	for i := range out {
		out[i] = (up[i] + down[i]) / period.Seconds()
	}
	return out
}

// clientTraffic returns what was counted for client c, per direction, since the earlier list of clients
// was made. If c is not in that list, it returns everything counted for c.
func clientTraffic(c *relay.ClientState, earlier []relay.ClientState) (delta [2]relay.ClientFlow) {
	delta = c.Ways
	i := slices.IndexFunc(earlier, func(x relay.ClientState) bool { return x.Number == c.Number })
	if i < 0 {
		return delta
	}
	for direction := range delta {
		d, before := &delta[direction], &earlier[i].Ways[direction]
		d.In, d.InBytes, d.Out = d.In-before.In, d.InBytes-before.InBytes, d.Out-before.Out
		d.OutBytes, d.Lost, d.TotalDelay = d.OutBytes-before.OutBytes, d.Lost-before.Lost, d.TotalDelay-before.TotalDelay
	}
	return delta
}
