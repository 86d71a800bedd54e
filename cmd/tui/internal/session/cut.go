package session

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// cut makes the snapshot of a window. What only sums over the whole run can tell,
// such as the median size of a packet, stays as it is now.
func (w window) cut() *engine.Snapshot {
	snap := *w.snap
	snap.Lanes = make([]engine.Lane, len(w.snap.Lanes))
	for i := range snap.Lanes {
		snap.Lanes[i] = w.lane(&w.snap.Lanes[i])
	}
	if w.to > 0 {
		snap.Now, snap.Trying = w.to, 0
		for len(snap.Effects) > 0 && snap.Effects[len(snap.Effects)-1].Until > w.to {
			snap.Effects = snap.Effects[:len(snap.Effects)-1]
		}
		n := len(snap.Marks)
		for n > 0 && snap.Marks[n-1].T > w.to {
			n--
		}
		snap.Marks = snap.Marks[:n:n]
	}
	return &snap
}

func (w window) lane(now *engine.Lane) engine.Lane {
	l := *now
	to := w.to
	if to == 0 {
		to = w.snap.Now
	}
	l.Samples = meters.Between(l.Samples, w.from, to)
	if w.to == 0 {
		return l
	}
	n := len(l.Packets)
	for n > 0 && l.Packets[n-1].Sent >= to {
		n--
	}
	l.Packets = l.Packets[:n:n]
	if n > 0 {
		l.Encoder = l.Packets[n-1].Encoder
	}
	l.Recent = meters.RecentOf(l.Samples, w.snap.Schema.TickHz)
	l.Recent.EncodeUS, l.Recent.DecodeUS = timesOf(l.Packets, to)
	l.Recent.RunsAs = runsAs(l.Packets, to, w.snap.Config)
	l.Totals = totalsBefore(now.Totals, now.Samples, to)
	return l
}

// timesOf returns the median times, in microseconds, that encoding and decoding
// took in the two seconds before t. They are NaN if the packets of that time are
// forgotten.
func timesOf(packets []packetlog.Record, t time.Duration) (encode, decode float64) {
	var en, de []int64
	for i := len(packets) - 1; i >= 0 && packets[i].Sent >= t-room.RecentSpan; i-- {
		if r := &packets[i]; r.Copy == 0 && r.EncodeNS > 0 {
			en = append(en, r.EncodeNS)
		}
		if r := &packets[i]; r.DecodeNS > 0 {
			de = append(de, r.DecodeNS)
		}
	}
	median := func(ns []int64) float64 {
		if len(ns) == 0 {
			return math.NaN()
		}
		slices.Sort(ns)
		return float64(quantile.NearestRank(ns, 0.5)) / 1000
	}
	return median(en), median(de)
}

// runsAs returns what an encoder from outside ran as in those two seconds; empty if there was none.
func runsAs(packets []packetlog.Record, t time.Duration, c *config.Config) string {
	last := ""
	for i := len(packets) - 1; i >= 0 && packets[i].Sent >= t-room.RecentSpan; i-- {
		if packets[i].Encoder == last {
			continue
		}
		last = packets[i].Encoder
		if codec, _, err := (config.Encoder{Name: last}).Resolve("encoder", c.Codecs); err == nil && codec.RunsAs() != "" {
			return codec.RunsAs()
		}
	}
	return ""
}

// totalsBefore takes from the sums what came after t.
func totalsBefore(total figures.Totals, samples []meters.Sample, t time.Duration) figures.Totals {
	for i := len(samples) - 1; i >= 0 && samples[i].T > t; i-- {
		s := &samples[i]
		less := func(sum *int64, n int) { *sum = max(*sum-int64(n), 0) }
		less(&total.Sent, s.Sent)
		less(&total.Decoded, s.Outcomes[packetlog.Decoded])
		less(&total.Stale, s.Outcomes[packetlog.Stale])
		less(&total.Duplicate, s.Outcomes[packetlog.Duplicate])
		less(&total.Lost, s.Outcomes[packetlog.Lost])
		less(&total.Failures.NoBaseline, s.Outcomes[packetlog.NoBaseline])
		less(&total.Failures.Corrupt, s.Outcomes[packetlog.Corrupt])
		less(&total.Failures.UnknownCodec, s.Outcomes[packetlog.UnknownCodec])
		less(&total.Tainted, s.Outcomes[packetlog.Tainted])
		less(&total.Playout.Late, s.Late)
	}
	return total
}
