package proxyview

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// period is the time between two samples of the charts.
const period = meters.SamplePeriod

// maxSamples bounds the history of the charts: five minutes.
const maxSamples = int(5 * time.Minute / period)

// recentSpan is the period over which the current figures are measured.
const recentSpan = room.RecentSpan

// sample is what the relay did in a period, by direction.
type sample [2]directionSample

// directionSample is a sample of one direction.
type directionSample struct {
	kbps, rate float64                      // on the wire, and datagrams per second, sent on
	p50, p95   float64                      // delay in ms; NaN if nothing was sent on
	queueKB    float64                      // before the bottleneck
	lost       [lossmodel.NumCauses]float64 // datagrams per second, by cause
}

// history holds the newest snapshot of a relay, the samples of the charts and the figures of the
// last recentSpan.
type history struct {
	snap          relay.Snapshot
	nextIndex     int64 // number of the period after the newest sample, from the relay's start
	samples       []sample
	polls         []*poll      // of the last recentSpan, oldest first
	recent        relay.Totals // what was counted since polls[0]
	recentSeconds float64      // the length of that, in seconds
}

// poll is what an earlier snapshot counted.
type poll struct {
	relay.Totals
	clients []relay.ClientState
}

// observe adds what h.snap counted since the last call to the series, and updates the recent figures. If
// more than one period has passed, for example because the terminal was blocked, each of its samples gets
// the mean. If none has passed, it does nothing. The first call adds no samples.
func (h *history) observe() {
	now := &h.snap.Totals
	if len(h.polls) == 0 {
		h.nextIndex = int64(now.At / period)
		h.addPoll()
		return
	}
	last := h.polls[len(h.polls)-1]
	numPeriods := int64(now.At/period) - h.nextIndex
	if numPeriods <= 0 {
		return
	}
	seconds := (now.At - last.At).Seconds()
	var next sample
	for i := range next {
		flow := now.Flows[i].Since(&last.Flows[i])
		next[i] = newDirectionSample(&flow, seconds)
	}
	h.append(next, int(min(numPeriods, int64(maxSamples))))
	h.nextIndex += numPeriods
	h.addPoll()
	for now.At-h.polls[1].At >= recentSpan { // ends at the poll just added, which is of now.At
		h.polls = slices.Delete(h.polls, 0, 1)
	}
	first := h.polls[0]
	h.recentSeconds = (now.At - first.At).Seconds()
	h.recent = now.Since(&first.Totals)
}

// addPoll adds a copy of h.snap, which the next poll overwrites.
func (h *history) addPoll() {
	h.polls = append(h.polls, &poll{h.snap.Totals, slices.Clone(h.snap.Clients)})
}

// newDirectionSample returns the sample of the traffic of the given number of seconds.
func newDirectionSample(flow *relay.Flow, seconds float64) directionSample {
	s := directionSample{kbps: relay.Kbps(flow.OutWire, seconds), rate: float64(flow.Out) / seconds, p50: math.NaN(), p95: math.NaN(),
		queueKB: float64(flow.LineQueue.Bytes) / 1000}
	if flow.Delay.N > 0 {
		s.p50 = units.Milliseconds(flow.Delay.Quantile(0.5))
		s.p95 = units.Milliseconds(flow.Delay.Quantile(0.95))
	}
	for cause := range s.lost {
		s.lost[cause] = float64(flow.LostBy[cause]) / seconds
	}
	return s
}

// append appends n samples equal to s. Samples that have grown to more than twice maxSamples are cut to the newest
// maxSamples.
func (h *history) append(s sample, n int) {
	h.samples = append(h.samples, slices.Repeat([]sample{s}, n)...)
	if len(h.samples) > 2*maxSamples { // trimmed rarely, because trimming copies the remaining samples
		h.samples = slices.Delete(h.samples, 0, len(h.samples)-maxSamples)
	}
}

// clone returns a deep copy, for a display that is stopped.
func (h *history) clone() *history {
	c := *h
	c.snap.Clients, c.snap.Links = slices.Clone(h.snap.Clients), slices.Clone(h.snap.Links)
	c.polls = slices.Clone(h.polls)
	c.samples = slices.Clone(h.samples)
	return &c
}

// recentTraffic returns what was counted for client c, per direction, in the last recentSpan. If c is newer, it returns
// everything counted for c.
func (h *history) recentTraffic(c *relay.ClientState) (delta [2]relay.ClientFlow) {
	delta = c.Ways
	earlier := h.polls[0].clients
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
