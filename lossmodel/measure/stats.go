package measure

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/quantile"
	"wirelab/lossmodel/capture"
)

// Stats are the statistics of a capture.
type Stats struct {
	Sent      int     `json:"sent"`       // datagrams sent
	Lost      int     `json:"lost"`       // datagrams lost; one of which only copies arrived counts as lost
	LossRate  float64 `json:"loss_rate"`  // fraction of the datagrams that were lost
	Bursts    int     `json:"bursts"`     // number of runs of losses
	MeanBurst float64 `json:"mean_burst"` // mean length of a run of losses, in datagrams
	LongBurst int     `json:"long_burst"` // length of the longest run of losses, in datagrams
	LossLag1  float64 `json:"loss_lag1"`  // correlation of the losses of successive datagrams
	// Runs counts the runs by length: Runs[0] is the number of runs of one packet. The entry for
	// maxRuns packets includes all longer runs.
	Runs       []int      `json:"runs,omitempty"`
	Copies     int        `json:"copies"`     // number of copies that arrived; originals do not count
	Duplicated float64    `json:"duplicated"` // fraction of datagrams of which at least one copy arrived
	Delay      delayStats `json:"delay"`
	Reordering reordering `json:"reordering"`
}

// maxRuns is the largest length of Stats.Runs.
const maxRuns = 32

// delayStats are the statistics of the delays of originals that arrived; copies are excluded.
type delayStats struct {
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean_ns"`
	SD    time.Duration `json:"sd_ns"`
	Min   time.Duration `json:"min_ns"`
	P5    time.Duration `json:"p5_ns"`
	P50   time.Duration `json:"p50_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	Max   time.Duration `json:"max_ns"`
	// Lag1 is the correlation of the delays of successive datagrams that both arrived.
	Lag1 float64 `json:"lag1"`
}

// NewStats computes the statistics of a capture: losses, copies, delays and reordering.
func NewStats(s *capture.Sequence) Stats {
	st := Stats{Sent: len(s.Datagrams)}
	st.countLosses(s.Datagrams)
	duplicated := 0
	for i := range s.Datagrams {
		if n := len(s.Datagrams[i].Copies); n > 0 {
			st.Copies += n
			duplicated++
		}
	}
	st.Duplicated = ratio(duplicated, st.Sent)
	st.Delay = newDelayStats(s.Datagrams)
	st.Reordering = newReordering(s.Datagrams)
	return st
}

// countLosses computes the statistics of losses in st. datagrams are in the order of sending.
func (st *Stats) countLosses(datagrams []capture.Datagram) {
	run, pairs := 0, 0 // length of the current run; losses that follow a loss
	runs := make([]int, maxRuns)
	endRun := func() {
		if run > 0 {
			st.Bursts++
			st.LongBurst = max(st.LongBurst, run)
			runs[min(run, maxRuns)-1]++
		}
		run = 0
	}
	for i := range datagrams {
		if !datagrams[i].Lost {
			endRun()
			continue
		}
		st.Lost++
		run++
		if i > 0 && datagrams[i-1].Lost {
			pairs++
		}
	}
	endRun()
	for len(runs) > 0 && runs[len(runs)-1] == 0 { // drop lengths that did not occur, from the longest
		runs = runs[:len(runs)-1]
	}
	st.Runs = runs
	st.LossRate, st.MeanBurst = ratio(st.Lost, st.Sent), ratio(st.Lost, st.Bursts)
	if variance := st.LossRate * (1 - st.LossRate); variance > 0 && st.Sent > 1 {
		st.LossLag1 = (ratio(pairs, st.Sent-1) - st.LossRate*st.LossRate) / variance
	}
}

// newDelayStats computes the statistics of the delays of originals, without copies; all are 0 if no original
// arrived.
func newDelayStats(all []capture.Datagram) delayStats {
	delays := make([]time.Duration, 0, len(all))
	for i := range all {
		if !all[i].Lost {
			delays = append(delays, all[i].Took)
		}
	}
	d := delayStats{Count: len(delays)}
	if d.Count == 0 {
		return d
	}
	mean, sd := moments(delays)
	d.Mean, d.SD, d.Lag1 = time.Duration(math.Round(mean)), time.Duration(math.Round(sd)), delayLag1(all, mean, sd)
	slices.Sort(delays) // for the quantiles; delayLag1 needs the order of sending
	d.Min, d.Max = delays[0], delays[len(delays)-1]
	d.P5, d.P50, d.P95, d.P99 = quantile.NextRank(delays, 0.05), quantile.NextRank(delays, 0.5),
		quantile.NextRank(delays, 0.95), quantile.NextRank(delays, 0.99)
	return d
}

// moments returns mean and standard deviation in nanoseconds; 0 if x is empty. Values are summed
// relative to the first one, so that an offset of years between clocks does not cost precision.
func moments(x []time.Duration) (mean, sd float64) {
	if len(x) == 0 {
		return 0, 0
	}
	n, sum, squares := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		y := float64(v - x[0])
		sum += y
		squares += y * y
	}
	m := sum / n
	return float64(x[0]) + m, math.Sqrt(max(0, squares/n-m*m))
}

// delayLag1 returns the lag-1 correlation of delays with the given mean and standard deviation,
// over the pairs of successive datagrams that both arrived; 0 without such pairs or if the delay is
// constant.
func delayLag1(all []capture.Datagram, mean, sd float64) float64 {
	sum, n := 0.0, 0
	for i := 1; i < len(all); i++ {
		if !all[i].Lost && !all[i-1].Lost {
			sum += (float64(all[i].Took) - mean) * (float64(all[i-1].Took) - mean)
			n++
		}
	}
	if n == 0 || sd == 0 {
		return 0
	}
	return sum / float64(n) / (sd * sd)
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
