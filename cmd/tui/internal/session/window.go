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

// snapshot returns a copy of w.snap with only the samples, packets, marks and effects of the window, and the
// figures at its end. Figures that exist only as sums over the whole run, such as the median size of packets,
// are those of the present.
func (w window) snapshot() *engine.Snapshot {
	snap := *w.snap
	snap.Lanes = make([]engine.Lane, len(w.snap.Lanes))
	for i := range snap.Lanes {
		snap.Lanes[i] = w.cutLane(&w.snap.Lanes[i])
	}
	if w.to > 0 {
		snap.Now, snap.TrialAt = w.to, 0 // no effect is being measured in the past
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

// cutLane returns lane with the samples of the window and, if that ends in the past, with the encoder,
// packets, recent figures and totals at its end.
func (w window) cutLane(lane *engine.Lane) engine.Lane {
	l := *lane
	to := w.to
	if to == 0 {
		to = w.snap.Now
	}
	l.Samples = meters.Between(l.Samples, w.from, to)
	if w.to == 0 { // the window ends at the present, which the figures of lane describe
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
	l.Recent.EncodeUS, l.Recent.DecodeUS = medianTimes(l.Packets, to)
	l.Recent.RunsAs = pluginKind(l.Packets, to, w.snap.Config)
	l.Totals = subtractAfter(lane.Totals, lane.Samples, to)
	return l
}

// medianTimes returns the median encoding and decoding times in the two seconds before t, in
// microseconds. They are NaN if the packets of that time are no longer stored.
func medianTimes(packets []packetlog.Record, t time.Duration) (encode, decode float64) {
	var encodeNS, decodeNS []int64
	for i := len(packets) - 1; i >= 0 && packets[i].Sent >= t-room.RecentSpan; i-- {
		r := &packets[i]
		if r.Copy == 0 && r.EncodeNS > 0 { // a duplicate was encoded once
			encodeNS = append(encodeNS, r.EncodeNS)
		}
		if r.DecodeNS > 0 { // 0 if it was not decoded
			decodeNS = append(decodeNS, r.DecodeNS)
		}
	}
	median := func(ns []int64) float64 { // in microseconds
		if len(ns) == 0 {
			return math.NaN()
		}
		slices.Sort(ns)
		return float64(quantile.NearestRank(ns, 0.5)) / 1000
	}
	return median(encodeNS), median(decodeNS)
}

// pluginKind returns how a plugin that encoded packets in the two seconds before t runs, such as WebAssembly; "" if
// no plugin encoded any.
func pluginKind(packets []packetlog.Record, t time.Duration, c *config.Config) string {
	lastEncoder := ""
	for i := len(packets) - 1; i >= 0 && packets[i].Sent >= t-room.RecentSpan; i-- {
		if packets[i].Encoder == lastEncoder {
			continue
		}
		lastEncoder = packets[i].Encoder
		if codec, _, err := (config.Encoder{Name: lastEncoder}).Resolve("encoder", c.Codecs); err == nil && codec.Runtime() != "" {
			return codec.Runtime()
		}
	}
	return ""
}

// subtractAfter returns the totals at time t: total, that of the present, minus the samples after t. Only the
// figures that samples contain are changed.
func subtractAfter(total figures.Totals, samples []meters.Sample, t time.Duration) figures.Totals {
	for i := len(samples) - 1; i >= 0 && samples[i].T > t; i-- {
		s := &samples[i]
		subtract := func(sum *int64, n int) { *sum = max(*sum-int64(n), 0) }
		subtract(&total.Sent, s.Sent)
		subtract(&total.Decoded, s.Outcomes[packetlog.Decoded])
		subtract(&total.Stale, s.Outcomes[packetlog.Stale])
		subtract(&total.Duplicate, s.Outcomes[packetlog.Duplicate])
		subtract(&total.Lost, s.Outcomes[packetlog.Lost])
		subtract(&total.Failures.NoBaseline, s.Outcomes[packetlog.NoBaseline])
		subtract(&total.Failures.Corrupt, s.Outcomes[packetlog.Corrupt])
		subtract(&total.Failures.UnknownCodec, s.Outcomes[packetlog.UnknownCodec])
		subtract(&total.Playout.Late, s.Late)
	}
	return total
}
