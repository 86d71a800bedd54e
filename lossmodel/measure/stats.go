package measure

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/quantile"
	"wirelab/lossmodel/capture"
)

// Stats is what a capture amounts to.
type Stats struct {
	Sent      int     `json:"sent"`       // datagrams
	Lost      int     `json:"lost"`       // of them; a datagram of which only copies came counts as lost
	LossRate  float64 `json:"loss_rate"`  // share lost
	Bursts    int     `json:"bursts"`     // runs of losses
	MeanBurst float64 `json:"mean_burst"` // packets a run
	LongBurst int     `json:"long_burst"` // packets in the longest run
	LossLag1  float64 `json:"loss_lag1"`  // correlation of a packet's loss with the next one's
	// Runs counts the runs by length: Runs[0] those of one packet. The last entry
	// counts all that are longer.
	Runs       []int      `json:"runs,omitempty"`
	Copies     int        `json:"copies"`     // that arrived
	Duplicated float64    `json:"duplicated"` // share of datagrams of which a copy arrived
	Delay      delayStats `json:"delay"`
	Reordering reordering `json:"reordering"`
}

// maxRuns is how many lengths of runs Stats tells apart.
const maxRuns = 32

// delayStats is the distribution of delays of the datagrams that arrived, copies aside.
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
	// Lag1 is the correlation of a packet's delay with that of the next one, where
	// both arrived.
	Lag1 float64 `json:"lag1"`
}

// Of measures a capture. Reading it is linear but for sorting.
func Of(s *capture.Sequence) Stats {
	st := Stats{Sent: len(s.Datagrams)}
	st.losses(s.Datagrams)
	doubled := 0
	for i := range s.Datagrams {
		if n := len(s.Datagrams[i].Copies); n > 0 {
			st.Copies += n
			doubled++
		}
	}
	st.Duplicated = ratio(doubled, st.Sent)
	st.Delay = delayOf(s.Datagrams)
	st.Reordering = reorderingOf(s.Datagrams)
	return st
}

func (st *Stats) losses(all []capture.Datagram) {
	run, pairs := 0, 0
	runs := make([]int, maxRuns)
	end := func() {
		if run > 0 {
			st.Bursts++
			st.LongBurst = max(st.LongBurst, run)
			runs[min(run, maxRuns)-1]++
		}
		run = 0
	}
	for i := range all {
		if !all[i].Lost {
			end()
			continue
		}
		st.Lost++
		run++
		if i > 0 && all[i-1].Lost {
			pairs++
		}
	}
	end()
	for len(runs) > 0 && runs[len(runs)-1] == 0 {
		runs = runs[:len(runs)-1]
	}
	st.Runs = runs
	st.LossRate, st.MeanBurst = ratio(st.Lost, st.Sent), ratio(st.Lost, st.Bursts)
	if v := st.LossRate * (1 - st.LossRate); v > 0 && st.Sent > 1 {
		st.LossLag1 = (ratio(pairs, st.Sent-1) - st.LossRate*st.LossRate) / v
	}
}

func delayOf(all []capture.Datagram) delayStats {
	took := make([]time.Duration, 0, len(all))
	for i := range all {
		if !all[i].Lost {
			took = append(took, all[i].Took)
		}
	}
	d := delayStats{Count: len(took)}
	if d.Count == 0 {
		return d
	}
	mean, sd := moments(took)
	d.Mean, d.SD, d.Lag1 = time.Duration(math.Round(mean)), time.Duration(math.Round(sd)), delayLag1(all, mean, sd)
	slices.Sort(took)
	d.Min, d.Max = took[0], took[len(took)-1]
	d.P5, d.P50, d.P95, d.P99 = quantile.NextRank(took, 0.05), quantile.NextRank(took, 0.5), quantile.NextRank(took, 0.95), quantile.NextRank(took, 0.99)
	return d
}

// moments returns mean and standard deviation in nanoseconds. Sums are taken about
// the first value, so that clocks that differ by years cost no digits.
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

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
